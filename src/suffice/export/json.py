"""JSON: a model's parameters and its log joint, for people, programs and version control."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from suffice.export.expressions import (
    Above,
    Cell,
    Choice,
    Expression,
    Log,
    Log1p,
    LogJoint,
    Number,
    Product,
    Quotient,
    Square,
    Steps,
    Sum,
)
from suffice.export.log_joint_terms import log_joint

__all__ = ["FORMAT", "VERSION", "finite", "to_json", "written"]

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
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "model": type(model).__name__,
        "task": joint.task,
        "columns": [{"name": column.name, "kind": column.kind} for column in joint.columns],
        "outputs": [_output(joint, c) for c in range(len(joint.outputs))],
        "parameters": _parameters(model),
        "terms": [
            {
                "columns": [names[j] for j in term.columns],
                "missing": term.missing,
                "by_output": [written(made, names) for made in term.by_output],
            }
            for term in joint.terms
        ],
    }
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _output(joint: LogJoint, c: int) -> dict[str, Any]:
    output: dict[str, Any] = {"start": finite(joint.start[c])}
    if joint.task == "classes":
        output = {"label": joint.outputs[c], **output}
    else:
        output = {"target": joint.outputs[c], **output}
    if joint.prior:
        output["prior"] = joint.prior[c]
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


def written(node: Expression, names: Sequence[Any]) -> Any:
    """A node as JSON: a number, or an object whose first key says what it is.

    Columns are called by ``names``, in the order of the log joint.
    """
    match node:
        case Number(value):
            return finite(value)
        case Cell(column):
            return {"cell": names[column]}
        case Sum(terms):
            return {"sum": [written(term, names) for term in terms]}
        case Product(left, right) | Quotient(left, right):
            pair = [written(left, names), written(right, names)]
            return {type(node).__name__.lower(): pair}
        case Square(of) | Log(of) | Log1p(of):
            return {type(node).__name__.lower(): written(of, names)}
        case Choice(column, cases, otherwise):
            return {
                "choice": names[column],
                "cases": [[value, finite(number)] for value, number in cases],
                "otherwise": "refused" if otherwise is None else finite(otherwise),
            }
        case Above(column, threshold, above, below):
            return {
                "above": threshold,
                "cell": names[column],
                "then": finite(above),
                "otherwise": finite(below),
            }
        case Steps(column, starts, values):
            numbers = [*map(finite, values)]
            return {"steps": names[column], "starts": list(starts), "values": numbers}
