"""JSON: a model's parameters and its log joint, for people, programs and version control."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from suffice.export import expressions as ex
from suffice.export.log_joint_terms import log_joint, members_of

FORMAT = "suffice-export"
VERSION = 2
IMPOSSIBLE = "impossible"  # log 0, for which JSON has no number


def to_json(model: Any) -> str:
    """Write a fitted model as JSON, one entry a line, the same text for the same model.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If the model cannot be written.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1.0, 2.0, 5.0], "kind": ["a", "a", "b"]})
    >>> json.loads(to_json(NaiveBayes().fit(rows, "kind")))["columns"]
    [{'name': 'size', 'kind': 'number'}]
    """
    joint = log_joint(model)
    names = [column.name for column in joint.columns]
    members = members_of(model)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "model": type(model).__name__,
        "task": joint.task,
        "columns": [{"name": one.name, "kind": one.kind} for one in dict.fromkeys(joint.columns)],
    }
    found = [
        {
            "outputs": [_output(joint, one, c) for c in range(len(joint.outputs))],
            "parameters": _parameters(member),
            "terms": [_term(term, names) for term in one.terms],
        }
        for one, (_, _, member) in zip(joint.members, members, strict=True)
    ]
    if hasattr(model, "members_"):
        heads = [{"name": one.name, "share": one.share} for one in joint.members]
        facts["members"] = [head | one for head, one in zip(heads, found, strict=True)]
    else:
        facts |= found[0]
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _term(term: ex.AnyTerm, names: Sequence[str]) -> dict[str, Any]:
    own = [names[j] for j in term.columns]
    if isinstance(term, ex.Term):
        by_output = [written(made, names) for made in term.by_output]
        return {"columns": own, "missing": term.missing, "by_output": by_output}
    if isinstance(term, ex.Pairs):
        return {"columns": own, "pairs": pairs_facts(term)}
    return {"columns": own, "gaussian": _gaussian(term, names)}


def pairs_facts(term: ex.Pairs) -> dict[str, Any]:
    """Return bins and counts of one-dependence estimators, as a program reads them."""
    bins: list[dict[str, Any]] = []
    for one, start in zip(term.bins, term.ends, strict=False):
        cases = one.cases if isinstance(one, ex.Choice) else ()
        cuts = {"starts": list(one.starts)} if isinstance(one, ex.Steps) else {}
        bins.append(cuts or {"values": [[value, int(b) - start] for value, b in cases]})
    counts = [[int(n) if n == int(n) else n for n in row] for row in term.counts.tolist()]
    sizes, rows = list(term.sizes), term.rows.tolist()
    return {"weight": term.weight, "bins": bins, "sizes": sizes, "rows": rows, "counts": counts}


def _gaussian(term: ex.Gaussian, names: Sequence[str]) -> dict[str, Any]:
    whole = term.complete
    return {
        "weight": term.weight,
        "features": [names[j] if v is None else [names[j], v] for j, v in term.features],
        "values": {names[j]: list(values) for j, values in term.values.items()},
        "offset": term.offset.tolist(),
        "covariance": None if term.covariance is None else term.covariance.tolist(),
        "complete": {
            "origin": list(whole.origin),
            "constant": whole.constant.tolist(),
            "slope": whole.slope.tolist(),
            "whitening": None if whole.whitening is None else whole.whitening.tolist(),
        },
    }


def _output(joint: ex.LogJoint, one: ex.Member, c: int) -> dict[str, Any]:
    kind = "label" if joint.task == "classes" else "target"
    output: dict[str, Any] = {kind: joint.outputs[c], "start": finite(one.start[c])}
    if one.prior:
        output["prior"] = one.prior[c]
    return output


def _parameters(model: Any) -> list[dict[str, Any]]:
    """Families and their parameters, in words of people; empty where the terms say it all."""
    fitted = model.model_
    if not hasattr(fitted, "parts"):
        return []
    found: list[dict[str, Any]] = []
    for part, parameters, weights in zip(
        fitted.parts, fitted.parameters, fitted.part_weights, strict=True
    ):
        each = np.broadcast_to(weights, len(part.layout.columns)).tolist()
        for j, (name, weight) in enumerate(zip(part.layout.columns, each, strict=True)):
            found.append(
                {
                    "column": name,
                    "family": fitted.family_names[name],
                    "weight": weight,
                    "by_class": parameters.describe(j),
                }
            )
    return found


def finite(value: float) -> float | str:
    """A number as JSON has it."""
    return IMPOSSIBLE if value == -inf else value


def written(node: ex.Expression, names: Sequence[Any]) -> Any:
    """A node as JSON: a number, or an object whose first key says what it is.

    Columns are called by ``names``, in the order of the log joint.
    """
    match node:
        case ex.Number(value):
            return finite(value)
        case ex.Cell(column):
            return {"cell": names[column]}
        case ex.Sum(terms):
            return {"sum": [written(term, names) for term in terms]}
        case ex.Product(left, right) | ex.Quotient(left, right):
            pair = [written(left, names), written(right, names)]
            return {type(node).__name__.lower(): pair}
        case ex.Square(of) | ex.Log(of) | ex.Log1p(of):
            return {type(node).__name__.lower(): written(of, names)}
        case ex.Choice(column, cases, otherwise):
            return {
                "choice": names[column],
                "cases": [[value, finite(number)] for value, number in cases],
                "otherwise": "refused" if otherwise is None else finite(otherwise),
            }
        case ex.Above(column, threshold, above, below):
            return {
                "above": threshold,
                "cell": names[column],
                "then": finite(above),
                "otherwise": finite(below),
            }
        case ex.Steps(column, starts, values):
            numbers = [*map(finite, values)]
            return {"steps": names[column], "starts": list(starts), "values": numbers}
