"""ONNX: a graph in double precision, with one input (n, 1) for every column.

Numbers are doubles, NaN = missing; booleans, whole numbers and seconds of dates too; strings are
strings, and the empty string is missing, as ONNX has no null.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, reduce
from math import inf, nan
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

from suffice.errors import ParameterError
from suffice.export import expressions as ex
from suffice.export.log_joint_terms import check_gaps, log_joint
from suffice.families.multivariate_gaussian import LOG_2PI

MOST_PRODUCTS = 1e6  # of Gaussians: 180 columns with one covariance
OPSET, ML_OPSET, IR_VERSION = 17, 2, 8
MISSING_TEXT = ""
DOUBLE = TensorProto.DOUBLE
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
    check_gaps(joint, MOST_PRODUCTS)
    made = helper.make_model(
        Graph(joint).built(),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        producer_name="suffice",
        ir_version=IR_VERSION,
    )
    checker.check_model(made)
    return made


def _operator(name: str) -> Callable[..., Node]:
    """Return a method of nodes that runs an operator of ONNX."""

    def run(node: Node, *inputs: Any, **attributes: Any) -> Node:
        return node.graph.run(name, node, *inputs, **attributes)

    return run


class Node:
    """A result of a graph, with the arithmetic of ONNX; numbers and arrays become constants."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def run(self, operator: str, *inputs: Any, **attributes: Any) -> Node:
        """Return what an operator makes of this and other inputs."""
        return self.graph.run(operator, self, *inputs, **attributes)

    __add__ = _operator("Add")
    __sub__ = _operator("Sub")
    __mul__ = _operator("Mul")
    __truediv__ = _operator("Div")
    __gt__ = _operator("Greater")
    __ge__ = _operator("GreaterOrEqual")
    __le__ = _operator("LessOrEqual")
    __and__ = _operator("And")
    __or__ = _operator("Or")
    __invert__ = _operator("Not")
    equals = _operator("Equal")
    where = _operator("Where")  # this condition: then, else
    at = _operator("Gather")  # places, along axis=
    cast = _operator("Cast")  # to=

    def sum(self, axis: int, keepdims: int = 0) -> Node:
        return self.run("ReduceSum", [axis], keepdims=keepdims)

    def max(self, axis: int) -> Node:
        return self.run("ReduceMax", axes=[axis], keepdims=1)


