"""The searchlight: accuracy of a classifier in the neighbourhood of every voxel."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.engines.progress import Progress, Report
from suffice.errors import DataError, ParameterError, UnavailableError
from suffice.images.design import Design, design, random_labellings
from suffice.images.scans import Grid, Mask, Scan, open_mask, open_scans
from suffice.images.scoring import (
    Neighbourhoods,
    Shape,
    Sums,
    accuracy,
    neighbourhoods,
    null_scores,
    p_values,
    predict,
    read_series,
    sums_of_classes,
)
from suffice.models.base.options import generator
from suffice.models.base.scikit_learn import KeptArray, not_fitted
from suffice.models.estimator import Estimator

FAMILYWISE_ERROR = 0.05
FEWEST = 19  # permutations: with fewer, nothing is significant at 5 %
KEPT = 200  # permuted maps


class Null(NamedTuple):
    """Accuracies under P labellings of the blocks."""

    largest: NDArray[np.float64]  # (P,)
    whole_mask: NDArray[np.float64]  # (P,)
    maps: NDArray[np.float32]  # (at most KEPT, N): the first ones


class SearchLight(Estimator):
    """Gaussian naive Bayes in the neighbourhood of every voxel, leaving out one run at a time.

    The interface is that of ``nilearn.decoding.SearchLight``. The images are read once. A run is
    predicted from the sums over the other runs, so nothing is fitted again, and the labels of a
    permutation only relabel sums.

    Parameters
    ----------
    mask_img : image, optional
        Voxels whose values are used, those that are not zero; by default all. An image is a path,
        an image of nibabel, or an array on the grid of the scans.
    process_mask_img : image, optional
        Voxels around which classes are told apart; by default those of ``mask_img``.
    radius : float
        Of a ball in millimetres, of a cube in voxels: a cube of radius 1 is 3 x 3 x 3.
    shape : {"ball", "cube"}
    detrend : {"run"}, optional
        Subtract from every voxel in each run its least-squares line over time; volumes of a run
        are equally far apart.
    zscore : {"run"}, optional
        Standardise every voxel in each run, by its mean and standard deviation. As with trends,
        all volumes of the run count, those without a class included.
    leave_out : sequence
        Labels that are no class, such as ``["rest"]``.
    permutations : int
        Number of permutations of the labels, 0 for none. Within runs, whole blocks of neighbouring
        volumes of one class change their labels: single volumes resemble their neighbours.
    random_state : int or numpy.random.Generator, optional
    n_jobs : int, optional
        Threads; −1 for all cores. Their number changes no bit of the result.
    progress : bool
        Whether a bar on the terminal shows how far the permutations are.

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
        The position in `classes_` of the class predicted for each volume; `volumes_` has the
        positions of the volumes.
    whole_mask_score_, whole_mask_p_ : float
        The same mean for all voxels of the mask together, and its p-value.
    null_max_ : ndarray (P,)
        The largest score of every permuted map.
    null_scores_ : ndarray of float32 (min(P, 200), N)
        The first of the permuted maps, for `group_map`.
    fwe_p_img_ : Nifti1Image
        Family-wise p-values of voxels: how often a permuted map is as accurate anywhere; 1 outside.
    fwe_threshold_ : float
        Scores *above* it are significant at a family-wise error of 5 %.
    chance_ : float
        The fraction of the most frequent class among the volumes that are predicted.
    best_voxel_ : tuple of 3 int
        The first of those with the largest score.
    grid_ : Grid
        Voxel sizes and positions in millimetres.

    Notes
    -----
    Ties are broken towards the class that sorts first. A neighbourhood of constant voxels predicts
    the most frequent class. The observed labelling counts as a permutation: with P others,
    p = (1 + #{null ≥ observed})/(1 + P).

    Differences from nilearn: a ball has a tolerance of one millionth, so it does not depend on the
    rotation of the grid; the smallest variance belongs to each voxel, so a loud voxel does not
    swamp its neighbours; volumes stay as exact as they are stored.

    Sources: N. Kriegeskorte, R. Goebel, P. Bandettini, Information-based functional brain mapping
    (PNAS 2006); T. E. Nichols, A. P. Holmes, Nonparametric permutation tests for functional
    neuroimaging (Human Brain Mapping 2002).

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

    classes_ = KeptArray()
    scores_ = KeptArray()
    masked_scores_ = KeptArray()
    predictions_ = KeptArray()

    _mask: Mask
    _centres: Mask
    _learnt: Sums
    _null: Null | None

    def __init__(
        self,
        mask_img: Any = None,
        process_mask_img: Any = None,
        radius: float = 2.0,
        shape: Shape = "ball",
        detrend: str | None = None,
        zscore: str | None = None,
        leave_out: Sequence[Any] = (),
        permutations: int = 0,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.mask_img = mask_img
        self.process_mask_img = process_mask_img
        self.radius = radius
        self.shape = shape
        self.detrend = detrend
        self.zscore = zscore
        self.leave_out = leave_out
        self.permutations = permutations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, imgs: Any, y: Any, groups: Any = None) -> SearchLight:
        """Score every neighbourhood, leaving out one run at a time.

        Parameters
        ----------
        imgs : image or list of images
            4-D, one or several; a list of runs is as long as one image of all of them.
        y : array-like
            The label of every volume.
        groups : array-like, optional
            The run of every volume; by default, each image of a list is a run.

        Raises
        ------
        ParameterError
            If an option is outside its rule.
        DataError
            If images, masks and labels do not fit together.

        Warns
        -----
        SufficeWarning
            If a class looks like rest: by its name, or by five times the volumes of any other.
        """
        workers = self._check()
        scans, labels, runs = _labelled(imgs, y, groups)
        mask = open_mask(self.mask_img, "the mask", scans[0].grid)
        centres = mask
        if self.process_mask_img is not None:
            centres = open_mask(self.process_mask_img, "the process mask", mask.grid)
        plan = design(labels, runs, self.leave_out)
        near = neighbourhoods(mask, centres, self.shape, self.radius).with_all(len(mask.voxels))
        clean = self.detrend is not None, self.zscore is not None
        values, constant = read_series(scans, mask, plan, *clean)
        self._mask, self._centres = mask, centres
        self._learnt = sums_of_classes(values, constant, plan)
        self._keep(plan, predict(values, self._learnt, near, plan, workers))
        self._null = None
        if self.permutations:
            self._null = self._permuted(values, near, plan, workers)
        return self

    def _check(self) -> int:
        """Check the options; return the number of threads."""
        for name, value in {"detrend": self.detrend, "zscore": self.zscore}.items():
            if value not in (None, "run"):
                raise ParameterError(f"{name}={value!r}", "it is None or 'run'")
        check_permutations(self.permutations, "0, or ")
        jobs = 1 if self.n_jobs is None else self.n_jobs
        if not isinstance(jobs, Integral) or jobs == 0 or jobs < -1:
            raise ParameterError(f"n_jobs={jobs!r}", "it is a number of threads, or -1 for all")
        return os.cpu_count() or 1 if jobs == -1 else int(jobs)

    def _keep(self, plan: Design, classes: NDArray[np.int16]) -> None:
        n = len(self._centres.voxels)
        self.classes_ = plan.classes
        self.n_elements_ = n
        self.process_mask_ = self._centres.inside
        self.folds_ = np.array(plan.runs)
        self.fold_sizes_ = np.diff(plan.bounds, axis=1).ravel()
        right = (classes == plan.code[:, None].astype(np.int16)).view(np.uint8)
        counts = [right[a:b].sum(axis=0, dtype=np.uint32) for a, b in plan.bounds]
        correct = np.stack(counts).astype(np.intp)
        self.correct_ = correct[:, :n]
        self.fold_scores_ = self.correct_ / self.fold_sizes_[:, None]
        scores = accuracy(correct, self.fold_sizes_)
        self.masked_scores_ = scores[:n]
        self.scores_ = self._centres.filled(scores[:n])
        self.whole_mask_score_ = float(scores[n])
        in_time = np.argsort(plan.volumes)
        self.volumes_ = plan.volumes[in_time]
        ordered = bool((np.diff(in_time) == 1).all())
        self.predictions_ = classes[:, :n] if ordered else classes[in_time, :n]
        most = np.bincount(plan.code).max()
        self.chance_ = float(most / len(self.volumes_))

    def _permuted(
        self, values: NDArray[Any], near: Neighbourhoods, plan: Design, workers: int
    ) -> Null:
        number, n = int(self.permutations), self.n_elements_
        labellings = random_labellings(plan, number, generator(self.random_state))
        null = Null(*np.empty((2, number)), np.empty((min(number, KEPT), n), np.float32))
        with _shown(self.progress) as report:
            begun = time.monotonic()
            found = null_scores(values, self._learnt, near, plan, labellings, workers)
            for p, scores in enumerate(found, 1):
                null.largest[p - 1], null.whole_mask[p - 1] = scores[:n].max(), scores[n]
                if p <= KEPT:
                    null.maps[p - 1] = scores[:n]
                left = (time.monotonic() - begun) * (number - p) / p
                report(Progress(p, 0, number, None, p / number, left, unit="permutations"))
        return null

    # -- fitted attributes that are computed when they are asked for

    @property
    def grid_(self) -> Grid:
        """Voxel sizes and positions in millimetres."""
        grid: Grid = self._fitted("_mask").grid
        return grid

    @property
    def best_voxel_(self) -> tuple[int, ...]:
        """The first of the voxels with the largest score."""
        best = self._fitted("masked_scores_").argmax()
        return tuple(self._centres.voxels[best].tolist())

    @property
    def scores_img_(self) -> Any:
        """The scores on the grid of the mask."""
        return self._mask.grid.image(self._fitted("scores_"))

    @property
    def null_max_(self) -> NDArray[np.float64]:
        """The largest score of every permuted map."""
        return self._permutations().largest

    @property
    def null_scores_(self) -> NDArray[np.float32]:
        """The first 200 permuted maps, in the order of `masked_scores_`."""
        return self._permutations().maps

    @property
    def fwe_threshold_(self) -> float:
        """Scores above it are significant at a family-wise error of 5 %."""
        largest = np.sort(self.null_max_)
        allowed = math.floor(FAMILYWISE_ERROR * (len(largest) + 1) + 1e-9)
        return float(largest[-allowed])

    @property
    def fwe_p_img_(self) -> Any:
        """Family-wise p-values of voxels."""
        p = p_values(self.null_max_, self.masked_scores_)
        return self._mask.grid.image(self._centres.filled(p, 1.0))

    @property
    def whole_mask_p_(self) -> float:
        """p-value of all voxels of the mask together."""
        null = self._permutations().whole_mask
        return float(p_values(null, np.float64(self.whole_mask_score_)))

    def class_mean_img(self, c: Any) -> Any:
        """Return the mean of each voxel over the volumes of a class; 0 outside the mask.

        Parameters
        ----------
        c : object
            One of `classes_`.

        Raises
        ------
        ParameterError
            If there is no such class.
        """
        (found,) = np.nonzero(self._fitted("classes_") == c)
        if not len(found):
            names = ", ".join(map(repr, self.classes_.tolist()))
            raise ParameterError(f"there is no class {c!r}", f"the classes are {names}")
        mean = self._learnt.class_mean(int(found[0]))
        return self._mask.grid.image(self._mask.filled(mean))

    def _fitted(self, name: str) -> Any:
        if name not in vars(self):
            raise not_fitted("this SearchLight is not fitted yet; call fit first")
        return vars(self)[name]

    def _permutations(self) -> Null:
        null: Null | None = self._fitted("_null")
        if null is None:
            raise UnavailableError(
                "there is no permuted map",
                "permutations=0",
                "fit with permutations=1000",
            )
        return null


def check_permutations(number: Any, also: str = "") -> None:
    """Refuse a number of permutations that can show nothing; 0 where ``also`` allows it."""
    counted = isinstance(number, Integral) and not isinstance(number, bool)
    if not (counted and (number >= FEWEST or (also and number == 0))):
        raise ParameterError(
            f"permutations={number!r}",
            f"it is {also}{FEWEST} or more: fewer cannot show that anything is significant at 5 %",
        )


@contextmanager
def _shown(progress: bool) -> Iterator[Report]:
    """Show a bar, if asked for, until the block ends."""
    if not progress:
        yield lambda progress: None
        return
    from suffice.engines.progress import bar

    with bar("Searchlight") as report:
        yield report


def _labelled(imgs: Any, y: Any, groups: Any) -> tuple[list[Scan], list[Any], list[Any]]:
    """Open scans; return the label and the run of each of their volumes with them."""
    scans = open_scans(imgs)
    sizes = [scan.volumes for scan in scans]
    if groups is None:
        groups = np.repeat(np.arange(len(scans)), sizes)
    names = scans[0].grid.name if len(scans) == 1 else f"{len(scans)} images"
    return scans, _each(y, sum(sizes), "labels", names), _each(groups, sum(sizes), "groups", names)


def _each(given: Any, volumes: int, what: str, names: str) -> list[Any]:
    """Return one value for each volume."""
    values = np.asarray(given, dtype=object)
    if values.ndim != 1:
        raise DataError(f"the {what} have the shape {values.shape}", "there is one a volume")
    if len(values) != volumes:
        raise DataError(
            f"there are {len(values):,} {what} for the {volumes:,} volumes of {names}",
            "every volume has one",
            "check that they belong together",
        )
    found: list[Any] = values.tolist()
    return found
