"""P(c): how likely each class is before anything is known of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.dirichlet import dirichlet
from suffice.rules import shown
from suffice.sums.vocabulary import Vocabulary

Prior = Literal["empirical", "smoothed", "uniform"] | Mapping[Any, float] | Sequence[float]


def class_prior(
    weight: NDArray[np.float64],
    classes: Vocabulary,
    prior: Prior,
    option: str = "class_prior",
) -> NDArray[np.float64]:
    """P(c) (k,) from class weights N_c.

    ::

        "empirical"  N_c / N
        "smoothed"   (N_c + 1) / (N + k), Laplace's rule
        "uniform"    1 / k

    or as given: a mapping from label to probability, or a sequence in the order of the labels.
    Errors call it by the name of its ``option``.

    Examples
    --------
    >>> class_prior(np.array([3.0, 1.0]), Vocabulary(("a", "b")), "smoothed")
    array([0.66666667, 0.33333333])
    """
    k = len(weight)
    if isinstance(prior, str):
        if prior == "empirical":
            return np.asarray(weight / weight.sum())
        if prior == "smoothed":
            return np.asarray(dirichlet(weight[None], 1.0, "bayes", k)[0])
        if prior == "uniform":
            return np.full(k, 1 / k)
        raise ParameterError(
            f"{option}={prior!r}",
            "it is 'empirical', 'smoothed', 'uniform', a mapping or one number per class",
        )
    if isinstance(prior, Mapping):
        absent = [value for value in classes.values if value not in prior]
        if absent:
            raise ParameterError(
                f"{option} has no entry for the class {absent[0]!r}",
                "a prior that is given has one for every class",
                f"add it, or leave {option} out and adjust the prior again",
            )
        prior = [prior[value] for value in classes.values]
    try:
        given = np.array(prior, dtype=np.float64)  # the caller's array may change
    except (OverflowError, TypeError, ValueError):
        raise ParameterError(f"{option}={shown(prior)}", "a probability is a number") from None
    if given.shape != (k,):
        raise ParameterError(
            f"{option} has {given.size} numbers"
            if given.ndim == 1
            else f"{option} has the shape {given.shape}, not ({k},)",
            f"Number of priors must match number of classes, {k}: "
            f"{', '.join(map(repr, classes.values))}",
        )
    if not (given >= 0).all():
        raise ParameterError(f"{option}={given.tolist()}", "Priors must be non-negative")
    if not abs(given.sum() - 1) < 1e-9:
        raise ParameterError(f"{option}={given.tolist()}", "The sum of the priors should be 1")
    return given
