"""Maps of several brains: mean accuracy, and the share of people whose brains tell the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn
from suffice.images.scans import Grid, Mask, require_same_grid
from suffice.images.scoring import p_values
from suffice.images.searchlight import SearchLight, check_permutations
from suffice.models.base.options import generator
from suffice.numerics.elementary import exp, log

Volume = NDArray[np.float64]  # (x, y, z)


@dataclass(frozen=True, eq=False)
class GroupMap:
    """Inference about people from searchlights of several brains: volumes, see `group_map`.

    Attributes
    ----------
    brains : int
    inside : ndarray of bool (x, y, z)
        Voxels that are scored in every brain. Elsewhere p-values are 1, and all else is 0.
    grid : Grid
        Voxel sizes and positions in millimetres.
    mean, minimum : ndarray (x, y, z)
        Mean and least accuracy of the brains.
    global_p, global_p_uncorrected : ndarray (x, y, z)
        p-values of the hypothesis that the voxel tells nothing in any brain; with and without
        correction for the number of voxels.
    prevalence_p, prevalence_p_uncorrected : ndarray (x, y, z)
        p-values of the hypothesis that it tells something in a share γ of people at most.
    bound, bound_uncorrected : ndarray (x, y, z)
        γ₀: the largest γ of which this hypothesis is rejected, so that more people than that have
        the information; 0 where none is.

    Examples
    --------
    >>> from suffice.images import SearchLight, group_map
    >>> y, run = np.tile([0, 0, 1, 1], 12), np.repeat([0, 1, 2], 16)
    >>> light = SearchLight(permutations=99, random_state=0).fit(y[None, None, None] + 0.0, y, run)
    >>> found = group_map([light] * 6, random_state=0)
    >>> found.mean.item(), round(found.bound.item(), 2)
    (1.0, 0.6)
    """

    brains: int
    inside: NDArray[np.bool_]
    grid: Grid
    mean: Volume
    minimum: Volume
    global_p: Volume
    global_p_uncorrected: Volume
    prevalence_p: Volume
    prevalence_p_uncorrected: Volume
    bound: Volume
    bound_uncorrected: Volume

    def image(self, volume: Volume) -> Any:
        """Return a volume, such as `bound`, as an image of nibabel."""
        return self.grid.image(volume)


def group_map(
    brains: Sequence[SearchLight],
    gamma: float = 0.5,
    alpha: float = 0.05,
    permutations: int = 10_000,
    random_state: int | np.random.Generator | None = None,
) -> GroupMap:
    """Infer in how many people a voxel tells the classes apart, from permuted maps of each brain.

    A t-test of accuracies against chance shows that *some* people have the information. The
    minimum statistic bounds their share γ. With the accuracies a_k of K brains, m = min a_k, and
    P_k permuted maps of brain k::

        p      = Π (1 + #{permuted a_k ≥ m}) / (1 + P_k)            of γ = 0
        p(γ)   = ((1 − γ) p^(1/K) + γ)^K                            of γ, or less
        p*     = (1 + #{largest permuted m ≥ m}) / (1 + permutations)
        p*(γ)  = p* + (1 − p*) p(γ)
        γ₀     = (α*^(1/K) − p^(1/K)) / (1 − p^(1/K))               α* = (α − p*) / (1 − p*)

    p is that of all combinations of one map of each brain. For p*, combinations are drawn, and the
    largest m of all voxels counts. Without correction, γ₀ has p* = 0.

    The correction keeps voxels that tell nothing in anybody from being found anywhere. Of voxels
    that tell something in some people, each is tested for γ by itself.

    Parameters
    ----------
    brains : sequence of SearchLight
        Fitted with ``permutations`` to images on one grid, for example of a template. Voxels that
        are scored in every brain are used, and the first 200 permuted maps of each.
    gamma : float
        The share of people in the prevalence hypothesis, 0 or more, less than 1; half of them is
        the majority hypothesis.
    alpha : float
        Significance level of the bound.
    permutations : int
        Number of combinations of permuted maps.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    GroupMap

    Raises
    ------
    ParameterError
        If an option is outside its rule.
    DataError
        If there are fewer than two brains, or they share no grid or no voxel.
    UnavailableError
        If a brain has no permuted maps.

    Warns
    -----
    SufficeWarning
        If so few brains cannot reject the prevalence hypothesis at all.

    Notes
    -----
    Source: C. Allefeld, K. Görgen, J.-D. Haynes, Valid population inference for information-based
    imaging: from the second-level t-test to prevalence inference (NeuroImage 2016), equations 19
    to 26.

    Examples
    --------
    The first of three voxels tells the classes apart in all of six brains, the second in one.

    >>> from suffice.images import SearchLight
    >>> rng = np.random.default_rng(0)
    >>> y, run = np.tile([0, 0, 1, 1], 12), np.repeat([0, 1, 2], 16)
    >>> brains = []
    >>> for brain in range(6):
    ...     imgs = rng.normal(size=(3, 1, 1, 48))
    ...     imgs[: 2 if brain == 0 else 1] += 3 * y
    ...     light = SearchLight(radius=0, shape="cube", permutations=99, random_state=brain)
    ...     brains.append(light.fit(imgs, y, run))
    >>> found = group_map(brains, random_state=0)
    >>> found.global_p.ravel() <= 0.05
    array([ True, False, False])
    >>> found.bound.ravel().round(2)
    array([0.6, 0. , 0. ])
    """
    _check(gamma, alpha, permutations)
    voxels = _shared_voxels(brains)
    used = [voxels.inside[brain.process_mask_] for brain in brains]
    scores = np.stack([brain.masked_scores_[own] for brain, own in zip(brains, used, strict=True)])
    maps = [  # the observed one first; in single precision, equal accuracies stay equal
        np.concatenate([observed[None].astype(np.float32), brain.null_scores_[:, own]])
        for observed, brain, own in zip(scores, brains, used, strict=True)
    ]
    k, minimum = len(brains), scores.min(axis=0).astype(np.float32)
    rng = generator(random_state)
    drawn = np.stack([rng.integers(len(own), size=permutations) for own in maps], axis=1)
    largest = [
        reduce(np.minimum, [own[i] for own, i in zip(maps, row, strict=True)]).max()
        for row in drawn.tolist()
    ]
    root = _root(np.stack([(own >= minimum).mean(axis=0) for own in maps]))
    p = _power(root, k)
    corrected = np.maximum(p_values(np.array(largest), minimum), p)
    prevalence = _power((1 - gamma) * root + gamma, k)
    _warn_of_few(k, _root(np.array([1 / len(own) for own in maps])), gamma, alpha)
    return GroupMap(
        brains=k,
        inside=voxels.inside,
        grid=voxels.grid,
        mean=voxels.filled(scores.mean(axis=0)),
        minimum=voxels.filled(scores.min(axis=0)),
        global_p=voxels.filled(corrected, 1.0),
        global_p_uncorrected=voxels.filled(p, 1.0),
        prevalence_p=voxels.filled(corrected + (1 - corrected) * prevalence, 1.0),
        prevalence_p_uncorrected=voxels.filled(prevalence, 1.0),
        bound=voxels.filled(_bound(root, corrected, alpha, k)),
        bound_uncorrected=voxels.filled(_bound(root, np.zeros_like(root), alpha, k)),
    )


def _check(gamma: Any, alpha: Any, permutations: Any) -> None:
    if not (isinstance(gamma, Real) and 0 <= float(gamma) < 1):
        raise ParameterError(f"gamma={gamma!r}", "a share is a number, 0 or more, less than 1")
    if not (isinstance(alpha, Real) and 0 < float(alpha) < 1):
        raise ParameterError(f"alpha={alpha!r}", "a significance level is between 0 and 1")
    check_permutations(permutations)


def _shared_voxels(brains: Sequence[SearchLight]) -> Mask:
    """Find the voxels that are scored in every brain."""
    if len(brains) < 2:
        raise DataError(f"the number of brains is {len(brains)}", "a group has two or more")
    for i, brain in enumerate(brains):
        if not isinstance(brain, SearchLight):
            raise DataError(f"brain {i} is a {type(brain).__name__}", "brains are SearchLights")
    grids = [replace(brain.grid_, name=f"brain {i}") for i, brain in enumerate(brains)]
    for i, brain in enumerate(brains):
        require_same_grid(grids[0], grids[i])
        if len(brain.classes_) != len(brains[0].classes_):
            raise DataError(
                f"brain {i} has {len(brain.classes_)} classes, brain 0 {len(brains[0].classes_)}",
                "accuracies are compared, so chance is the same in all",
                "leave the other classes out: leave_out",
            )
    inside = np.logical_and.reduce([brain.process_mask_ for brain in brains])
    if not inside.any():
        raise DataError("no voxel is scored in every brain", "a group map is of shared voxels")
    return Mask(brains[0].grid_, inside)


def _power(x: Any, k: int) -> Any:
    """Return x^k of numbers above 0, the same bits on every processor."""
    return exp(k * log(x))


def _root(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the geometric mean over brains."""
    return exp(log(shares).mean(axis=0))


def _bound(
    root: NDArray[np.float64], corrected: NDArray[np.float64], alpha: float, k: int
) -> NDArray[np.float64]:
    """Return γ₀, or 0 where p^(1/K) = ``root`` is too large at the level that is left."""
    spent = np.minimum(corrected, alpha)
    level = exp(log((alpha - spent) / (1 - spent)) / k)  # α*^(1/K); 0 of α* = 0
    root = np.minimum(root, level)
    return np.asarray((level - root) / (1 - root))


def _warn_of_few(k: int, root: NDArray[np.float64], gamma: float, alpha: float) -> None:
    """Warn if the least p-value is above ``alpha``."""
    least = float(_power((1 - gamma) * root + gamma, k))
    if least > alpha:
        warn(
            f"p-values of gamma={gamma} are {least:.2g} or more with {k} brains, so none is below "
            f"{alpha}; take more brains, or a smaller gamma"
        )
