"""The log joint as compact JSON, from which a browser answers as Python does.

Terms are those of `suffice.export.to_json`, but for those of several columns together, which are
written as means and covariances, as a reader of the page leaves cells unknown, and those of texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.export.expressions import Gaussian, Member, Term, Words
from suffice.export.json import finite, term_facts
from suffice.export.log_joint_terms import MOST_TOGETHER, joint_of, members_of
from suffice.models.generative.aode import AODEModel
from suffice.models.logistic.model import LogisticModel
from suffice.numerics.elementary import exp, log
from suffice.numerics.logspace import log_sum_exp
from suffice.reports.words import text_term

MOST_JOINED = 100  # columns that a quadratic model may join in a page
OF_A_NUMBER = 20  # bytes of a number in JSON
DIGITS = 13  # of log densities: sums of a thousand differ by less than 1e-9


def scoring(model: Any) -> dict[str, Any]:
    """Return everything that the page's ``score.js`` reads; "impossible" stands for −∞.

    An average has ``members``, and so have one-dependence estimators, whose terms are no sum over
    columns. ``terms`` are then those that pictures show, of one member, and ``start`` is log P(c)
    before any cell.
    """
    joint, averaged = joint_of(model), hasattr(model, "members_")
    fitted = model.model_
    estimators = (one for _, _, one in members_of(model))
    members = list(zip(joint.members, estimators, strict=True))
    members.sort(key=lambda member: _shown_last(member[1]))
    several = averaged or isinstance(fitted, AODEModel)
    read = [joint.columns[j] for one, _ in members for term in one.terms for j in term.columns]
    names = fitted.layout.names if several else [column.name for column in read]
    place = {str(name): j for j, name in enumerate(dict.fromkeys(names))}
    kinds = {str(column.name): column.kind for column in reversed(read)}
    at = [place[str(column.name)] for column in joint.columns]
    facts: dict[str, Any] = {
        "task": joint.task,
        "outputs": [str(label) for label in joint.outputs],
        "columns": [{"name": name, "kind": kinds.get(name)} for name in place],
    }
    found = [_of_member(one, at) for one, _ in members]
    if not several:
        return facts | found[0]
    for made, (one, estimator) in zip(found, members, strict=True):
        made["share"] = one.share
        if isinstance(estimator.model_, LogisticModel):
            for term, by in zip(made["terms"], _hidden(estimator.model_), strict=True):
                term["hidden"] = by
    drawn = [term for term in found[0]["terms"] if "pairs" not in term and "hidden" not in term]
    prior = _before_any_cell(found)
    terms = [term | {"weight": 1.0} for term in drawn]
    shown = _started(log(prior).tolist(), prior.tolist(), terms)
    return facts | shown | {"members": found}


def _of_member(one: Member, at: Sequence[int]) -> dict[str, Any]:
    terms = []
    for term in one.terms:
        if isinstance(term, Term) and isinstance(term.adds, Words):
            made = text_term(term.adds.parameters, np.array(one.prior)) | {"weight": term.weight}
        elif isinstance(term, Gaussian):
            made = _gaussian(term, at) | {"weight": term.weight}
        else:
            made = term_facts(term, at, len(one.start))
        made["columns"] = [at[j] for j in term.columns]
        if "starts" in made:
            made["table"] = [list(map(shorter, row)) for row in made["table"]]
        terms.append(made)
    return _started(one.start, one.prior, terms)


def _started(
    start: Sequence[float], prior: Sequence[float], terms: list[dict[str, Any]]
) -> dict[str, Any]:
    fallback = list(prior).index(max(prior)) if len(prior) else 0
    known = {"prior": list(prior), "fallback": fallback, "terms": terms}
    return {"start": [finite(value) for value in start]} | known


def shown_first(model: Any) -> list[Any]:
    """Return the members of an average, or the model: first those whose columns have pictures."""
    return sorted((one for _, _, one in members_of(model)), key=_shown_last)


def _shown_last(model: Any) -> int:
    """Order models by how well pictures of single columns tell what they say."""
    fitted = model.model_
    if isinstance(fitted, LogisticModel):
        return 2
    return int(any(part.family.joint for part in getattr(fitted, "parts", ())))


def _before_any_cell(members: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
    """Return P(c) of the average before any cell is known, (k,)."""
    total = np.zeros(len(members[0]["start"]))
    for one in members:
        logs = np.array([-np.inf if v == "impossible" else v for v in one["start"]])
        for term in one["terms"]:
            logs += term.get("hidden") or 0.0
        total += one["share"] * exp(logs - log_sum_exp(logs[None]))
    return total


def _hidden(model: LogisticModel) -> Iterator[list[float] | None]:
    """Yield what an average cell adds, where a missing one says something else, by column."""
    design, w = model.design, model.coefficients[:, 1:]
    w = np.vstack([np.zeros_like(w), w]) if len(w) == 1 else w
    for name in design.columns:
        at = design.places([name])
        average = w[:, at] @ model.term_means[at]
        yield (average - w[:, at[-1]]).tolist() if name in design.missing else None


def _gaussian(term: Gaussian, at: Sequence[int]) -> dict[str, Any]:
    """Return means, the lower triangles of the covariances, and weights where they are linear."""
    k, p = term.offset.shape
    shared = term.complete.whitening is None
    if term.covariance is None or (not shared and p > MOST_JOINED):
        size = (1 if shared else k) * p * (p + 1) // 2 * OF_A_NUMBER / 1e6
        raise ParameterError(
            f"the covariances of {p:,} numbers would make a page of {size:,.1f} MB",
            f"a page holds those of {MOST_JOINED if not shared else MOST_TOGETHER} at most",
            "fit the model on fewer columns and values, or use NaiveBayes",
        )
    rows, below = np.tril_indices(p)
    return {
        "mean": term.offset.tolist(),
        "origin": term.complete.origin.tolist(),
        "covariance": term.covariance[:, rows, below].tolist(),
        "places": [at[j] for j, _ in term.features],
        "levels": [value for _, value in term.features],
        "known": {str(at[j]): list(values) for j, values in term.values.items()},
    } | ({"linear": term.complete.slope.tolist()} if shared else {})


def shorter(number: Any, digits: int = DIGITS) -> Any:
    """Return a number to so many digits, as a page has many."""
    return float(f"{number:.{digits}g}") if isinstance(number, float) else number
