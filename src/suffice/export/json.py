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
            "terms": [term_facts(term, names) for term in one.terms],
        }
        for one, (_, _, member) in zip(joint.members, members, strict=True)
    ]
    if hasattr(model, "members_"):
        heads = [{"name": one.name, "share": one.share} for one in joint.members]
        facts["members"] = [head | one for head, one in zip(heads, found, strict=True)]
    else:
        facts |= found[0]
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def term_facts(term: ex.AnyTerm, names: Sequence[Any]) -> dict[str, Any]:
    """Return a term as a program reads it; columns are called by ``names``."""
    facts: dict[str, Any] = {"columns": [names[j] for j in term.columns], "weight": term.weight}
    match term:
        case ex.Term():
            by_output = [written(tree, names) for tree in term.by_output]
            return facts | {"missing": term.missing, "by_output": by_output}
        case ex.Table():
            *rows, last = (
                [None if v is None else finite(v) for v in row]
                for row in zip(*term.by_output, strict=True)
            )
            facts["missing"] = term.missing
            if isinstance(term.places, ex.Steps):
                return facts | {"starts": list(term.places.starts), "table": [*rows, last]}
            others = "refused" if None in last else last
            return facts | {"values": list(term.places.values), "table": rows, "others": others}
        case ex.Pairs():
            return facts | {"pairs": _pairs(term)}
        case ex.Gaussian():
            return facts | {"gaussian": _gaussian(term, names)}
        case ex.Words():
            raise AssertionError("an export has no texts")


def _pairs(term: ex.Pairs) -> dict[str, Any]:
    """Return bins and counts of one-dependence estimators."""
    bins: list[dict[str, Any]] = []
    for one in term.bins:
        if isinstance(one.places, ex.Steps):
            bins.append({"starts": list(one.places.starts)})
        else:
            pairs = zip(one.places.values, one.by_output[0], strict=False)
            bins.append({"values": [[value, int(b)] for value, b in pairs if b is not None]})
    counts = [[int(n) if n == int(n) else n for n in row] for row in term.counts.tolist()]
    return {
        "bins": bins,
        "sizes": list(term.sizes),
        "rows": term.rows.tolist(),
        "counts": counts,
    }


def _gaussian(term: ex.Gaussian, names: Sequence[Any]) -> dict[str, Any]:
    whole = term.complete
    return {
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
    """A node as JSON: a number, or an object whose key says what it is."""
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
