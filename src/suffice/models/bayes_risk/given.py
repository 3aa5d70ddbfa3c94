"""What a Bayes-optimal classifier is given: densities with labels, and the prior of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.python_numbers import faithful
from suffice.errors import ParameterError
from suffice.models.bayes_risk.class_densities import (
    ClassDensities,
    FittedDensities,
    KnownDensities,
)
from suffice.models.bayes_risk.densities import density, described
from suffice.models.generative.classifier import GenerativeClassifier

__all__ = ["class_densities", "listed"]


def class_densities(densities: Any, priors: Any, classes: Any) -> ClassDensities:
    """Class prior and class-conditional distributions; see `suffice.BayesClassifier`.

    Raises
    ------
    ParameterError
        If there are fewer than two classes, something is no distribution, or priors or labels
        break their rule.
    """
    if isinstance(densities, GenerativeClassifier):
        if classes is not None:
            raise ParameterError("classes is given", "a fitted model knows its labels")
        fitted = FittedDensities.of(densities)
        if priors is None:
            return fitted
        return fitted.with_prior(_prior_of(priors, fitted.classes))
    labels, given = _labelled(densities, classes)
    prior = _prior_of(priors, labels)
    known = tuple(density(label, one) for label, one in zip(labels, given, strict=True))
    return KnownDensities(labels, prior, known)


def _labelled(densities: Any, classes: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Labels and what was given for each."""
    if isinstance(densities, Mapping):
        if classes is not None:
            raise ParameterError("classes is given", "the labels are the keys of `densities`")
        labels, given = tuple(densities), tuple(densities.values())
    elif isinstance(densities, list | tuple):
        given = tuple(densities)
        labels = tuple(range(len(given)))
        if classes is not None:
            labels = tuple(faithful(classes, np.asarray(classes)).tolist())
    else:
        raise ParameterError(
            f"densities is {described(densities)}",
            "it is a mapping from label to distribution, a sequence, or a fitted model",
        )
    if len(labels) != len(given):
        raise ParameterError(
            f"there are {len(labels)} labels for {len(given)} densities", "each has one"
        )
    if len(given) < 2:
        raise ParameterError(
            f"the number of classes is {len(given)}", "a classifier needs two classes or more"
        )
    if len(set(labels)) < len(labels) or None in labels:
        raise ParameterError(
            f"classes={list(labels)!r}",
            "labels differ, and None is no label: it is the answer for a rejected row",
        )
    return labels, given


def listed(densities: Any) -> str:
    """What was given, as it is printed."""
    if isinstance(densities, Mapping):
        pairs = (f"{label!r}: {described(one)}" for label, one in densities.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(densities, GenerativeClassifier):
        return repr(densities)
    return f"[{', '.join(map(described, densities))}]"


def _prior_of(priors: Any, labels: tuple[Any, ...]) -> NDArray[np.float64]:
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
