"""C99: one self-contained file without allocation, for chips and servers without Python.

A row is an array of cells, in the order of ``suffice_columns``. A cell is a text (NULL = missing)
or a number (NaN = missing; booleans are 0 and 1). Functions return −1 where a row gets no answer.
"""

from __future__ import annotations

from typing import Any

from suffice.export.c_like import CLike
from suffice.export.expressions import Choice, LogJoint, Term
from suffice.export.reading import log_joint

__all__ = ["to_c"]

HEAD = """\
/* Written by suffice. C99; link with -lm. A row is suffice_cell[{d}], in the order of
   suffice_columns. A missing text is NULL, a missing number NAN; a boolean is 0 or 1. */
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct {{
    const char *text;
    double number;
}} suffice_cell;

enum {{ SUFFICE_COLUMNS = {d}, SUFFICE_OUTPUTS = {k} }};

const char *const suffice_columns[] = {{{columns}}};
const char *const suffice_outputs[] = {{{outputs}}};

typedef struct {{
    const char *text;
    double number;
    int place;
}} suffice_case;

static double square(double x) {{ return x * x; }}

static int text_place(const suffice_case *cases, int n, const char *text) {{
    for (int i = 0; i < n; i++)
        if (strcmp(cases[i].text, text) == 0)
            return cases[i].place;
    return -1;
}}

static int number_place(const suffice_case *cases, int n, double number) {{
    for (int i = 0; i < n; i++)
        if (cases[i].number == number)
            return cases[i].place;
    return -1;
}}
"""

SCORES = """
/* Scores of the outputs: log joints up to a term that all classes share, or predictions.
   Returns 0, or -1 if the row gets no answer. */
int suffice_scores(const suffice_cell *row, double *out) {
"""

CLASSES = """
/* The place of the most probable class among suffice_outputs, and the probability of each, if
   proba is not NULL. Returns -1 if the row gets no answer. */
int suffice_predict(const suffice_cell *row, double *proba) {{
    static const double prior[] = {{{prior}}};
    double scores[SUFFICE_OUTPUTS], total = 0.0;
    int best = 0;
    if (suffice_scores(row, scores) != 0)
        return -1;
    for (int c = 1; c < SUFFICE_OUTPUTS; c++)
        if (scores[c] > scores[best])
            best = c;
    if (scores[best] == -INFINITY) {{
        if (proba != NULL)
            memcpy(proba, prior, sizeof prior);
        return {fallback};
    }}
    if (proba == NULL)
        return best;
    for (int c = 0; c < SUFFICE_OUTPUTS; c++)
        total += proba[c] = exp(scores[c] - scores[best]);
    for (int c = 0; c < SUFFICE_OUTPUTS; c++)
        proba[c] /= total;
    return best;
}}
"""


def to_c(model: Any) -> str:
    """Write a fitted model as one C99 file.

    It defines ``suffice_columns``, ``suffice_outputs``, ``suffice_scores`` and, for a classifier,
    ``suffice_predict``. The answers are those of Python, missing and unseen cells included; where
    Python refuses a cell, the functions return −1.

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
    >>> "int suffice_predict" in to_c(NaiveBayes().fit(rows, "kind"))
    True
    """
    joint = log_joint(model)
    writer = _Writer(joint)
    body = [SCORES]
    body += [f"    out[{c}] = {_Writer.number(s)};\n" for c, s in enumerate(joint.start)]
    body += [line for term in joint.terms for line in writer.term(term)]
    body.append("    return 0;\n}\n")
    head = HEAD.format(
        d=len(joint.columns),
        k=len(joint.outputs),
        columns=", ".join(_text(column.name) for column in joint.columns) or "NULL",
        outputs=", ".join(_text(str(output)) for output in joint.outputs),
    )
    tail = ""
    if joint.task == "classes":
        prior = ", ".join(map(_Writer.number, joint.prior))
        tail = CLASSES.format(prior=prior, fallback=joint.fallback)
    unused = [
        name for name in ("square", "text_place", "number_place") if name not in "".join(body)
    ]
    marks = "".join(f"    (void){name};\n" for name in unused)
    body[0] += marks + ("" if joint.columns else "    (void)row;\n")
    return head + "".join(writer.tables) + "".join(body) + tail


