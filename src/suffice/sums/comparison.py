"""Comparisons: what divides two tables, column by column, from their statistics alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.errors import SchemaError
from suffice.numerics.in_print import Printed, Table, percent, probability
from suffice.phrases import amount, rows_in_print
from suffice.sums.divergence import Divergence, Divergences, of_fractions
from suffice.sums.vocabulary import Value

if TYPE_CHECKING:
    from suffice.sums.statistic import ClasswiseStatistic

__all__ = ["ColumnComparison", "Comparison", "compared", "compared_unlabelled"]

UNKNOWN = "-"


@dataclass(frozen=True)
class ColumnComparison:
    """One column of two tables.

    Parameters
    ----------
    column : str
        Its name; of columns that are modelled together, all their names.
    overall : Divergence, optional
        Over the rows of all classes; None where a table never shows the column.
    within : tuple of Divergence or None
        Between the rows of each class; None where a table has none that show the column.
    missing : tuple of two floats
        Share of the rows that do not show it, in each table.
    """

    column: str
    overall: Divergence | None
    within: tuple[Divergence | None, ...]
    missing: tuple[float, float]

    @property
    def distance(self) -> float:
        """Hellinger's distance over all classes; 0 where it is not known."""
        return 0.0 if self.overall is None else self.overall.hellinger


@dataclass(frozen=True, repr=False)
class Comparison(Printed):
    """What divides two tables; it prints as a table.

    Parameters
    ----------
    classes : tuple
        The k labels of either table; none if the tables have no labels.
    rows : tuple of two floats
        Σw of the rows of each; of the labelled ones, if the tables have labels.
    labels : Divergence, optional
        Between the fractions of the classes, if the tables have labels.
    columns : tuple of ColumnComparison
        The largest distance first.
    """

    classes: tuple[Value, ...]
    rows: tuple[float, float]
    labels: Divergence | None
    columns: tuple[ColumnComparison, ...]

    def most_within(self, column: ColumnComparison) -> tuple[Value, Divergence] | None:
        """The class whose rows differ most in a column, and how much; None if nobody knows."""
        pairs = zip(self.classes, column.within, strict=True)
        known = [(label, found) for label, found in pairs if found is not None]
        return max(known, key=lambda pair: pair[1].hellinger, default=None)

    def table(self) -> Table:
        """Return the divergences as a table, with the class that differs most in a column."""
        labelled = self.labels is not None
        header = ["", "Hellinger", "PSI", "p", "missing", "within", "class"]
        rows = [["(labels)", *_cells(self.labels), "", "", ""]] if labelled else []
        for column in self.columns:
            most = self.most_within(column)
            within = [UNKNOWN, ""] if most is None else [f"{most[1].hellinger:.4f}", str(most[0])]
            missing = _change(*map(percent, column.missing))
            rows.append([column.column, *_cells(column.overall), missing, *within])
        if not labelled:
            header, rows = header[:-2], [row[:-2] for row in rows]
        apart = [self.labels] * labelled + [column.overall for column in self.columns]
        remark = "; within: the class that differs most" if labelled else ""
        return Table(
            "",
            header,
            rows,
            [f"{amount(self.rows[0])} and {rows_in_print(self.rows[1])}{remark}"],
            bars=[np.nan if one is None else float(one.hellinger) for one in apart],
        )


def _change(before: str, after: str) -> str:
    """Two fractions, or one where they look alike.

    Examples
    --------
    >>> _change("0.0 %", "0.0 %"), _change("16.7 %", "0.0 %")
    ('0.0 %', '16.7 → 0.0 %')
    """
    return after if before == after else f"{before.removesuffix(' %')} → {after}"


def _cells(found: Divergence | None) -> list[str]:
    """A divergence in print."""
    if found is None:
        return [UNKNOWN] * 3
    p = UNKNOWN if found.p_value is None else probability(found.p_value)
    psi = f"{found.psi:.4g}" if np.isfinite(found.psi) else "∞"
    return [f"{found.hellinger:.4f}", psi, p]