class Graph:
    """Collects the nodes and the constants of one graph."""

    def __init__(self, joint: ex.LogJoint) -> None:
        self.joint = joint
        self.nodes: list[Any] = []
        self.constants: dict[Any, Any] = {}
        self.taken = {column.name for column in joint.columns}
        self.cells = [Node(self, column.name) for column in joint.columns]

    def built(self) -> Any:
        joint, k = self.joint, len(self.joint.outputs)
        if not joint.columns:
            raise ParameterError(
                "the model has no column", "a graph needs an input", "fit it on a column"
            )
        types: dict[str, int] = {}
        for column in joint.columns:
            if column.name in OUTPUTS:
                raise ParameterError(
                    f"a column has the name {column.name!r}",
                    "so has an output of the graph",
                    "rename the column before the fit",
                )
            kind = TensorProto.STRING if column.kind == "string" else DOUBLE
            if types.setdefault(column.name, kind) != kind:
                raise ParameterError(
                    f"column {column.name!r} is numbers to one member, and strings to another",
                    "an input of a graph has one type",
                    "name the column under categorical=, or take one of the members",
                )
        inputs = [_value(name, kind, [None, 1]) for name, kind in types.items()]
        if joint.task == "numbers":
            self.output("predictions", self._scores(0))
            outputs = [_value("predictions", DOUBLE, [None, k])]
        else:
            answers = [self._posterior(m) for m in range(len(joint.members))]
            scores, shares = answers[0]
            if len(answers) > 1:
                pairs = zip(joint.members, answers, strict=True)
                scores = shares = self.run("Sum", *(own * one.share for one, (_, own) in pairs))
            labels, kind = _labels(joint)
            best = scores.run("ArgMax", axis=1, keepdims=0)
            self.output("probabilities", shares)
            self.output("label", self.constant(labels).at(best))
            shape: list[int | None] = [None, k]
            outputs = [_value("label", kind, [None]), _value("probabilities", DOUBLE, shape)]
        return helper.make_graph(
            self.nodes, "suffice", inputs, outputs, list(self.constants.values())
        )

    def _posterior(self, m: int) -> tuple[Node, Node]:
        """Write the scores of a member, or its prior where all are impossible; and P(c | x)."""
        scores, prior = self._scores(m), np.array([self.joint.members[m].prior])
        top = scores.max(1)
        never = top.equals(-inf)
        weights = (scores - never.where(0.0, top)).run("Exp")
        share = weights / weights.sum(1, keepdims=1)
        # Without an answer, the largest score is NaN or infinite, and times 0 it is NaN.
        refused = (top * 0.0).run("IsNaN") & ~never
        return never.where(prior, scores), refused.where(nan, never.where(prior, share))

    def _scores(self, m: int) -> Node:
        """Write the log joints of a member, (n, k)."""
        one = self.joint.members[m]
        total = self._in_rows(self.constant(np.array([one.start])))
        for term in one.terms:
            match term:
                case ex.Term():
                    made = self._of_cell(term)
                case ex.Gaussian():
                    made = self._gaussian(term)
                case ex.Pairs():
                    made = self._pairs(term)
            total = total + (made if term.weight == 1 else made * term.weight)
        return total

    @cached_property
    def rows(self) -> Node:
        """The shape (n, 1) of an input."""
        return self.cells[0].run("Shape")

    def _in_rows(self, node: Node) -> Node:
        """Write a node once a row."""
        return node.run("Expand", self.rows)

    def _pairs(self, term: ex.Pairs) -> Node:
        """Write one-dependence estimators; a missing cell has bin M, which adds nothing."""
        k, m = len(self.joint.outputs), term.ends[-1]
        of_columns = zip(term.columns, term.places, term.bins, term.ends, strict=False)
        bins = [
            self._bin(j, at, np.where(b < 0, m, start + b), m) for j, at, b, start in of_columns
        ]
        shown = self.run("Concat", *bins, axis=1)
        table = np.pad(term.terms, ((0, 0), (0, 1), (0, 1))).reshape(k, -1).T
        added = self.constant(table)
        known = self.constant(np.append(np.where(term.parent, 0.0, nan), nan))
        sums = [added.at(own * [m + 1] + shown).sum(1) + known.at(own) for own in bins]  # (n, k)
        logs = self.run("Concat", *(one.run("Unsqueeze", [2]) for one in sums), axis=2)
        none = logs.run("IsNaN")
        logs = none.where(-inf, logs)
        top = logs.max(2)
        top = top.equals(-inf).where(0.0, top)
        total, count = (logs - top).run("Exp").sum(2), (~none).cast(to=DOUBLE).sum(2)
        rest = np.where(np.isfinite(term.log_class), -term.log_class, 0.0)
        mean = (total / count).run("Log") + top.run("Squeeze", [2]) + rest[None]
        return (count > 0.0).where(mean, 0.0)

    def _bin(self, j: int, places: ex.Steps | ex.Values, bins: NDArray[np.intp], m: int) -> Node:
        """Write the bin of a cell, (n, 1), counted through all columns; M of a missing one."""
        made = self.constant(bins).at(self._place(j, places))
        if isinstance(places, ex.Steps):
            made = self._legal(j).where(made, [m])
        return self._missing(j).where([m], made)

    def _gaussian(self, term: ex.Gaussian) -> Node:
        """Write columns together; what a row lacks is integrated out."""
        places = {j: self._place(j, ex.Values(values)) for j, values in term.values.items()}
        lacks = [
            self._missing(j) | places[j].equals([len(term.values[j])])
            if j in places
            else self._missing(j)
            for j in term.columns
        ]
        lacked = self.run("Concat", *(one.cast(to=DOUBLE) for one in lacks), axis=1)
        numbers = []
        for j, value in term.features:
            if j in places:  # the indicator of a missing cell is one of no place
                known = term.values[j].index(value) if value in term.values[j] else -1
                numbers.append(places[j].equals([known]).cast(to=DOUBLE))
            else:
                numbers.append(self._missing(j).where(0.0, self.cells[j]))
        psi = self.run("Concat", *numbers, axis=1) - term.complete.origin[None]
        rest: Any = nan
        if self.joint.integrates(MOST_PRODUCTS):
            owner = [term.columns.index(j) for j, _ in term.features]
            rest = self._marginal(term, psi, ~lacked.at(owner, axis=1).cast(to=TensorProto.BOOL))
        whole = lacked.sum(1, keepdims=1).equals(0.0)
        found = whole.where(self._complete(term.complete, psi), rest)
        for j in term.columns:
            if j not in term.values:
                found = (self._missing(j) | self._legal(j)).where(found, nan)
        return found

    def _complete(self, form: ex.Whitened, psi: Node) -> Node:
        """Write the score of rows that lack no cell."""
        if form.whitening is None:
            score = psi.run("MatMul", np.ascontiguousarray(form.slope.T))
        else:
            squares = []
            for matrix, shift in zip(form.whitening, form.slope, strict=True):
                root = psi.run("MatMul", np.ascontiguousarray(matrix.T)) - shift[None]
                squares.append((root * root).sum(1, keepdims=1))
            score = self.run("Concat", *squares, axis=1) * -0.5
        return score + form.constant[None]

    def _marginal(self, term: ex.Gaussian, psi: Node, shown: Node) -> Node:
        """Write the score of numbers that a row shows, by the formulas of `Gaussian`.

        Columns leave Σ (n, s, p, p), ψ (n, 1 or k, p) and the means δ (n, k, p) one after another.
        """
        assert term.covariance is not None
        shared = term.complete.whitening is None
        left, delta = self.constant(term.covariance[None]), self.constant(term.offset[None])
        z, total = psi.run("Unsqueeze", [1]), self.constant(np.array([[0.0]]))
        if not shared:
            z = z - delta
        for j in range(len(term.features)):
            column = left.at([j], axis=3)  # (n, s, p, 1)
            v = column.run("Squeeze", [3]).at([j], axis=2)  # (n, s, 1)
            known = v > term.least[None, :, j : j + 1]
            known = known & shown.at([j], axis=1).run("Unsqueeze", [1])
            safe = known.where(v, 1.0)
            g = known.where(safe.run("Reciprocal"), 0.0)
            slope = column.run("Transpose", perm=[0, 1, 3, 2]) * g.run("Unsqueeze", [3])
            left = left - column * slope
            slope, own = slope.run("Squeeze", [2]), z.at([j], axis=2)
            z = z - slope * own
            if shared:  # less what all classes share
                mean = delta.at([j], axis=2)
                delta = delta - slope * mean
                total = total + g * (mean * (own - mean * 0.5))
            else:
                scale = known.where(safe.run("Log") + LOG_2PI, 0.0)
                total = total + (g * (own * own) + scale) * -0.5
        return total.run("Squeeze", [2])

    def _of_cell(self, term: ex.Term) -> Node:
        """Write what a cell adds, (n, k), and its rule for missing and refused cells."""
        j = term.column
        if isinstance(term.adds, ex.Expression):
            # Rows are along the last axis, where arithmetic of them is fast.
            made = self.write(term.adds, self.cells[j].run("Transpose")).run("Transpose")
        else:
            assert isinstance(term.adds, ex.Lookup)  # an export has no texts
            table = np.ascontiguousarray(term.adds.by_output.T)
            made = self.constant(table).at(self._place(j, term.adds.places)).run("Squeeze", [1])
        if self.joint.columns[j].bounds is not None:
            made = self._legal(j).where(made, nan)
        return self._missing(j).where(nan if term.missing == "refused" else 0.0, made)

    def _missing(self, j: int) -> Node:
        if self.joint.columns[j].kind != "string":
            return self.cells[j].run("IsNaN")
        return ~self._encoded(self.cells[j], [MISSING_TEXT]).cast(to=TensorProto.BOOL)

    def _legal(self, j: int) -> Node:
        column, cell = self.joint.columns[j], self.cells[j]
        assert column.bounds is not None
        low, high = column.bounds
        legal = (cell >= low) & (cell <= high)
        return legal & cell.run("Floor").equals(cell) if column.kind == "whole" else legal

    # -- expressions

    def write(self, node: ex.Expression | ex.Numbers, cell: Node) -> Node:
        """Write an expression of a cell, for all outputs."""
        if not isinstance(node, ex.Expression):
            return self.constant(np.reshape(node, (-1, 1)))
        if node.operation == "cell":
            return cell
        first, *others = of = [self.write(one, cell) for one in node.of]
        match node.operation:
            case "sum":
                return reduce(add, of)
            case "product":
                return first * others[0]
            case "quotient":
                return first / others[0]
            case "square":
                return first * first
            case "log":
                return first.run("Log")
            case "log1p":  # Kahan's form: log(w) u / (w − 1) with w = 1 + u
                w = first + 1.0
                same = w.equals(1.0)
                return same.where(first, w.run("Log") * (first / same.where(1.0, w - 1.0)))

    def _place(self, j: int, places: ex.Steps | ex.Values) -> Node:
        """Write the places of cells, (n, 1)."""
        cell = self.cells[j]
        if isinstance(places, ex.Steps):
            return (cell >= np.array([places.starts])).cast(to=TensorProto.INT64).sum(1, keepdims=1)
        if not places.values:
            return self._in_rows(self.constant(np.zeros((1, 1), np.int64)))
        if self.joint.columns[j].kind == "string":
            if MISSING_TEXT in places.values:
                raise ParameterError(
                    f"column {cell.name!r} has the empty string as a value",
                    "in ONNX the empty string is a missing cell",
                    "write another string in its place before the fit",
                )
            return self._encoded(cell, list(places.values))
        number = len(places.values)
        equal = cell.equals(np.array([places.values], np.float64)).cast(to=TensorProto.INT64)
        back = (equal * list(range(-number, 0))).sum(1, keepdims=1)  # from the place of other cells
        return self.constant([number]) + back

    def _encoded(self, cell: Node, values: list[str]) -> Node:
        """The index of a string among some; their number for another one."""
        return cell.run(
            "LabelEncoder",
            domain="ai.onnx.ml",
            keys_strings=values,
            values_int64s=list(range(len(values))),
            default_int64=len(values),
        )

    # -- nodes and constants

    def run(self, operator: str, *inputs: Any, **attributes: Any) -> Node:
        """Add a node, and return its result."""
        names = [one.name if isinstance(one, Node) else self.constant(one).name for one in inputs]
        name = self._free(f"n{len(self.nodes)}")
        self.nodes.append(helper.make_node(operator, names, [name], **attributes))
        return Node(self, name)

    def output(self, name: str, node: Node) -> None:
        """Give a result the name of an output."""
        self.nodes.append(helper.make_node("Identity", [node.name], [name]))

    def _free(self, name: str) -> str:
        """A name that no column has."""
        while name in self.taken:
            name += "_"
        return name

    def constant(self, value: Any) -> Node:
        """A number (1, 1), a list of whole numbers, or an array; equal ones are kept once."""
        values = np.array([[value]]) if isinstance(value, float) else np.asarray(value)
        key = (
            values.dtype.str,
            values.shape,
            values.tobytes() if values.dtype != object else str(values.tolist()),
        )
        if key not in self.constants:
            name = self._free(f"c{len(self.constants)}")
            self.constants[key] = numpy_helper.from_array(values, name)
        return Node(self, str(self.constants[key].name))


def _labels(joint: ex.LogJoint) -> tuple[Any, int]:
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
