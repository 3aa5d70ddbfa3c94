"""The log joint as compact JSON, from which a browser answers as Python does.

The trees are those of `suffice.export.to_json`. Models of several columns together
are written as means and covariances, as an export has terms of complete rows only, and a reader of
the page leaves cells unknown.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import ParameterError
from suffice.export.expressions import Choice, LogJoint, Term
from suffice.export.json import finite, written
from suffice.export.log_joint_terms import (
    Where,
    check_labels,
    family_terms,
    log_joint,
    refuse_times,
)
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.models.design.matrix import Design
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.terms import TermParameters
from suffice.models.linear.model import LinearModel
from suffice.models.logistic.model import LogisticModel
from suffice.phrases import with_article
from suffice.reports.words import is_text, text_term
from suffice.sums.batch import NO_CLASSES

MOST_JOINED = 100  # columns that a quadratic model may join in a page
MOST_SHARED = 280  # terms whose covariance, of all classes, a page holds: 0.8 MB
ALL = range(1 << 30)  # columns are called by their places
OF_A_NUMBER = 20  # bytes of a number in JSON
DIGITS = 13  # of log densities: sums of a thousand differ by less than 1e-9


def scoring(model: Any) -> dict[str, Any]:
    """Return everything that the page's ``score.js`` reads; "impossible" stands for −∞."""
    fitted = getattr(model, "model_", None)
    if isinstance(fitted, GenerativeModel):
        joint, columns, terms = _of_parts(model)
    elif isinstance(fitted, LinearModel | LogisticModel):
        joint = log_joint(model)
        columns = [(column.name, column.kind) for column in joint.columns]
        terms = [_term(term) for term in joint.terms]
    else:
        averaged = hasattr(model, "members_")
        raise ParameterError(
            f"{with_article(type(model).__name__)} cannot be shown on a page",
            "a page shows naive Bayes, discriminant analysis, linear and logistic models",
            f"{'write a page of model.members_[0], or ' if averaged else ''}fit one of these",
        )
    return {
        "task": joint.task,
        "outputs": [str(label) for label in joint.outputs],
        "start": [finite(value) for value in joint.start],
        "prior": list(joint.prior),
        "fallback": joint.fallback if joint.prior else 0,
        "columns": [{"name": str(name), "kind": kind} for name, kind in columns],
        "terms": terms,
    }


def _of_parts(model: Any) -> tuple[LogJoint, list[tuple[str, str]], list[dict[str, Any]]]:
    """A generative model; what its columns say is written as it is, with its weight beside it."""
    fitted = model.model_
    if getattr(model, "costs", None) is not None:
        log_joint(model)  # refuses it
    check_labels(fitted.classes.values)
    fitted.refuse_pairs("a page")
    refuse_times(fitted.layout)
    columns: list[tuple[str, str]] = []
    terms: list[dict[str, Any]] = []
    for part, parameters, weights in zip(
        fitted.parts, fitted.parameters, fitted.part_weights, strict=True
    ):
        names = tuple(part.layout.columns)
        if isinstance(parameters, TermParameters):
            made = [_mixed(parameters, len(columns))]
            columns += zip(names, _kinds(parameters.design), strict=True)
        elif isinstance(parameters, MultivariateGaussianParameters) and not is_weighed(parameters):
            made = [_gaussian(parameters, len(columns))]
            columns += [(name, "number") for name in names]
        elif is_text(parameters):
            made = [text_term(parameters, len(columns), fitted.prior)]
            columns += [(name, "text") for name in names]
        else:
            found = family_terms(parameters, Where(names, fitted.layout, len(columns)))
            columns += [(column.name, column.kind) for column in found[0]]
            made = [_term(term) for term in found[1]]
        each = np.broadcast_to(weights, len(made)).tolist()
        terms += [one | {"weight": w} for one, w in zip(made, each, strict=True)]
    prior = tuple(fitted.log_prior.tolist()), tuple(fitted.prior.tolist())
    return LogJoint("classes", fitted.classes.values, *prior, (), ()), columns, terms


