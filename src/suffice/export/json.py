"""JSON: a model's parameters and its log joint, for people, programs and version control."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf, isnan
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
    members, k = members_of(model), len(joint.outputs)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "model": type(model).__name__,
        "task": joint.task,
        "columns": [{"name": one.name, "kind": one.kind} for one in dict.fromkeys(joint.columns)],
    }
    found = [
        {
            "outputs": [_output(joint, one, c) for c in range(k)],
            "parameters": _parameters(member),
            "terms": [term_facts(term, names, k) for term in one.terms],
        }
        for one, (_, _, member) in zip(joint.members, members, strict=True)
    ]
    if hasattr(model, "members_"):
        heads = [{"name": one.name, "share": one.share} for one in joint.members]
        facts["members"] = [head | one for head, one in zip(heads, found, strict=True)]
    else:
        facts |= found[0]
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def term_facts(term: ex.AnyTerm, names: Sequence[Any], k: int) -> dict[str, Any]:
    """Return a term of k outputs as a program reads it; columns are called by ``names``."""
    facts: dict[str, Any] = {"columns": [names[j] for j in term.columns], "weight": term.weight}
    match term:
        case ex.Term():
            return facts | {"missing": term.missing} | _of_cell(term.adds, names[term.column], k)
        case ex.Pairs():
            return facts | {"pairs": _pairs(term)}
        case ex.Gaussian():
            return facts | {"gaussian": _gaussian(term, names)}


def _of_cell(adds: ex.Adds, name: Any, k: int) -> dict[str, Any]:
    if isinstance(adds, ex.Expression):
        return {"by_output": [written(adds.of_output(c), name) for c in range(k)]}
    assert isinstance(adds, ex.Lookup)  # an export has no texts
    *rows, last = (list(map(finite, row)) for row in adds.by_output.T.tolist())
    if isinstance(adds.places, ex.Steps):
        return {"starts": list(adds.places.starts), "table": [*rows, last]}
    others = "refused" if None in last else last
    return {"values": list(adds.places.values), "table": rows, "others": others}


def _pairs(term: ex.Pairs) -> dict[str, Any]:
    """Return bins and counts of one-dependence estimators."""
    bins: list[dict[str, Any]] = []
    for places, own in zip(term.places, term.bins, strict=True):
        if isinstance(places, ex.Steps):
            bins.append({"starts": list(places.starts)})
        else:
            pairs = zip(places.values, own[:-1].tolist(), strict=True)
            bins.append({"values": list(map(list, pairs))})
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
    families = fitted.family_names
    found: list[dict[str, Any]] = []
    for part, parameters, weights in zip(
        fitted.parts, fitted.parameters, fitted.part_weights, strict=True
    ):
        each = np.broadcast_to(weights, len(part.layout.columns)).tolist()
        for j, (name, weight) in enumerate(zip(part.layout.columns, each, strict=True)):
            found.append(
                {
                    "column": name,
                    "family": families[name],
                    "weight": weight,
                    "by_class": parameters.describe(j),
                }
            )
    return found


def finite(value: float) -> float | str | None:
    """A number as JSON has it; None of one that refuses a cell."""
    return IMPOSSIBLE if value == -inf else None if isnan(value) else value


def written(node: ex.Expression | ex.Numbers, name: Any) -> Any:
    """An expression of one output as JSON: a number, or an object whose key says what it is."""
    if not isinstance(node, ex.Expression):
        return node
    if node.operation == "cell":
        return {"cell": name}
    of = [written(one, name) for one in node.of]
    return {node.operation: of if len(of) > 1 else of[0]}
