"""JavaScript: one module without imports, for servers and pages.

A row is an object with the names of the columns as keys. A cell that is absent, null, undefined or
NaN is missing.
"""

from __future__ import annotations

import json
from typing import Any

from suffice.export.c_like import CLike
from suffice.export.expressions import Choice, LogJoint, Term
from suffice.export.reading import log_joint

__all__ = ["to_js"]

HEAD = """\
// Written by suffice. scores(row) and predict(row) take an object {{column: cell}}; a cell that is
// absent, null, undefined or NaN is missing. Both return null where a row gets no answer.
export const columns = {columns};
export const outputs = {outputs};

const square = (x) => x * x;
const cellsOf = (row) => columns.map((name) => (Object.hasOwn(row, name) ? row[name] : null));
const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);
const keyOf = (cell) => (typeof cell === "boolean" ? Number(cell) : cell);
"""

SCORES = """
// Scores of the outputs: log joints up to a term that all classes share, or predictions.
export function scores(row) {{
  const x = cellsOf(row).map(keyOf);
  const out = {start};
"""

CLASSES = """
// The most probable label, and the probability of every one, in the order of outputs.
export function predict(row) {{
  const s = scores(row);
  if (s === null) return null;
  let best = 0;
  for (let c = 1; c < s.length; c++) if (s[c] > s[best]) best = c;
  if (s[best] === -Infinity) return {{ label: outputs[{fallback}], probabilities: {prior} }};
  const weights = s.map((score) => Math.exp(score - s[best]));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return {{ label: outputs[best], probabilities: weights.map((weight) => weight / total) }};
}}
"""

NUMBERS = """
// The prediction of every target, in the order of outputs.
export const predict = scores;
"""


def to_js(model: Any) -> str:
    """Write a fitted model as one JavaScript module.

    It exports ``columns``, ``outputs``, ``scores`` and ``predict``. The answers are those of
    Python, missing and unseen cells included; where Python refuses a cell, they are null.

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
    >>> "export function predict(row)" in to_js(NaiveBayes().fit(rows, "kind"))
    True
    """
    joint = log_joint(model)
    writer = _Writer(joint)
    lines = [line for term in joint.terms for line in writer.term(term)]
    head = HEAD.format(
        columns=_value([column.name for column in joint.columns]),
        outputs=_value(list(joint.outputs)),
    )
    body = SCORES.format(start=_numbers(joint.start)) + "".join(lines) + "  return out;\n}\n"
    tail = NUMBERS
    if joint.task == "classes":
        tail = CLASSES.format(prior=_numbers(joint.prior), fallback=joint.fallback)
    return head + "".join(writer.tables) + body + tail


class _Writer(CLike):
    """Writes terms as statements, and the values of columns as maps."""

    infinity, logs, equals = "Infinity", "Math.", "==="

    def __init__(self, joint: LogJoint) -> None:
        self.joint = joint
        self.tables: list[str] = []

    def cell(self, column: int) -> str:
        """The number in a column of the row."""
        return f"x[{column}]"

    def term(self, term: Term) -> list[str]:
        """Statements that add a term to every output."""
        if not term.columns:
            return self.added(term, "  ")
        missing = " || ".join(f"isMissing(x[{j}])" for j in term.columns)
        if term.missing == "refused":
            lines = [f"  if ({missing}) return null;\n  {{\n"]
        else:
            lines = [f"  if (!({missing})) {{\n"]
        illegal = [rule for j in term.columns for rule in self._illegal(j)]
        if illegal:
            lines.append(f"    if ({' || '.join(illegal)}) return null;\n")
        choices = [made for made in term.by_output if isinstance(made, Choice)]
        if len(choices) == len(term.by_output) and not self._is_number(choices[0]):
            lines += self._choice(choices)
        else:
            lines += self.added(term, "    ")
        return [*lines, "  }\n"]

    def _is_number(self, choice: Choice) -> bool:
        return self.joint.columns[choice.column].is_number

    def _illegal(self, j: int) -> list[str]:
        """What Python refuses."""
        column = self.joint.columns[j]
        if column.bounds is None:
            return []
        low, high = map(_Writer.number, column.bounds)
        rules = [f'typeof x[{j}] !== "number"', f"!(x[{j}] >= {low})", f"!(x[{j}] <= {high})"]
        return rules + ([f"!Number.isInteger(x[{j}])"] if column.kind == "whole" else [])

    def _choice(self, choices: list[Choice]) -> list[str]:
        """All outputs look the value up once."""
        j = choices[0].column
        entries = ", ".join(
            f"[{_value(_key(value))}, {_numbers([choice.cases[i][1] for choice in choices])}]"
            for i, (value, _) in enumerate(choices[0].cases)
        )
        self.tables.append(f"const terms{j} = new Map([{entries}]);\n")
        lines = [f"    const found = terms{j}.get(x[{j}]);\n"]
        if any(choice.otherwise is None for choice in choices):
            lines.append("    if (found === undefined) return null;\n")
        rest = [choice.otherwise or 0.0 for choice in choices]
        lines.append(f"    const terms = found ?? {_numbers(rest)};\n")
        return [*lines, "    for (let c = 0; c < out.length; c++) out[c] += terms[c];\n"]


def _key(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _numbers(values: Any) -> str:
    return "[" + ", ".join(map(_Writer.number, values)) + "]"


def _value(value: Any) -> str:
    """JSON in ASCII is JavaScript, also where the module is put into a page."""
    return json.dumps(value).replace("<", "\\u003c")
