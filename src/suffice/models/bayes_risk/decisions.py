"""What a Bayes-optimal classifier is given: the prior of the classes and the costs of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError

__all__ = ["prior_of", "with_rejection"]


def prior_of(priors: Any, labels: tuple[Any, ...]) -> NDArray[np.float64]:
    """P(c) (k,), checked, in the order of the labels."""
    if priors is None:
        return np.full(len(labels), 1.0 / len(labels))
    if isinstance(priors, Mapping):
        strange = [
            label for label in (*labels, *priors) if label not in priors or label not in labels
        ]
        if strange:
            raise ParameterError(
                f"the class {strange[0]!r} has either no prior or no density",
                f"the classes are {', '.join(map(repr, labels))}",
            )
        priors = [priors[label] for label in labels]
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"priors={priors!r}", "a probability is a number") from None
    if given.shape != (len(labels),):
        raise ParameterError(
            f"priors has shape {given.shape}",
            f"there are {len(labels)} classes: {', '.join(map(repr, labels))}",
        )
    if not ((given >= 0).all() and abs(given.sum() - 1) < 1e-9):
        raise ParameterError(
            f"priors={given.tolist()}",
            "probabilities are 0 or more and add up to 1",
            f"they add up to {given.sum():.12g}",
        )
    return np.asarray(given / given.sum())


def with_rejection(costs: NDArray[np.float64], cost: float | None) -> NDArray[np.float64]:
    """A (k, k + 1), with a column for deciding nothing; A (k, k) where there is no such thing."""
    if cost is None:
        return costs
    if not (isinstance(cost, Real) and 0 <= cost < np.inf):
        raise ParameterError(f"rejection_cost={cost!r}", "a cost is a finite number, 0 or more")
    return np.column_stack([costs, np.full(len(costs), float(cost))])
