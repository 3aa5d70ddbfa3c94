"""JSON: a model's parameters and its log joint, for people, programs and version control.

The format is described by a JSON schema, `schema`, which is a file of this package.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from suffice.export.terms import log_joint

__all__ = ["FORMAT", "VERSION", "finite", "schema", "to_json", "written"]

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
    output = {name: joint.outputs[c], "start": finite(joint.start[c])}
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


def finite(value: float) -> float | str:
    """A number as JSON has it."""
    return IMPOSSIBLE if value == -inf else value


@singledispatch
def written(node: Any, names: Sequence[Any]) -> Any:
    """A node as JSON: a number, or an object whose first key says what it is.

    Columns are called by ``names``, in the order of the log joint.
    """
    raise TypeError(type(node))


@written.register
def _(node: Number, names: Sequence[Any]) -> Any:
    return finite(node.value)


@written.register
def _(node: Cell, names: Sequence[Any]) -> Any:
    return {"cell": names[node.column]}


@written.register
def _(node: Sum, names: Sequence[Any]) -> Any:
    return {"sum": [written(term, names) for term in node.terms]}


@written.register(Product)
@written.register(Quotient)
def _pair(node: Product | Quotient, names: Sequence[Any]) -> Any:
    return {type(node).__name__.lower(): [written(e, names) for e in (node.left, node.right)]}


@written.register(Square)
@written.register(Log)
@written.register(Log1p)
def _function(node: Square | Log | Log1p, names: Sequence[Any]) -> Any:
    return {type(node).__name__.lower(): written(node.of, names)}


@written.register
def _(node: Choice, names: Sequence[Any]) -> Any:
    otherwise = "refused" if node.otherwise is None else finite(node.otherwise)
    cases = [[value, finite(number)] for value, number in node.cases]
    return {"choice": names[node.column], "cases": cases, "otherwise": otherwise}


@written.register
def _(node: Above, names: Sequence[Any]) -> Any:
    return {
        "above": node.threshold,
        "cell": names[node.column],
        "then": finite(node.above),
        "otherwise": finite(node.below),
    }


@written.register
def _(node: Steps, names: Sequence[Any]) -> Any:
    values = [*map(finite, node.values)]
    return {"steps": names[node.column], "starts": list(node.starts), "values": values}
