"""The log joint as compact JSON, from which a browser answers as Python does.

The trees are those of `suffice.export.to_json`. Models of several columns together
are written as means and covariances, as a reader of the page leaves cells unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.export.expressions import Choice, Column, Term
from suffice.export.json import finite, pairs_facts, written
from suffice.export.log_joint_terms import (
    Where,
    check_labels,
    family_terms,
    log_joint,
    logistic_terms,
    members_of,
    pairs_of,
    refused_member,
    timed,
)
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.models.design.matrix import Design
from suffice.models.generative.aode import AODEModel
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.terms import TermParameters
from suffice.models.linear.model import LinearModel
from suffice.models.logistic.model import LogisticModel
from suffice.numerics.elementary import exp, log
from suffice.numerics.logspace import log_sum_exp
from suffice.phrases import with_article
from suffice.reports.words import is_text, text_term
from suffice.sums.batch import NO_CLASSES

MOST_JOINED = 100  # columns that a quadratic model may join in a page
MOST_SHARED = 280  # terms whose covariance, of all classes, a page holds: 0.8 MB
ALL = range(1 << 30)  # columns are called by their places
OF_A_NUMBER = 20  # bytes of a number in JSON
DIGITS = 13  # of log densities: sums of a thousand differ by less than 1e-9


def scoring(model: Any) -> dict[str, Any]:
    """Return everything that the page's ``score.js`` reads; "impossible" stands for −∞.

    An average has ``members``, and so have one-dependence estimators, whose terms are no sum over
    columns. ``terms`` are then those that pictures show, of one member, and ``start`` is log P(c)
    before any cell.
    """
    fitted = getattr(model, "model_", None)
    averaged = hasattr(model, "members_")
    if averaged or isinstance(fitted, AODEModel):
        return _of_members(model)
    columns: Columns = {}
    if isinstance(fitted, LinearModel):
        joint = log_joint(model)
        (one,), outputs, task = joint.members, joint.outputs, joint.task
        columns = {column.name: (j, column.kind) for j, column in enumerate(joint.columns)}
        terms = [_term(term, ALL) for term in one.terms if isinstance(term, Term)]
        member: dict[str, Any] = _started(one.start, one.prior, terms)
    elif isinstance(fitted, GenerativeModel | LogisticModel):
        if getattr(model, "costs", None) is not None:
            log_joint(model)  # refuses it
        check_labels(fitted.classes.values)
        outputs, task = fitted.classes.values, "classes"
        member = _of_classes(model, columns, alone=True)
    else:
        raise ParameterError(
            f"{with_article(type(model).__name__)} cannot be shown on a page",
            "a page shows classifiers and averages of them, and linear models",
            "fit one of these",
        )
    return _named(task, outputs, columns) | member


Columns = dict[str, tuple[int, str | None]]
"""Place and kind of every column of the page."""


def _named(task: str, outputs: Sequence[Any], columns: Columns) -> dict[str, Any]:
    return {
        "task": task,
        "outputs": [str(label) for label in outputs],
        "columns": [{"name": str(name), "kind": kind} for name, (_, kind) in columns.items()],
    }


def _started(
    start: Sequence[float], prior: Sequence[float], terms: list[dict[str, Any]]
) -> dict[str, Any]:
    fallback = list(prior).index(max(prior)) if len(prior) else 0
    known = {"prior": list(prior), "fallback": fallback, "terms": terms}
    return {"start": [finite(value) for value in start]} | known


def _of_members(model: Any) -> dict[str, Any]:
    fitted, members = model.model_, members_of(model)
    if getattr(model, "costs", None) is not None:
        log_joint(model)  # refuses it
    check_labels(fitted.classes.values)
    columns: Columns = {name: (j, None) for j, name in enumerate(fitted.layout.names)}
    found = []
    members.sort(key=lambda member: _shown_last(member[2]))
    for name, share, one in members:
        try:
            made = _of_classes(one, columns, alone=False)
        except ParameterError as error:
            raise (refused_member(name, error) if name else error) from error
        found.append({"share": share} | made)
    drawn = [term for term in found[0]["terms"] if "pairs" not in term and "hidden" not in term]
    prior = _before_any_cell(found)
    terms = [one | {"weight": 1.0} for one in drawn]
    shown = _started(log(prior).tolist(), prior.tolist(), terms)
    return _named("classes", fitted.classes.values, columns) | shown | {"members": found}


def shown_first(model: Any) -> list[Any]:
    """Return the members of an average, or the model: first those whose columns have pictures."""
    return sorted((one for _, _, one in members_of(model)), key=_shown_last)


def _shown_last(model: Any) -> int:
    """Order models by how well pictures of single columns tell what they say."""
    fitted = model.model_
    if isinstance(fitted, LogisticModel):
        return 2
    return int(any(part.family.joint for part in fitted.parts))


def _before_any_cell(members: Sequence[dict[str, Any]]) -> NDArray[np.float64]:
    """Return P(c) of the average before any cell is known, (k,)."""
    total = np.zeros(len(members[0]["start"]))
    for one in members:
        logs = np.array([-np.inf if v == "impossible" else v for v in one["start"]])
        for term in one["terms"]:
            logs += term.get("hidden") or 0.0
        total += one["share"] * exp(logs - log_sum_exp(logs[None]))
    return total


def _of_classes(model: Any, columns: Columns, alone: bool) -> dict[str, Any]:
    """A classifier; what its columns say is written as it is, with its weight beside it."""
    fitted = model.model_

    def placed(read: Iterable[tuple[str, str]]) -> list[int]:
        """Return the places of columns, and note new ones, or their kinds."""
        found = []
        for name, kind in timed(read, fitted.layout):
            place, known = columns.get(name, (len(columns), None))
            columns[name] = place, known or kind
            found.append(place)
        return found

    own: list[Column] = []
    if isinstance(fitted, LogisticModel):
        logistic, start = logistic_terms(fitted, own, alone)
        at = placed((column.name, column.kind) for column in own)
        terms = [_term(term, at) for term in logistic]
        if not alone:
            for term, by in zip(terms, _hidden(fitted), strict=True):
                term["hidden"] = by
        return _started(start.tolist(), [1 / len(start)] * len(start), terms)
    terms = []
    for part, parameters, weights in zip(
        fitted.parts, fitted.parameters, fitted.part_weights, strict=True
    ):
        names = tuple(part.layout.columns)
        if isinstance(parameters, TermParameters):
            made = [_mixed(parameters, placed(zip(names, _kinds(parameters.design), strict=True)))]
            own += [Column(name, "number") for name in names]
        elif isinstance(parameters, MultivariateGaussianParameters):
            at = placed((name, "number") for name in names)
            made = (
                _weights(parameters, at) if is_weighed(parameters) else [_gaussian(parameters, at)]
            )
            own += [Column(name, "number") for name in names]
        elif is_text(parameters):
            made = [
                text_term(parameters, placed((name, "text") for name in names)[0], fitted.prior)
            ]
            own += [Column(name, "string") for name in names]
        else:
            found = family_terms(parameters, Where(names, fitted.layout, len(own)))
            own += found[0]
            placed((column.name, column.kind) for column in found[0])
            at = [columns[column.name][0] for column in own]
            made = [_term(term, at) for term in found[1]]
        each = np.broadcast_to(weights, len(made)).tolist()
        terms += [one | {"weight": w} for one, w in zip(made, each, strict=True)]
    if isinstance(fitted, AODEModel) and fitted.pair_weight:
        of = pairs_of(fitted, fitted.layout, own, 0)
        at = [columns[own[j].name][0] for j in of.columns]
        terms.append({"at": at, "pairs": pairs_facts(of)})
    return _started(fitted.log_prior.tolist(), fitted.prior.tolist(), terms)


def _hidden(model: LogisticModel) -> Iterator[list[float] | None]:
    """Yield what an average cell adds, where a missing one says something else, by column."""
    design, w = model.design, model.coefficients[:, 1:]
    w = np.vstack([np.zeros_like(w), w]) if len(w) == 1 else w
    for name in design.columns:
        at = design.places([name])
        average = w[:, at] @ model.term_means[at]
        yield (average - w[:, at[-1]]).tolist() if name in design.missing else None


def _weights(parameters: MultivariateGaussianParameters, at: Sequence[int]) -> list[dict[str, Any]]:
    """Linear log-odds of complete rows, where the covariance is too large for a page."""
    form = parameters.form()
    assert form is not None
    made: list[dict[str, Any]] = [{"at": [], "refuse": True, "by": form.constant.tolist()}]
    origin = np.broadcast_to(form.origin, len(at)).tolist()
    for j, o, own in zip(at, origin, form.linear.T.tolist(), strict=True):
        moved = {"sum": [{"cell": j}, -o]}
        made.append({"at": [j], "refuse": True, "by": [{"product": [w, moved]} for w in own]})
    return made


def _kinds(design: Design) -> list[str]:
    kinds = []
    for name in design.columns:
        types = {type(value) for value in design.categories.get(name, NO_CLASSES).values}
        one = "integer" if types == {int} else "boolean" if types == {bool} else "category"
        kinds.append(one if name in design.categories else "number")
    return kinds


def _mixed(parameters: TermParameters, at: list[int]) -> dict[str, Any]:
    """A Gaussian of terms: the column of each, the value that an indicator is of, all values."""
    design, features = parameters.design, parameters.feature_names
    place = dict(zip(design.columns, at, strict=True))
    return _gaussian(parameters, at) | {
        "places": [at[one[0] if isinstance(one, tuple) else one] for one in features],
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
    parameters: MultivariateGaussianParameters | TermParameters, at: list[int]
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
        "at": at,
        "mean": factored.mean.tolist(),
        "low": low,
        "covariance": factored.covariance[:, rows, below].tolist(),
    } | ({} if form is None else {"weights": form.linear.tolist()})


def _term(term: Term, at: Sequence[int]) -> dict[str, Any]:
    """One term; of values or bins that every output looks up, a table with a row for each."""
    made = {"at": [at[j] for j in term.columns], "refuse": term.missing == "refused"}
    choices = [one for one in term.by_output if isinstance(one, Choice)]
    values = [value for value, _ in choices[0].cases] if choices else []
    alike = [one for one in choices if [value for value, _ in one.cases] == values]
    if not choices or len(alike) < len(term.by_output):
        trees = [written(one, at) for one in term.by_output]
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