def compared(
    a: Sequence[ClasswiseStatistic],
    b: Sequence[ClasswiseStatistic],
    names: Sequence[Sequence[str]] | None,
    classes: tuple[Value, ...],
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Comparison:
    """Compare two labelled tables of the same columns.

    Numbers are compared by mean and variance, as Gaussians; over all classes these are the moments
    of the mixture. Categories, outcomes, words and counts are compared by their fractions;
    columns of counts each by its fraction of all counts, and columns that are modelled by a joint
    table one by one and then together.

    Parameters
    ----------
    a, b : sequences of ClasswiseStatistic
        The statistics of their blocks of columns, over the same classes.
    names : sequence of sequences of str, optional
        Names of the columns of every block; by default x0, x1, ... in the order of the blocks.
    classes : tuple
        The k labels.
    weights : tuple of two ndarrays (k,)
        Σw of the rows of each class, of each table.

    Raises
    ------
    SchemaError
        If a block differs in kind or in its number of columns, or a table has no labelled row.

    See Also
    --------
    suffice.sums.divergence : The formulas.
    """
    _check_alike(a, b)
    names = _numbered(a) if names is None else names
    labels = of_fractions(*weights).at()
    if labels is None:
        raise SchemaError("a table has no labelled row", "a comparison needs rows on both sides")
    rows = float(weights[0].sum()), float(weights[1].sum())
    columns = _ordered(
        column
        for mine, theirs, block in zip(a, b, names, strict=True)
        for column in _columns(
            (mine.one_class, theirs.one_class), rows, tuple(block), mine.divergences(theirs)
        )
    )
    return Comparison(classes, rows, labels, columns)


def compared_unlabelled(
    a: Sequence[ClasswiseStatistic],
    b: Sequence[ClasswiseStatistic],
    rows: tuple[float, float],
    names: Sequence[Sequence[str]],
) -> Comparison:
    """Return what divides two tables without labels, as `compared` does.

    Parameters
    ----------
    a, b : sequences of ClasswiseStatistic
        The statistics of their blocks of columns, of one class.
    rows : tuple of two floats
        Σw of the rows of each.
    names : sequence of sequences of str
        Names of the columns of every block.
    """
    columns = _ordered(
        column
        for mine, theirs, block in zip(a, b, names, strict=True)
        for column in _columns((mine, theirs), rows, tuple(block))
    )
    return Comparison((), rows, None, columns)


def _ordered(columns: Iterable[ColumnComparison]) -> tuple[ColumnComparison, ...]:
    """The largest distance first; what nobody knows last."""
    return tuple(sorted(columns, key=lambda column: (column.overall is None, -column.distance)))


def _columns(
    sides: tuple[ClasswiseStatistic, ClasswiseStatistic],
    rows: tuple[float, float],
    names: tuple[str, ...],
    within: Divergences | None = None,
) -> Iterator[ColumnComparison]:
    """The comparisons of the columns of one block, and of all together if it is a joint one."""
    overall = sides[0].divergences(sides[1])
    shown = [side.total[0] / n for side, n in zip(sides, rows, strict=True)]
    for j in range(overall.hellinger.shape[1]):
        missing = [float(1 - fraction[min(j, len(fraction) - 1)]) for fraction in shown]
        yield ColumnComparison(
            names[j] if j < len(names) else ", ".join(names),
            overall.at(0, j),
            () if within is None else tuple(within.at(c, j) for c in range(len(within.hellinger))),
            (max(missing[0], 0.0), max(missing[1], 0.0)),
        )


def _numbered(blocks: Sequence[ClasswiseStatistic]) -> list[list[str]]:
    """Names x0, x1, ... of the columns of every block."""
    number = count()
    return [[f"x{next(number)}" for _ in range(block.d)] for block in blocks]


def _check_alike(a: Sequence[ClasswiseStatistic], b: Sequence[ClasswiseStatistic]) -> None:
    """Refuse tables of other blocks."""
    sides = [[(type(block).__name__, block.d) for block in side] for side in (a, b)]
    if sides[0] != sides[1]:
        first, second = (", ".join(f"{kind}({d})" for kind, d in side) for side in sides)
        raise SchemaError(
            f"the blocks of one table are {first}, those of the other {second}",
            "only tables of the same columns can be compared",
        )
