"""ONNX: a graph in double precision, with one input (n, 1) for every column.

Numbers are doubles, NaN = missing; booleans, whole numbers and seconds of dates too; strings are
strings, and the empty string is missing, as ONNX has no null.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

from suffice.errors import ParameterError
from suffice.export import expressions as ex
from suffice.export.log_joint_terms import check_gaps, log_joint
from suffice.families.multivariate_gaussian import LOG_2PI

MOST_PRODUCTS = 1e6  # of Gaussians: 180 columns with one covariance
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
    check_gaps(joint, MOST_PRODUCTS)
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

    def __init__(self, joint: ex.LogJoint) -> None:
        self.joint = joint
        self.nodes: list[Any] = []
        self.constants: dict[Any, Any] = {}

    def built(self) -> Any:
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
        types: dict[str, int] = {}
        for column in joint.columns:
            kind = TensorProto.STRING if column.kind == "string" else TensorProto.DOUBLE
            if types.setdefault(column.name, kind) != kind:
                raise ParameterError(
                    f"column {column.name!r} is numbers to one member, and strings to another",
                    "an input of a graph has one type",
                    "name the column under categorical=, or take one of the members",
                )
        inputs = [_value(name, kind, [None, 1]) for name, kind in types.items()]
        if joint.task == "numbers":
            self.nodes.append(helper.make_node("Identity", [self._scores(0)], ["predictions"]))
            outputs = [_value("predictions", TensorProto.DOUBLE, [None, k])]
        else:
            outputs = self._classes()
        return helper.make_graph(
            self.nodes, "suffice", inputs, outputs, list(self.constants.values())
        )

    def _scores(self, m: int) -> str:
        """Write the log joints of a member, (n, k)."""
        one = self.joint.members[m]
        rows = self._rows()
        total = self.run("Expand", self.array(np.array([one.start])), rows)
        for term in one.terms:
            match term:
                case ex.Term():
                    trees = [self.run("Expand", self.write(tree), rows) for tree in term.by_output]
                    made = self._of_cells(term, self.run("Concat", *trees, axis=1))
                case ex.Table():
                    made = self._of_cells(term, self._looked_up(term))
                case ex.Gaussian():
                    made = self._gaussian(term)
                case ex.Pairs():
                    made = self._pairs(term)
                case ex.Words():
                    raise AssertionError("an export has no texts")
            if term.weight != 1:
                made = self.run("Mul", self.number(term.weight), made)
            total = self.run("Add", total, made)
        return total

    def _classes(self) -> list[Any]:
        joint, k = self.joint, len(self.joint.outputs)
        answers = [self._posterior(m) for m in range(len(joint.members))]
        scores, shares = answers[0]
        if len(answers) > 1:
            parts = [
                self.run("Mul", self.number(one.share), own)
                for one, (_, own) in zip(joint.members, answers, strict=True)
            ]
            scores = shares = self.run("Sum", *parts)
        self.nodes.append(helper.make_node("Identity", [shares], ["probabilities"]))
        best = self.run("ArgMax", scores, axis=1, keepdims=0)
        labels, kind = _labels(joint)
        self.nodes.append(helper.make_node("Gather", [self.array(labels), best], ["label"], axis=0))
        return [
            _value("label", kind, [None]),
            _value("probabilities", TensorProto.DOUBLE, [None, k]),
        ]

    def _posterior(self, m: int) -> tuple[str, str]:
        """Write the scores of a member, or its prior where all are impossible; and P(c | x)."""
        scores = self._scores(m)
        top = self.run("ReduceMax", scores, axes=[1], keepdims=1)
        never = self.run("Equal", top, self.number(-inf))
        zeros = self.run("Mul", top, self.number(0.0))  # NaN where a row gets no answer
        about = self.run("Where", never, self.number(0.0), top)
        weights = self.run("Exp", self.run("Sub", scores, about))
        total = self.run("ReduceSum", weights, self.whole([1]), keepdims=1)
        share = self.run("Div", weights, total)
        prior = self.array(np.array([self.joint.members[m].prior]))
        refused = self.run("IsNaN", zeros)
        refused = self.run("And", refused, self.run("Not", never))
        answer = self.run("Where", never, prior, share)
        answer = self.run("Where", refused, self.number(float("nan")), answer)
        return self.run("Where", never, prior, scores), answer

    def _rows(self) -> str:
        """The shape (n, 1) of an input."""
        return self.run("Shape", self.joint.columns[0].name)

    def _pairs(self, term: ex.Pairs) -> str:
        """Write one-dependence estimators; a missing cell has bin M, which adds nothing."""
        k, m, nan = len(self.joint.outputs), term.ends[-1], float("nan")
        bins = [self._bin(one, start, m) for one, start in zip(term.bins, term.ends, strict=False)]
        shown = self.run("Concat", *bins, axis=1)
        table = np.pad(term.terms, ((0, 0), (0, 1), (0, 1))).reshape(k, -1).T
        known = self.array(np.append(np.where(term.parent, 0.0, nan), nan))
        sums = []
        for own in bins:
            row = self.run("Mul", own, self.whole([m + 1]))
            added = self.run("Gather", self.array(table), self.run("Add", row, shown), axis=0)
            total = self.run("ReduceSum", added, self.whole([1]), keepdims=0)  # (n, k)
            total = self.run("Add", total, self.run("Gather", known, own, axis=0))
            sums.append(self.run("Unsqueeze", total, self.whole([2])))
        logs = self.run("Concat", *sums, axis=2)
        none = self.run("IsNaN", logs)
        logs = self.run("Where", none, self.number(-inf), logs)
        top = self.run("ReduceMax", logs, axes=[2], keepdims=1)
        never = self.run("Equal", top, self.number(-inf))
        top = self.run("Where", never, self.number(0.0), top)
        weights = self.run("Exp", self.run("Sub", logs, top))
        total = self.run("ReduceSum", weights, self.whole([2]), keepdims=0)
        count = self.run("Cast", self.run("Not", none), to=TensorProto.DOUBLE)
        count = self.run("ReduceSum", count, self.whole([2]), keepdims=0)
        mean = self.run("Log", self.run("Div", total, count))
        mean = self.run("Add", mean, self.run("Squeeze", top, self.whole([2])))
        rest = np.where(np.isfinite(term.log_class), -term.log_class, 0.0)
        mean = self.run("Add", mean, self.array(rest[None]))
        some = self.run("Greater", count, self.number(0.0))
        return self.run("Where", some, mean, self.number(0.0))

    def _bin(self, table: ex.Table, start: int, m: int) -> str:
        """Write the bin of a cell, (n, 1), counted through all columns; M of a missing one."""
        j = table.places.column
        bins = [m if b is None else start + int(b) for b in table.by_output[0]]
        place = self._place(table.places)
        made = self.run("Gather", self.array(np.array(bins, np.int64)), place, axis=0)
        if isinstance(table.places, ex.Steps):
            made = self.run("Where", self._legal(j), made, self.whole([m]))
        return self.run("Where", self._missing(j), self.whole([m]), made)

    def _gaussian(self, term: ex.Gaussian) -> str:
        """Write columns together; what a row lacks is integrated out."""
        places = {j: self._place(ex.Values(j, values)) for j, values in term.values.items()}
        lacks = []
        for j in term.columns:
            lacking = self._missing(j)
            if j in places:
                other = self.run("Equal", places[j], self.whole([len(term.values[j])]))
                lacking = self.run("Or", lacking, other)
            lacks.append(self.run("Cast", lacking, to=TensorProto.DOUBLE))
        lacked = self.run("Concat", *lacks, axis=1)
        numbers = []
        for j, value in term.features:
            if j not in places:
                cell = self.joint.columns[j].name
                numbers.append(self.run("Where", self._missing(j), self.number(0.0), cell))
                continue
            # The indicator of a missing cell is one of no place.
            known = term.values[j].index(value) if value in term.values[j] else -1
            equal = self.run("Equal", places[j], self.whole([known]))
            numbers.append(self.run("Cast", equal, to=TensorProto.DOUBLE))
        x = self.run("Concat", *numbers, axis=1)
        whole = self.run("ReduceSum", lacked, self.whole([1]), keepdims=1)
        whole = self.run("Equal", whole, self.number(0.0))
        psi = self.run("Sub", x, self.array(term.complete.origin[None]))
        rest = self.number(float("nan"))
        if self.joint.integrates(MOST_PRODUCTS):
            owner = [term.columns.index(j) for j, _ in term.features]
            hidden = self.run("Cast", self._taken(lacked, owner, 1), to=TensorProto.BOOL)
            rest = self._marginal(term, psi, self.run("Not", hidden))
        found = self.run("Where", whole, self._complete(term.complete, psi), rest)
        for j in term.columns:
            if j not in term.values:
                legal = self.run("Or", self._missing(j), self._legal(j))
                found = self.run("Where", legal, found, self.number(float("nan")))
        return found

    def _complete(self, form: ex.Whitened, psi: str) -> str:
        """Write the score of rows that lack no cell."""
        if form.whitening is None:
            score = self.run("MatMul", psi, self.array(np.ascontiguousarray(form.slope.T)))
        else:
            squares = []
            for matrix, shift in zip(form.whitening, form.slope, strict=True):
                root = self.run("MatMul", psi, self.array(np.ascontiguousarray(matrix.T)))
                root = self.run("Sub", root, self.array(shift[None]))
                square = self.run("Mul", root, root)
                squares.append(self.run("ReduceSum", square, self.whole([1]), keepdims=1))
            score = self.run("Mul", self.number(-0.5), self.run("Concat", *squares, axis=1))
        return self.run("Add", score, self.array(form.constant[None]))

    def _marginal(self, term: ex.Gaussian, psi: str, shown: str) -> str:
        """Write the score of numbers that a row shows, by the formulas of `Gaussian`.

        Columns leave Σ (n, s, p, p), ψ (n, 1 or k, p) and the means δ (n, k, p) one after another.
        """
        assert term.covariance is not None
        shared = term.complete.whitening is None
        offset = self.array(term.offset[None])
        left, z = self.array(term.covariance[None]), self.run("Unsqueeze", psi, self.whole([1]))
        delta = offset
        if not shared:
            z = self.run("Sub", z, offset)
        total = self.number(0.0)
        for j in range(len(term.features)):
            column = self._taken(left, [j], 3)  # (n, s, p, 1)
            v = self._taken(self.run("Squeeze", column, self.whole([3])), [j], 2)  # (n, s, 1)
            known = self.run("Greater", v, self.array(term.least[None, :, j : j + 1]))
            there = self.run("Unsqueeze", self._taken(shown, [j], 1), self.whole([1]))
            known = self.run("And", known, there)
            safe = self.run("Where", known, v, self.number(1.0))
            g = self.run("Where", known, self.run("Reciprocal", safe), self.number(0.0))
            row = self.run("Transpose", column, perm=[0, 1, 3, 2])
            slope = self.run("Mul", row, self.run("Unsqueeze", g, self.whole([3])))
            left = self.run("Sub", left, self.run("Mul", column, slope))
            slope = self.run("Squeeze", slope, self.whole([2]))
            own = self._taken(z, [j], 2)
            z = self.run("Sub", z, self.run("Mul", slope, own))
            if shared:  # less what all classes share
                mean = self._taken(delta, [j], 2)
                delta = self.run("Sub", delta, self.run("Mul", slope, mean))
                own = self.run("Sub", own, self.run("Mul", self.number(0.5), mean))
                added = self.run("Mul", g, self.run("Mul", mean, own))
            else:
                square = self.run("Mul", g, self.run("Mul", own, own))
                scale = self.run("Add", self.run("Log", safe), self.number(LOG_2PI))
                scale = self.run("Where", known, scale, self.number(0.0))
                added = self.run("Mul", self.number(-0.5), self.run("Add", square, scale))
            total = self.run("Add", total, added)
        return self.run("Squeeze", total, self.whole([2]))

    def _taken(self, name: str, places: list[int], axis: int) -> str:
        return self.run("Gather", name, self.whole(places), axis=axis)

    def _of_cells(self, term: ex.Term | ex.Table, made: str) -> str:
        """Write what a term adds, with its rule for missing and refused cells."""
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

    def write(self, node: ex.Expression) -> str:
        """Write one node of the tree, and return the name of its result."""
        match node:
            case ex.Number(value):
                return self.number(value)
            case ex.Cell(column):
                return self.joint.columns[column].name
            case ex.Sum(terms):
                total = self.write(terms[0])
                for term in terms[1:]:
                    total = self.run("Add", total, self.write(term))
                return total
            case ex.Product(left, right):
                return self.run("Mul", self.write(left), self.write(right))
            case ex.Quotient(left, right):
                return self.run("Div", self.write(left), self.write(right))
            case ex.Square(of):
                root = self.write(of)
                return self.run("Mul", root, root)
            case ex.Log(of):
                return self.run("Log", self.write(of))
            case ex.Log1p(of):
                return self._log1p(self.write(of))

    def _log1p(self, u: str) -> str:
        """Kahan's form, exact to rounding: log(w) u / (w − 1) with w = 1 + u."""
        one = self.number(1.0)
        w = self.run("Add", one, u)
        same = self.run("Equal", w, one)
        rounded = self.run("Where", same, one, self.run("Sub", w, one))
        product = self.run("Mul", self.run("Log", w), self.run("Div", u, rounded))
        return self.run("Where", same, u, product)

    def _looked_up(self, table: ex.Table) -> str:
        """Write the numbers at the places of cells, (n, k)."""
        nan = float("nan")
        rows = np.array([[nan if v is None else v for v in row] for row in table.by_output]).T
        made = self.run("Gather", self.array(rows), self._place(table.places), axis=0)
        return self.run("Squeeze", made, self.whole([1]))

    def _place(self, places: ex.Steps | ex.Values) -> str:
        """Write the places of cells, (n, 1)."""
        name = self.joint.columns[places.column].name
        if isinstance(places, ex.Steps):
            passed = self.run("GreaterOrEqual", name, self.array(np.array([places.starts])))
            counted = self.run("Cast", passed, to=TensorProto.INT64)
            return self.run("ReduceSum", counted, self.whole([1]), keepdims=1)
        if not places.values:
            return self.run("Expand", self.array(np.zeros((1, 1), np.int64)), self._rows())
        if self.joint.columns[places.column].kind == "string":
            if MISSING_TEXT in places.values:
                raise ParameterError(
                    f"column {name!r} has the empty string as a value",
                    "in ONNX the empty string is a missing cell",
                    "write another string in its place before the fit",
                )
            return self._encoded(name, list(places.values))
        values = np.array(places.values, np.float64)
        equal = self.run("Equal", name, self.array(values[None]))
        counted = self.run("Cast", equal, to=TensorProto.INT64)
        back = self.whole(list(range(-len(values), 0)))  # from the place of other cells
        back = self.run("ReduceSum", self.run("Mul", counted, back), self.whole([1]), keepdims=1)
        return self.run("Add", self.whole([len(values)]), back)

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
