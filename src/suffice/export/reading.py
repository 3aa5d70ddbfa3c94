"""From a fitted model to its log joint, whatever kind of model it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout, UniformColumns
from suffice.errors import ParameterError
from suffice.export.columns import check_labels
from suffice.export.expressions import Column, LogJoint, Term
from suffice.export.family_terms import family_terms
from suffice.export.polynomials import design_terms
from suffice.models.generative.model import GenerativeModel
from suffice.models.linear.model import LinearModel
from suffice.models.logistic.model import LogisticModel
from suffice.phrases import with_article

__all__ = ["log_joint", "refuse_times"]


def log_joint(model: Any) -> LogJoint:
    """The log joint of a fitted classifier, or the predictions of a regressor, as expressions.

    Naive Bayes leaves a missing cell out. Discriminant analysis, linear and logistic models have
    their terms of complete rows, and refuse others.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    LogJoint

    Raises
    ------
    ParameterError
        If the model, or the family of a column, cannot be written as an expression.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1.0, 2.0, 5.0], "kind": ["a", "a", "b"]})
    >>> log_joint(NaiveBayes().fit(rows, "kind")).columns
    (Column(name='size', kind='number'),)
    """
    fitted = getattr(model, "model_", None)
    if getattr(model, "costs", None) is not None:
        raise ParameterError(
            "the model decides by costs",
            "an export answers the most probable label",
            "set costs=None, and apply them to the probabilities",
        )
    if isinstance(fitted, GenerativeModel | LogisticModel):
        check_labels(fitted.classes.values)
    if isinstance(fitted, GenerativeModel):
        strict = getattr(model, "unseen", "error") == "error"
        return _generative(fitted, fitted.layout if strict else fitted.layout.answering)
    if isinstance(fitted, LogisticModel):
        return _logistic(fitted)
    if isinstance(fitted, LinearModel):
        return _linear(fitted)
    raise ParameterError(
        f"{with_article(type(model).__name__)} cannot be exported",
        "an export writes fitted naive Bayes, discriminant analysis, linear and logistic models",
        "fit one of these",
    )


def _generative(model: GenerativeModel, layout: Layout) -> LogJoint:
    columns: list[Column] = []
    terms: list[Term] = []
    model.refuse_pairs("an export")
    refuse_times(model.layout)
    for part, parameters, weights in zip(
        model.parts, model.parameters, model.part_weights, strict=True
    ):
        names = tuple(part.layout.columns)
        found = family_terms(parameters, names, layout, len(columns))
        columns += found[0]
        terms += _weighed(found[1], weights)
    prior = tuple(model.prior.tolist())
    start = tuple(model.log_prior.tolist())
    return LogJoint("classes", model.classes.values, start, prior, tuple(columns), tuple(terms))


def _weighed(terms: list[Term], weights: NDArray[np.float64]) -> list[Term]:
    """Terms of one family, each times its weight, or all times the only one; none of weight 0."""
    each = np.broadcast_to(weights, len(terms)).tolist()
    return [term.weighed(weight) for term, weight in zip(terms, each, strict=True) if weight]


def refuse_times(layout: Layout) -> None:
    """Check that no column holds dates or times.

    Raises
    ------
    ParameterError
        If one does.
    """
    for column in () if isinstance(layout.columns, UniformColumns) else layout.columns:
        if column.stored == "time":
            raise ParameterError(
                f"column {column.name!r} holds dates or times",
                "databases and programs count these in different ways",
                "fit the model on the seconds since 1970-01-01, as numbers",
            )


def _logistic(model: LogisticModel) -> LogJoint:
    refuse_times(model.layout)
    w, b = model.coefficients[:, 1:], model.coefficients[:, 0]
    if len(w) == 1:  # t₁ − t₀
        w, b = np.vstack([np.zeros_like(w), w]), np.append(0.0, b)
    columns, terms, rest = design_terms(model.centred.design, w, model.centred.mean)
    k = len(model.classes)
    start = tuple((b + rest).tolist())
    prior = (1 / k,) * k
    return LogJoint("classes", model.classes.values, start, prior, tuple(columns), tuple(terms))


def _linear(model: LinearModel) -> LogJoint:
    refuse_times(model.layout)
    w = model.fit.coefficients.T
    b = np.broadcast_to(model.fit.intercept if model.fit.has_intercept else 0.0, len(w))
    columns, terms, rest = design_terms(model.design, w, np.zeros(w.shape[1]))
    start = tuple((b + rest).tolist())
    return LogJoint("numbers", model.design.targets, start, (), tuple(columns), tuple(terms))
