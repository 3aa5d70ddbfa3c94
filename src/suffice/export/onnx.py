"""ONNX: a graph in double precision, with one input (n, 1) for every column.

Numbers are doubles, NaN = missing; booleans and whole numbers too; strings are strings, and the
empty string is missing, as ONNX has no null.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

from suffice.errors import ParameterError
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
    Term,
)
from suffice.export.log_joint_terms import log_joint

OPSET, ML_OPSET, IR_VERSION = 17, 2, 8
MISSING_TEXT = ""
OUTPUTS = ("label", "probabilities", "predictions")


def to_onnx(model: Any) -> ModelProto:
    """Write a fitted model as an ONNX graph.

    The inputs have the names of the columns. The outputs are ``label`` (n,) and ``probabilities``
    (n, k); of a regression ``predictions`` (n, targets). Where Python refuses a cell, and where a
    model needs complete rows and a cell is missing, the numbers are NaN; the label is then without
    meaning.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1.0, 2.0, 5.0], "kind": ["a", "a", "b"]})
    >>> [output.name for output in to_onnx(NaiveBayes().fit(rows, "kind")).graph.output]
    ['label', 'probabilities']
    """
    joint = log_joint(model)
    made = helper.make_model(
        OnnxGraph(joint).built(),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        producer_name="suffice",
        ir_version=IR_VERSION,
    )
    checker.check_model(made)
    return made


class OnnxGraph:
    """Collects the nodes and the constants of one graph."""

    def __init__(self, joint: LogJoint) -> None:
        self.joint = joint
        self.nodes: list[Any] = []
        self.constants: dict[Any, Any] = {}

    def built(self) -> Any:
        """The whole graph."""
        joint, k = self.joint, len(self.joint.outputs)
        if not joint.columns:
            raise ParameterError(
                "the model has no column", "a graph needs an input", "fit it on a column"
            )
        for column in joint.columns:
            if column.name in OUTPUTS:
                raise ParameterError(
                    f"a column has the name {column.name!r}",
                    "so has an output of the graph",
                    "rename the column before the fit",
                )
        texts = [column.kind == "string" for column in joint.columns]
        kinds = [TensorProto.STRING if text else TensorProto.DOUBLE for text in texts]
        inputs = [
            _value(c.name, kind, [None, 1]) for c, kind in zip(joint.columns, kinds, strict=True)
        ]
        scores = self.run("Concat", *(self._score(c) for c in range(k)), axis=1)
        if joint.task == "numbers":
            self.nodes.append(helper.make_node("Identity", [scores], ["predictions"]))
            outputs = [_value("predictions", TensorProto.DOUBLE, [None, k])]
        else:
            outputs = self._classes(scores)
        return helper.make_graph(
            self.nodes, "suffice", inputs, outputs, list(self.constants.values())
        )

    def _classes(self, scores: str) -> list[Any]:
        joint, k = self.joint, len(self.joint.outputs)
        top = self.run("ReduceMax", scores, axes=[1], keepdims=1)
        never = self.run("Equal", top, self.number(-inf))
        zeros = self.run("Mul", top, self.number(0.0))  # NaN where a row gets no answer
        about = self.run("Where", never, self.number(0.0), top)
        weights = self.run("Exp", self.run("Sub", scores, about))
        total = self.run("ReduceSum", weights, self.whole([1]), keepdims=1)
        share = self.run("Div", weights, total)
        prior = self.array(np.array([joint.prior]))
        refused = self.run("IsNaN", zeros)
        refused = self.run("And", refused, self.run("Not", never))
        answer = self.run("Where", never, prior, share)
        nothing = self.number(float("nan"))
        self.nodes.append(helper.make_node("Where", [refused, nothing, answer], ["probabilities"]))
        best = self.run("ArgMax", self.run("Where", never, prior, scores), axis=1, keepdims=0)
        labels, kind = _labels(joint)
        self.nodes.append(helper.make_node("Gather", [self.array(labels), best], ["label"], axis=0))
        return [
            _value("label", kind, [None]),
            _value("probabilities", TensorProto.DOUBLE, [None, k]),
        ]

    def _score(self, c: int) -> str:
        total = self.number(self.joint.start[c])
        for term in self.joint.terms:
            total = self.run("Add", total, self._term(term, c))
        return total

    def _term(self, term: Term, c: int) -> str:
        """Add a term, with its rule for missing and refused cells."""
        made = self.write(term.by_output[c])
        for j in term.columns:
            if self.joint.columns[j].bounds is not None:
                made = self.run("Where", self._legal(j), made, self.number(float("nan")))
        left_out = float("nan") if term.missing == "refused" else 0.0
        for j in term.columns:
            made = self.run("Where", self._missing(j), self.number(left_out), made)
        return made

    def _missing(self, j: int) -> str:
        column = self.joint.columns[j]
        if column.kind != "string":
            return self.run("IsNaN", column.name)
        index = self._encoded(column.name, [MISSING_TEXT])
        return self.run("Not", self.run("Cast", index, to=TensorProto.BOOL))

    def _legal(self, j: int) -> str:
        column = self.joint.columns[j]
        assert column.bounds is not None
        low, high = map(self.number, column.bounds)
        legal = self.run(
            "And",
            self.run("GreaterOrEqual", column.name, low),
            self.run("LessOrEqual", column.name, high),
        )
        if column.kind == "whole":
            floor = self.run("Floor", column.name)
            legal = self.run("And", legal, self.run("Equal", floor, column.name))
        return legal

    # -- expressions

    def write(self, node: Expression) -> str:
        """Write one node of the tree, and return the name of its result."""
        match node:
            case Number(value):
                return self.number(value)
            case Cell(column):
                return self.joint.columns[column].name
            case Sum(terms):
                total = self.write(terms[0])
                for term in terms[1:]:
                    total = self.run("Add", total, self.write(term))
                return total
            case Product(left, right):
                return self.run("Mul", self.write(left), self.write(right))
            case Quotient(left, right):
                return self.run("Div", self.write(left), self.write(right))
            case Square(of):
                root = self.write(of)
                return self.run("Mul", root, root)
            case Log(of):
                return self.run("Log", self.write(of))
            case Log1p(of):
                return self._log1p(self.write(of))
            case Choice():
                return self._choice(node)
            case Above(column, threshold, above, below):
                name = self.joint.columns[column].name
                is_above = self.run("Greater", name, self.number(threshold))
                return self.run("Where", is_above, self.number(above), self.number(below))
            case Steps(column, starts, values):
                name = self.joint.columns[column].name
                passed = self.run("GreaterOrEqual", name, self.array(np.array([starts])))
                counted = self.run("Cast", passed, to=TensorProto.INT64)
                place = self.run("ReduceSum", counted, self.whole([1]), keepdims=1)
                return self.run("Gather", self.array(np.array(values)), place, axis=0)

    def _log1p(self, u: str) -> str:
        """Kahan's form, exact to rounding: log(w) u / (w − 1) with w = 1 + u."""
        one = self.number(1.0)
        w = self.run("Add", one, u)
        same = self.run("Equal", w, one)
        rounded = self.run("Where", same, one, self.run("Sub", w, one))
        product = self.run("Mul", self.run("Log", w), self.run("Div", u, rounded))
        return self.run("Where", same, u, product)

    def _choice(self, node: Choice) -> str:
        name = self.joint.columns[node.column].name
        values, numbers = [v for v, _ in node.cases], [number for _, number in node.cases]
        rest = float("nan") if node.otherwise is None else node.otherwise
        if self.joint.columns[node.column].kind != "string":
            made = self.number(rest)
            for value, number in zip(reversed(values), reversed(numbers), strict=True):
                equal = self.run("Equal", name, self.number(float(value)))
                made = self.run("Where", equal, self.number(number), made)
            return made
        if MISSING_TEXT in values:
            raise ParameterError(
                f"column {name!r} has the empty string as a value",
                "in ONNX the empty string is a missing cell",
                "write another string in its place before the fit",
            )
        if not values:
            return self.number(rest)
        place = self._encoded(name, values)
        return self.run("Gather", self.array(np.array([*numbers, rest])), place, axis=0)

    def _encoded(self, name: str, values: list[str]) -> str:
        """The index of a string among some; their number for another one."""
        return self.run(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=values,
            values_int64s=list(range(len(values))),
            default_int64=len(values),
        )

    # -- nodes and constants

    def run(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node, and return the name of its result."""
        name = self._free(f"n{len(self.nodes)}")
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _free(self, name: str) -> str:
        """A name that no column has."""
        taken = {column.name for column in self.joint.columns}
        while name in taken:
            name += "_"
        return name

    def number(self, value: float) -> str:
        """A constant number."""
        return self.array(np.array([[value]]))

    def whole(self, values: list[int]) -> str:
        """A constant vector of whole numbers."""
        return self.array(np.array(values, np.int64))

    def array(self, values: Any) -> str:
        """A constant array; equal ones are kept once."""
        key = (
            values.dtype.str,
            values.shape,
            values.tobytes() if values.dtype != object else str(values.tolist()),
        )
        if key not in self.constants:
            name = self._free(f"c{len(self.constants)}")
            self.constants[key] = numpy_helper.from_array(values, name)
        return str(self.constants[key].name)


def _labels(joint: LogJoint) -> tuple[Any, int]:
    types = {type(label) for label in joint.outputs}
    if types == {str}:
        return np.array(joint.outputs, dtype=object), TensorProto.STRING
    if types <= {int, bool} and all(abs(label) < 2**63 for label in joint.outputs):
        return np.array(joint.outputs, dtype=np.int64), TensorProto.INT64
    raise ParameterError(
        f"the label {joint.outputs[0]!r} is of the type {type(joint.outputs[0]).__name__}",
        "in ONNX labels are strings or whole numbers",
        "turn the labels into strings before the fit",
    )


def _value(name: str, kind: int, shape: list[int | None]) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)
