"""JSON: a model's parameters and its log joint, for people, programs and version control.

The format is described by a JSON schema, `schema`, which is a file of this package.
"""

from __future__ import annotations

import json
from functools import singledispatch
from importlib.resources import files
from math import inf
from typing import Any

import numpy as np

from suffice.export.expressions import (
    Above,
    Cell,
    Choice,
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
from suffice.export.reading import log_joint

__all__ = ["FORMAT", "VERSION", "schema", "to_json"]

FORMAT, VERSION = "suffice-export", 2
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
                "columns": [joint.columns[j].name for j in term.columns],
                "missing": term.missing,
                "by_output": [_written(made, joint) for made in term.by_output],
            }
            for term in joint.terms
        ],
    }
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what `to_json` writes.

    Examples
    --------
    >>> schema()["properties"]["format"]
    {'const': 'suffice-export'}
    """
    found: dict[str, Any] = json.loads(
        files("suffice.export").joinpath("schema.json").read_text("utf8")
    )
    return found


def _output(joint: LogJoint, c: int) -> dict[str, Any]:
    name = "label" if joint.task == "classes" else "target"
    output = {name: joint.outputs[c], "start": _finite(joint.start[c])}
    return output | ({"prior": joint.prior[c]} if joint.prior else {})


def _parameters(model: Any) -> list[dict[str, Any]]:
    """Families and their parameters, in words of people; empty where the terms say it all."""
    fitted = model.model_
    if not hasattr(fitted, "parts"):
        return []
    found = []
    for part, parameters, weights in zip(
        fitted.parts, fitted.parameters, fitted.part_weights, strict=True
    ):
        each = np.broadcast_to(weights, len(part.layout.columns)).tolist()
        for j, (name, weight) in enumerate(zip(part.layout.columns, each, strict=True)):
            made = {"column": name, "family": fitted.family_names[name]}
            found.append(made | {"weight": weight, "by_class": parameters.describe(j)})
    return found


def _finite(value: float) -> float | str:
    return IMPOSSIBLE if value == -inf else value


@singledispatch
def _written(node: Any, joint: LogJoint) -> Any:
    """A node as JSON: a number, or an object whose first key says what it is."""
    raise TypeError(type(node))


@_written.register
def _(node: Number, joint: LogJoint) -> Any:
    return _finite(node.value)


@_written.register
def _(node: Cell, joint: LogJoint) -> Any:
    return {"cell": joint.columns[node.column].name}


@_written.register
def _(node: Sum, joint: LogJoint) -> Any:
    return {"sum": [_written(term, joint) for term in node.terms]}


@_written.register(Product)
@_written.register(Quotient)
def _pair(node: Product | Quotient, joint: LogJoint) -> Any:
    return {type(node).__name__.lower(): [_written(e, joint) for e in (node.left, node.right)]}


@_written.register(Square)
@_written.register(Log)
@_written.register(Log1p)
def _function(node: Square | Log | Log1p, joint: LogJoint) -> Any:
    return {type(node).__name__.lower(): _written(node.of, joint)}


@_written.register
def _(node: Choice, joint: LogJoint) -> Any:
    otherwise = "refused" if node.otherwise is None else _finite(node.otherwise)
    cases = [[value, _finite(number)] for value, number in node.cases]
    name = joint.columns[node.column].name
    return {"choice": name, "cases": cases, "otherwise": otherwise}


@_written.register
def _(node: Above, joint: LogJoint) -> Any:
    return {
        "above": node.threshold,
        "cell": joint.columns[node.column].name,
        "then": _finite(node.above),
        "otherwise": _finite(node.below),
    }


@_written.register
def _(node: Steps, joint: LogJoint) -> Any:
    name = joint.columns[node.column].name
    return {"steps": name, "starts": list(node.starts), "values": [*map(_finite, node.values)]}