def _kinds(design: Design) -> list[str]:
    kinds = []
    for name in design.columns:
        types = {type(value) for value in design.categories.get(name, NO_CLASSES).values}
        one = "integer" if types == {int} else "boolean" if types == {bool} else "category"
        kinds.append(one if name in design.categories else "number")
    return kinds


def _mixed(parameters: TermParameters, first: int) -> dict[str, Any]:
    """A Gaussian of terms: the column of each, the value that an indicator is of, all values."""
    design, features = parameters.design, parameters.feature_names
    place = {name: first + j for j, name in enumerate(design.columns)}
    return _gaussian(parameters, first) | {
        "at": list(place.values()),
        "places": [first + (one[0] if isinstance(one, tuple) else one) for one in features],
        "levels": [one[1] if isinstance(one, tuple) else None for one in features],
        "known": {str(place[name]): list(v.values) for name, v in design.categories.items()},
    }


def is_weighed(parameters: Any) -> bool:
    """Return whether a page holds weights of complete rows alone: the covariance is too large."""
    if not isinstance(parameters, MultivariateGaussianParameters):
        return False
    s, d, _ = parameters.factored.covariance.shape
    return bool(s == 1 and d > MOST_SHARED)


def _gaussian(
    parameters: MultivariateGaussianParameters | TermParameters, first: int
) -> dict[str, Any]:
    """Means, the lower triangles of the covariances, and weights where log-odds are linear."""
    factored = parameters.factored
    s, d, _ = factored.covariance.shape
    most = MOST_SHARED if s == 1 else MOST_JOINED
    if d > most:
        size = s * d * (d + 1) // 2 * OF_A_NUMBER / 1e6
        matrices = "a covariance matrix" if s == 1 else f"{s} covariance matrices"
        raise ParameterError(
            f"{matrices} of {d:,} columns would make a page of {size:,.1f} MB",
            f"a page holds those of {most} columns at most",
            "fit the model on fewer columns, or use LinearDiscriminantAnalysis or NaiveBayes"
            if s > 1
            else "fit the model on fewer columns and values, or use NaiveBayes",
        )
    rows, below = np.tril_indices(d)
    low = factored.mean_lo.tolist() if factored.mean_lo.any() else None
    form = parameters.form() if s == 1 else None
    return {
        "at": list(range(first, first + d)),
        "mean": factored.mean.tolist(),
        "low": low,
        "covariance": factored.covariance[:, rows, below].tolist(),
    } | ({} if form is None else {"weights": form.linear.tolist()})


def _term(term: Term) -> dict[str, Any]:
    """One term; of values or bins that every output looks up, a table with a row for each."""
    made = {"at": list(term.columns), "refuse": term.missing == "refused"}
    choices = [one for one in term.by_output if isinstance(one, Choice)]
    values = [value for value, _ in choices[0].cases] if choices else []
    alike = [one for one in choices if [value for value, _ in one.cases] == values]
    if not choices or len(alike) < len(term.by_output):
        trees = [written(one, ALL) for one in term.by_output]
        starts = [tree.get("starts") if isinstance(tree, dict) else None for tree in trees]
        if starts[0] is None or any(one != starts[0] for one in starts):
            return made | {"by": trees}
        rows = zip(*(tree["values"] for tree in trees), strict=True)
        return made | {"starts": starts[0], "table": [list(map(shorter, row)) for row in rows]}
    table = [[finite(one.cases[i][1]) for one in choices] for i in range(len(values))]
    rest: Any = [finite(0.0 if one.otherwise is None else one.otherwise) for one in choices]
    if any(one.otherwise is None for one in choices):
        rest = "refused"
    return made | {"values": values, "table": table, "rest": rest}


def shorter(number: Any, digits: int = DIGITS) -> Any:
    """Return a number to so many digits, as a page has many."""
    return float(f"{number:.{digits}g}") if isinstance(number, float) else number
