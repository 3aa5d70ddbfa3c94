"""JSON: a model's parameters and its log joint, for people, programs and version control.

`Document` is the record of what is written, and `schema` makes its JSON schema from that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from typing import Annotated, Any, Literal, NotRequired, TypedDict

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
from suffice.export.expressions import Expression as Tree
from suffice.export.log_joint_terms import log_joint
from suffice.json_schema import schema_of

__all__ = ["FORMAT", "VERSION", "finite", "schema", "to_json", "written"]

FORMAT: Literal["suffice-export"] = "suffice-export"
VERSION: Literal[2] = 2
IMPOSSIBLE: Literal["impossible"] = "impossible"  # log 0, for which JSON has no number

Label = str | float | bool
Logarithm = float | Literal["impossible"]


class ColumnKind(TypedDict):
    """A column; a row gets no answer where its cell is none of that kind.

    A number, count or whole is at most 1e150 in size, a count or whole at least 0, a whole has no
    fraction, an integer is finite. An integer that no choice lists is another value, as 2.5 is.
    """

    name: str
    kind: Literal["number", "count", "whole", "string", "integer", "boolean"]


class Output(TypedDict):
    """A class with its prior probability, or a target; and where its score starts."""

    label: NotRequired[Label]
    target: NotRequired[str]
    start: Logarithm
    prior: NotRequired[float]


class ColumnParameters(TypedDict):
    """The parameters of a column: for every quantity, one number for each class."""

    column: str
    family: str
    weight: Annotated[float, "The weight of the column; the terms have it in them."]
    by_class: dict[str, list[float]]


class CellNode(TypedDict):
    """The number in the column of this name."""

    cell: str


class SumNode(TypedDict):
    """The sum of expressions."""

    sum: list[Expression]


class ProductNode(TypedDict):
    """The product of two expressions."""

    product: tuple[Expression, Expression]


class QuotientNode(TypedDict):
    """The first expression divided by the second."""

    quotient: tuple[Expression, Expression]


class SquareNode(TypedDict):
    """The square of an expression."""

    square: Expression


class LogNode(TypedDict):
    """The natural logarithm of an expression."""

    log: Expression


class Log1pNode(TypedDict):
    """log(1 + u) of an expression u."""

    log1p: Expression


class ChoiceNode(TypedDict):
    """A number for each value of the named column, and one for all others."""

    choice: str
    cases: list[tuple[Label, Logarithm]]
    otherwise: Logarithm | Literal["refused"]


class AboveNode(TypedDict):
    """One number where the cell is above the threshold, and one where it is not."""

    above: float
    cell: str
    then: Logarithm
    otherwise: Logarithm


class StepsNode(TypedDict):
    """values[b], where b of the ascending starts are at most the cell of the named column."""

    steps: str
    starts: list[float]
    values: list[Logarithm]


Node = (
    CellNode
    | SumNode
    | ProductNode
    | QuotientNode
    | SquareNode
    | LogNode
    | Log1pNode
    | ChoiceNode
    | AboveNode
    | StepsNode
)
Expression = Logarithm | Node


class Term(TypedDict):
    """The contribution of some columns to the score of every output.

    Where a cell of these columns is missing, that is nothing, or the row is refused an answer.
    """

    columns: list[str]
    missing: Literal["nothing", "refused"]
    by_output: list[Expression]


class Document(TypedDict):
    """A fitted model: score_c = start_c + the sum over terms of by_output[c].

    Of classes, P(c | x) = exp(score_c) / Σ exp(score); where every score is impossible, the prior.
    Of numbers, the prediction is the score.
    """

    format: Literal["suffice-export"]
    version: Literal[2]
    model: str
    task: Literal["classes", "numbers"]
    columns: list[ColumnKind]
    outputs: list[Output]
    parameters: list[ColumnParameters]
    terms: list[Term]


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
    facts: Document = {
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
    >>> schema()["$defs"]["Document"]["properties"]["format"]
    {'enum': ['suffice-export']}
    """
    return schema_of(Document, "A fitted model, written by suffice.export.to_json")


def _output(joint: LogJoint, c: int) -> Output:
    output: Output = {"start": finite(joint.start[c])}
    if joint.task == "classes":
        output = {"label": joint.outputs[c], **output}
    else:
        output = {"target": joint.outputs[c], **output}
    if joint.prior:
        output["prior"] = joint.prior[c]
    return output


def _parameters(model: Any) -> list[ColumnParameters]:
    """Families and their parameters, in words of people; empty where the terms say it all."""
    fitted = model.model_
    if not hasattr(fitted, "parts"):
        return []
    found: list[ColumnParameters] = []
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


def finite(value: float) -> Logarithm:
    """A number as JSON has it."""
    return IMPOSSIBLE if value == -inf else value


def written(node: Tree, names: Sequence[Any]) -> Any:
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
