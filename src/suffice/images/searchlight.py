"""The searchlight: how well the voxels around each voxel tell classes apart."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn
from suffice.images.design import Design, Exchange, design
from suffice.images.fitted import FittedSearchLight
from suffice.images.grids import Mask, require_same_grid
from suffice.images.neighbourhoods import Neighbourhoods, Shape, neighbourhoods
from suffice.images.permutations import Null, every_labelling, null_maps, random_labellings
from suffice.images.progress import Watcher
from suffice.images.scans import Scan, open_mask, open_scans
from suffice.images.scoring import PRIORS, accuracy, predict, sums_of_classes
from suffice.images.series import read_series
from suffice.models.base.options import check_choices, generator
from suffice.phrases import Option, Phrase

__all__ = ["SearchLight"]

FEWEST = 19  # permutations: with fewer, nothing is significant at 5 %


class SearchLight(FittedSearchLight):
    """Gaussian naive Bayes in the neighbourhood of every voxel, leaving out one run at a time.

    The interface is that of ``nilearn.decoding.SearchLight``. The images are read once. A run is
    predicted from the sums over the other runs, so nothing is fitted again, and the labels of a
    permutation only relabel sums.

    Parameters
    ----------
    mask_img : image, optional
        Voxels whose values are used, those that are not zero; by default all. An image is a path,
        an image of nibabel, or an array.
    process_mask_img : image, optional
        Voxels around which classes are told apart; by default those of ``mask_img``.
    radius : float
        Of a ball in millimetres, of a cube in voxels: a cube of radius 1 is 3 x 3 x 3.
    shape : {"ball", "cube"}
    estimation : {"mle", "map"}
        How means and variances follow from sums: as they are, or shrunk towards those of all
        classes, as `suffice.families.Gaussian` does.
    variance_floor : float
        Smallest variance of a class, as a fraction of that of the same voxel over all classes.
    zscore : {"run"}, optional
        Standardise every voxel in each run, by its mean and standard deviation over all volumes of
        the run, those without a class included.
    leave_out : sequence
        Labels that are no class, such as ``["rest"]``.
    regions : mapping of str to image, optional
        Regions whose voxels are used together, as the whole mask always is.
    permutations : int or "all"
        How many times the labels are permuted; 0 for none, "all" for every possible labelling.
    exchange : {"blocks", "volumes"} or array-like
        What is exchanged within runs: whole blocks of neighbouring volumes of one class, or
        single volumes, which follow each other and so are *not* exchangeable in a block design;
        or a number for the block of each volume.
    random_state : int or numpy.random.Generator, optional
    n_jobs : int, optional
        Threads; −1 for all cores. Their number changes no bit of the result.
    progress : bool or callable
        Whether a bar shows how far the work is; or what is given every `Progress`.

    Attributes
    ----------
    classes_ : ndarray (k,)
    scores_ : ndarray (x, y, z)
        Mean over folds of the fraction of volumes whose class is predicted; 0 outside.
    scores_img_ : Nifti1Image
    masked_scores_ : ndarray (N,)
        At the voxels of the process mask, in the order of ``numpy.where``.
    fold_scores_ : ndarray (F, N)
        The fraction in each fold; `folds_` names the runs.
    correct_ : ndarray of int (F, N)
        Numbers of volumes whose class is predicted; `fold_sizes_` has those of volumes.
    predictions_ : ndarray of int16 (T, N)
        The number of the class predicted for each volume; `volumes_` says which volumes.
    confusion_ : ndarray of int (N, k, k)
        True classes in rows, predicted ones in columns.
    roi_scores_ : dict
        The same mean for the whole mask and each region; `roi_p_` has their p-values.
    null_max_ : ndarray (P,)
        The largest score of every permuted map.
    p_img_, fwe_p_img_ : Nifti1Image
        How often a permuted map is as accurate at the same voxel, and anywhere; 1 outside.
    fwe_threshold_ : float
        Scores *above* it are significant at 5 %, whatever the number of voxels.
    cluster_cut_, cluster_threshold_ : float
        Voxels above the cut form clusters by touching faces; clusters of *more* voxels than the
        threshold are significant at 5 %.
    clusters_ : tuple of Cluster
    chance_ : float
        The fraction of the most frequent class among the volumes that are predicted.
    best_voxel_ : tuple of 3 int
        The first of those with the largest score.
    grid_ : Grid
        Voxel sizes and places in millimetres.

    Notes
    -----
    Ties are broken towards the class that sorts first. A neighbourhood whose voxels say nothing
    predicts the most frequent class. With 1,000 permutations and more, keep an eye on memory: the
    null keeps P · N numbers of 8 bytes.

    Differences from nilearn: a ball has a tolerance of one millionth, so it does not depend on the
    rotation of the grid; the smallest variance belongs to each voxel, so a loud voxel does not
    swamp its neighbours; volumes stay as exact as they are stored.

    Sources: N. Kriegeskorte, R. Goebel, P. Bandettini, Information-based functional brain mapping
    (PNAS 2006); T. E. Nichols, A. P. Holmes, Nonparametric permutation tests for functional
    neuroimaging (Human Brain Mapping 2002); J. Stelzer, Y. Chen, R. Turner, Statistical inference
    and multiple testing correction in classification-based MVPA (NeuroImage 2013).

    Examples
    --------
    Of 4 x 1 x 1 voxels the first two tell the classes apart.

    >>> rng = np.random.default_rng(0)
    >>> y, run = np.tile([0, 0, 1, 1], 6), np.repeat([0, 1, 2], 8)
    >>> imgs = rng.normal(size=(4, 1, 1, 24))
    >>> imgs[:2] += 5 * y
    >>> light = SearchLight(radius=0, shape="cube").fit(imgs, y, run)
    >>> light.masked_scores_.round(2)
    array([1.  , 1.  , 0.33, 0.54])
    """

    def __init__(
        self,
        mask_img: Any = None,
        process_mask_img: Any = None,
        radius: float = 2.0,
        shape: Shape = "ball",
        estimation: str = "mle",
        variance_floor: float = 1e-9,
        zscore: str | None = None,
        leave_out: Sequence[Any] = (),
        regions: Mapping[str, Any] | None = None,
        permutations: int | str = 0,
        exchange: Exchange | Any = "blocks",
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: Any = False,
    ) -> None:
        self.mask_img = mask_img
        self.process_mask_img = process_mask_img
        self.radius = radius
        self.shape = shape
        self.estimation = estimation
        self.variance_floor = variance_floor
        self.zscore = zscore
        self.leave_out = leave_out
        self.regions = regions
        self.permutations = permutations
        self.exchange = exchange
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self, imgs: Any, y: Any, groups: Any = None, *, test: tuple[Any, ...] | None = None
    ) -> SearchLight:
        """Score every neighbourhood, leaving out one run at a time.

        Parameters
        ----------
        imgs : image or list of images
            4-D, one or several; a list of runs is as long as one image of all of them.
        y : array-like
            The label of every volume.
        groups : array-like, optional
            The run of every volume; by default, each image of a list is a run.
        test : tuple (imgs, y) or (imgs, y, groups), optional
            Learn from all of ``imgs`` and predict these instead.

        Raises
        ------
        ParameterError
            If an option is outside its rule.
        DataError
            If images, masks and labels do not fit together.
        """
        workers = self._check()
        scans, labels, runs, tested = self._opened(imgs, y, groups, test)
        mask = open_mask(self.mask_img, "the mask", scans[0].grid)
        for scan in scans:
            require_same_grid(mask.grid, scan.grid)
        centres = self._open_centres(mask)
        rois = self._rois(mask)
        plan = design(labels, runs, tested, self.leave_out, self.exchange)
        voxels = neighbourhoods(mask, centres.voxels, self.shape, self.radius)
        near = voxels.extended(list(rois.values()))
        with Watcher(self.progress) as watch:
            total = sum(scan.volumes for scan in scans)
            reading = watch.stage("volumes", total)
            series = read_series(scans, mask, plan, self.zscore is not None, reading)
            learnt = sums_of_classes(series, plan, self.estimation, self.variance_floor)
            classes = predict(series, learnt, near, plan, workers)
            self._keep(mask, centres, rois, plan, learnt, classes)
            if self.permutations:
                self._null = self._permuted(series, learnt, near, plan, workers, watch)
        return self

    # -- what is asked for

    def _check(self) -> int:
        """Check the options; return the number of threads."""
        check_choices(self, estimation=tuple(PRIORS), zscore=(None, "run"))
        floor = self.variance_floor
        if isinstance(floor, bool) or not (isinstance(floor, Real) and 0 <= float(floor) < 1):
            raise ParameterError(
                f"variance_floor={floor!r}", "it is a fraction of a variance, from 0 to below 1"
            )
        number = self.permutations
        counted = isinstance(number, Integral) and not isinstance(number, bool)
        if number != "all" and not (counted and (number == 0 or int(number) >= FEWEST)):
            raise ParameterError(
                Option.of("permutations", number),
                f"it is 0, 'all', or {FEWEST} or more: fewer cannot show that anything is "
                "significant at 5 %",
            )
        jobs = 1 if self.n_jobs is None else self.n_jobs
        if not isinstance(jobs, Integral) or jobs == 0 or jobs < -1:
            raise ParameterError(f"n_jobs={jobs!r}", "it is a number of threads, or -1 for all")
        return os.cpu_count() or 1 if jobs == -1 else int(jobs)

    def _opened(
        self, imgs: Any, y: Any, groups: Any, test: tuple[Any, ...] | None
    ) -> tuple[list[Scan], list[Any], list[Any], NDArray[np.bool_]]:
        """The scans, and the label, the run and the use of every volume."""
        scans, labels, runs = _labelled(imgs, y, groups)
        tested = np.zeros(len(labels), np.bool_)
        if test is not None:
            if not (isinstance(test, tuple) and len(test) in (2, 3)):
                raise ParameterError("test is no pair", "a test set is (imgs, y) or with groups")
            others, theirs, their_runs = _labelled(*(*test, None)[:3])
            scans, labels, runs = scans + others, labels + theirs, runs + their_runs
            tested = np.concatenate([tested, np.ones(len(theirs), np.bool_)])
        return scans, labels, runs, tested

    def _open_centres(self, mask: Mask) -> Mask:
        if self.process_mask_img is None:
            return mask
        centres = open_mask(self.process_mask_img, "the process mask")
        require_same_grid(mask.grid, centres.grid)
        return centres

    def _rois(self, mask: Mask) -> dict[str, NDArray[np.int32]]:
        """The voxels of the whole mask and of each region."""
        numbers = mask.numbers()
        rois = {"whole mask": numbers[mask.inside]}
        for name, img in (self.regions or {}).items():
            region = open_mask(img, f"the region {name!r}")
            require_same_grid(mask.grid, region.grid)
            rois[name] = numbers[region.inside & mask.inside]
            if not len(rois[name]):
                raise DataError(
                    f"the region {name!r} has no voxel in the mask", "a region needs one at least"
                )
        return rois

    # -- what is kept

    def _keep(
        self,
        mask: Mask,
        centres: Mask,
        rois: dict[str, Any],
        plan: Design,
        learnt: Any,
        classes: NDArray[np.int16],
    ) -> None:
        n = int(centres.inside.sum())
        self._mask, self._centres, self._plan, self._learnt = mask, centres, plan, learnt
        self._null = None
        self.__dict__.pop("confusion_", None)
        self.classes_ = plan.classes
        self.fold_sizes_ = np.diff(plan.bounds, axis=1).ravel()
        right = (classes == plan.code[:, None].astype(np.int16)).view(np.uint8)
        counts = (right[first:last].sum(axis=0, dtype=np.uint32) for first, last in plan.bounds)
        correct = np.stack(list(counts)).astype(np.intp)
        self.correct_ = correct[:, :n]
        self.fold_scores_ = self.correct_ / self.fold_sizes_[:, None]
        self._scores = accuracy(correct, self.fold_sizes_)
        self.masked_scores_ = self._scores[:n]
        self.roi_scores_ = dict(zip(rois, self._scores[n:].tolist(), strict=True))
        self.scores_ = centres.filled(self.masked_scores_)
        self.process_mask_ = centres.inside
        self.n_elements_ = n
        runs = np.array(plan.runs)
        self.folds_ = np.array([", ".join(runs[plan.tested])]) if plan.tested.any() else runs
        shown = np.flatnonzero(plan.predicted)
        shown = shown[np.argsort(plan.volumes[shown])]
        self.volumes_, self._truth = plan.volumes[shown], plan.code[shown]
        in_order = len(shown) == len(classes) and bool((np.diff(shown) == 1).all())
        self.predictions_ = classes[:, :n] if in_order else classes[shown, :n]

    def _permuted(
        self,
        series: Any,
        learnt: Any,
        near: Neighbourhoods,
        plan: Design,
        workers: int,
        watch: Watcher,
    ) -> Null:
        if isinstance(self.exchange, str) and self.exchange == "volumes":
            warn(
                Phrase(
                    Option.of("exchange", "volumes"),
                    " permutes single volumes; in a block design they resemble their neighbours, "
                    "and far more than 5 % of maps without any information pass the threshold; "
                    "use ",
                    Option.of("exchange", "blocks"),
                )
            )
        every = self.permutations == "all"
        labellings = (
            every_labelling(plan)
            if every
            else random_labellings(plan, int(self.permutations), generator(self.random_state))
        )
        report = watch.stage("permutations", len(labellings))
        maps = null_maps(series, learnt, near, plan, labellings, workers, report)
        if every:  # the observed labelling is one of them
            maps[(labellings == plan.block_code).all(axis=1)] = self._scores
        return Null(maps, self._centres, every)


def _labelled(imgs: Any, y: Any, groups: Any) -> tuple[list[Scan], list[Any], list[Any]]:
    """Scans, and the label and the run of each of their volumes."""
    scans = open_scans(imgs)
    for scan in scans[1:]:
        require_same_grid(scans[0].grid, scan.grid)
    sizes = [scan.volumes for scan in scans]
    labels = _each(y, sizes, "labels", scans)
    if groups is None:
        runs: list[Any] = list(chain.from_iterable([i] * n for i, n in enumerate(sizes)))
    else:
        runs = _each(groups, sizes, "groups", scans)
    return scans, labels, runs


def _each(given: Any, sizes: Sequence[int], what: str, scans: Sequence[Scan]) -> list[Any]:
    """One value for each volume."""
    values = np.asarray(given, dtype=object)
    if values.ndim != 1:
        raise DataError(f"the {what} have the shape {values.shape}", "there is one a volume")
    if len(values) != sum(sizes):
        names = scans[0].grid.name if len(scans) == 1 else f"{len(scans)} images"
        raise DataError(
            f"there are {len(values):,} {what} for the {sum(sizes):,} volumes of {names}",
            "every volume has one",
            "check that they belong together",
        )
    found: list[Any] = values.tolist()
    return found
