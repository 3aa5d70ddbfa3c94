"""What was found: one fact about few rows, and all of them as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from suffice.numerics.in_print import Printed, Table

__all__ = ["MEANINGS", "Audit", "Finding", "What"]

What = Literal[
    "rare label",
    "rare value",
    "rare combination",
    "few numbers",
    "numbers of a rare value",
    "same number",
    "few missing",
    "few rows of a pattern",
    "few rows carry the sum",
    "doubts of rows",
    "listed values",
    "coefficients",
]

MEANINGS: dict[What, str] = {
    "rare label": "few rows have this label",
    "rare value": "few rows of a class show this value, which stands in the file",
    "rare combination": "few rows show these values together, which stand in the file",
    "few numbers": "mean and spread are of few rows; of one row they are its number, of two both",
    "numbers of a rare value": "products tell the numbers of the few rows that show a value",
    "same number": "all rows of the class have this number",
    "few missing": "few rows of the class have no value here",
    "few rows of a pattern": "few rows miss the same cells, and have sums of their own",
    "few rows carry the sum": "one number far from the others may be read from the sums",
    "doubts of rows": "how doubtful single rows were: one may look whether a row was learnt",
    "listed values": "values that stand in the file as they are",
    "coefficients": "no sums are kept; fitted numbers depend on every row",
}
"""What a kind of finding means."""


@dataclass(frozen=True)
class Finding:
    """One fact that a model file tells about few rows.

    Parameters
    ----------
    what : str
        Its kind, a key of `MEANINGS`.
    column : str or None
        The column, or the columns separated by commas.
    label : object
        The class; None where the fact is about all rows.
    value : object
        What the file tells of the cells; None where it tells only how many there are.
    rows : float or None
        Σw of the rows that it is about.
    batch : int
        The batch of a window, from 0; 0 where there is none.

    Examples
    --------
    >>> Finding("rare value", "job", label="yes", value="mayor", rows=1.0).value
    'mayor'
    """

    what: What
    column: str | None = None
    label: Any = None
    value: Any = None
    rows: float | None = None
    batch: int = 0


@dataclass(frozen=True, repr=False)
class Audit(Printed):
    """What a model tells about single rows.

    Parameters
    ----------
    model : str
        Its kind.
    min_count : float
        m: facts about fewer rows are listed.
    findings : tuple of Finding

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.privacy import audit
    >>> model = NaiveBayes.textbook().fit({"job": ["nurse", "nurse", "mayor"]}, ["no", "no", "yes"])
    >>> found = audit(model, 2)
    >>> found.min_count, {one.what for one in found.findings} >= {"rare label", "rare value"}
    (2, True)
    """

    model: str
    min_count: float
    findings: tuple[Finding, ...]

    def grouped(self) -> Iterator[tuple[What, str, list[Finding]]]:
        """Findings of one kind and column, the fewest rows first."""

        def key(found: Finding) -> tuple[int, str]:
            return list(MEANINGS).index(found.what), found.column or ""

        for (place, column), group in groupby(sorted(self.findings, key=key), key):
            fewest = sorted(group, key=lambda one: float("inf") if one.rows is None else one.rows)
            yield list(MEANINGS)[place], column, fewest

    def table(self) -> Table:
        """Return kind, column, number of facts, and the fact about fewest rows, as a table."""
        if not self.findings:
            return Table(f"{self.model}: nothing about fewer than {self.min_count:g} rows", [], [])
        rows = [
            [
                what,
                column or "(labels)",
                f"{len(group):,}",
                "-" if (fewest := group[0].rows) is None else f"{fewest:g}",
                _example(group[0]),
            ]
            for what, column, group in self.grouped()
        ]
        return Table("", ["", "column", "facts", "rows", "for example"], rows, left=(0, 1, 4))


def _example(found: Finding) -> str:
    label = None if found.label is None else f"label {found.label}"
    value = None if found.value is None else str(found.value)
    return "; ".join(part for part in (value, label) if part)