class _Writer(CLike):
    """Writes terms as statements, and the values of columns as tables."""

    infinity, logs, equals = "INFINITY", "", "=="

    def __init__(self, joint: LogJoint) -> None:
        self.joint = joint
        self.tables: list[str] = []

    def cell(self, column: int) -> str:
        """The number in a column of the row."""
        return f"row[{column}].number"

    def term(self, term: Term) -> list[str]:
        """Statements that add a term to every output."""
        if not term.columns:
            return self.added(term, "    ")
        missing = " || ".join(self._missing(j) for j in term.columns)
        lines = []
        if term.missing == "refused":
            lines = [f"    if ({missing})\n        return -1;\n    {{\n"]
        else:
            lines = [f"    if (!({missing})) {{\n"]
        illegal = [rule for j in term.columns for rule in self._illegal(j)]
        if illegal:
            lines.append(f"        if ({' || '.join(illegal)})\n            return -1;\n")
        if isinstance(term.by_output[0], Choice):
            lines += self._choice(term)
        else:
            lines += self.added(term, "        ")
        return [*lines, "    }\n"]

    def _missing(self, j: int) -> str:
        if self.joint.columns[j].kind == "string":
            return f"row[{j}].text == NULL"
        return f"isnan(row[{j}].number)"

    def _illegal(self, j: int) -> list[str]:
        """What Python refuses."""
        column, x = self.joint.columns[j], f"row[{j}].number"
        if column.bounds is None:
            return []
        low, high = map(_Writer.number, column.bounds)
        rules = [f"!({x} >= {low})", f"!({x} <= {high})"]
        return rules + ([f"{x} != floor({x})"] if column.kind == "whole" else [])

    def _choice(self, term: Term) -> list[str]:
        """All outputs look the value up once, where all of them compare with the same values."""
        choices = [made for made in term.by_output if isinstance(made, Choice)]
        values = [value for value, _ in choices[0].cases]
        same = len(choices) == len(term.by_output) and all(
            [value for value, _ in choice.cases] == values for choice in choices
        )
        if not same or not values:
            return self.added(term, "        ")
        j, n, k = choices[0].column, len(values), len(choices)
        text = self.joint.columns[j].kind == "string"
        cases = ", ".join(
            f"{{{_text(v)}, 0.0, {i}}}" if text else f"{{NULL, {_Writer.number(float(v))}, {i}}}"
            for i, v in enumerate(values)
        )
        numbers = ", ".join(
            "{" + ", ".join(_Writer.number(choice.cases[i][1]) for choice in choices) + "}"
            for i in range(n)
        )
        self.tables.append(
            f"\nstatic const suffice_case cases_{j}[] = {{{cases}}};\n"
            f"static const double terms_{j}[][{k}] = {{{numbers}}};\n"
        )
        find = "text" if text else "number"
        lines = [f"        int place = {find}_place(cases_{j}, {n}, row[{j}].{find});\n"]
        otherwise = [choice.otherwise for choice in choices]
        if None in otherwise:
            lines.append("        if (place < 0)\n            return -1;\n")
        rest = [0.0 if number is None else number for number in otherwise]
        lines += [
            f"        out[{c}] += place < 0 ? {_Writer.number(rest[c])} : terms_{j}[place][{c}];\n"
            for c in range(k)
        ]
        return lines


def _text(value: str) -> str:
    """A string literal; every byte that is no plain letter or sign is an octal escape."""
    plain = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in value.encode("utf8")
    )
    return '"' + "".join(plain) + '"'
