"""Comparisons: how far two tables are apart, column by column, from their sums alone.

::

    H² = 1 − ∫ √(pq)                    Hellinger's distance H, from 0 to 1
    J  = ∫ (p − q) log(p/q)             Jeffreys' divergence: of fractions, the population
                                        stability index (PSI)

H is known of every kind of column and on one scale, so it is what columns are ordered by. A missing
cell is a value like others: with shares m and m' of missing cells, 1 − m = o,

::

    1 − H² = √(mm') + √(oo') (1 − H_o²)
    2 log Λ = 2 log Λ_missing + 2 log Λ_o

of the divergences H_o and Λ_o of the cells that are there. A value that one table alone shows is
in H and in the test as any other. Tests of many columns are adjusted together, by Holm's method:
with p_(1) ≤ … ≤ p_(T), the i-th becomes the largest of (T − j + 1) p_(j), j ≤ i.

References
----------
S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).
H. Jeffreys, "An invariant form for the prior probability in estimation problems", Proc. R. Soc. A
186 (1946). L. Pardo, Statistical Inference Based on Divergence Measures (2006), sections 1.2 and
1.3. S. S. Wilks, "The large-sample distribution of the likelihood ratio", Ann. Math. Stat. 9
(1938).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.errors import SchemaError
from suffice.numerics.arrays import Floats
from suffice.numerics.in_print import Printed, Table, percent, probability
from suffice.phrases import amount, rows_in_print
from suffice.sums.vocabulary import Value

if TYPE_CHECKING:
    from suffice.sums.base import ClassSums

Pair = tuple[Floats, Floats]

SMOOTHING = 0.5  # pseudo-count of every fraction in J, which has no value for a fraction of 0
FEWEST_ROWS = 20.0  # on either side for a test of numbers
ROWS_PER_VALUE = 5.0  # on either side, on average, for a test of fractions
UNKNOWN = "-"
ROUNDING = 1e-12  # of the rows: fewer missing cells are none
LEVEL = 0.05  # of the tests of all columns together
SMALL, LARGE = 0.1, 0.25  # of J: what is usually called a moderate, and a large shift


# -- of two distributions


@dataclass(frozen=True)
class Divergence:
    """Distance of two distributions.

    Parameters
    ----------
    hellinger : float
        H, from 0 to 1.
    psi : float
        J in nats; of fractions, with half a row added to each. ∞ where a number of one side has no
        spread.
    p_value : float, optional
        Of the likelihood-ratio test that both are one distribution, a weight counted as so many
        rows. None where χ² would say little: fewer than 20 rows on a side (for fractions 5 per
        value), numbers without spread, and words, which depend on each other.
    p_adjusted : float, optional
        The p-value, adjusted for the tests of all columns; None where there is no test, and within
        classes.
    """

    hellinger: float
    psi: float
    p_value: float | None
    p_adjusted: float | None = field(default=None, compare=False)


class Divergences(NamedTuple):
    """Divergences of many pairs, arrays of one shape; NaN where a value is not known.

    ``ratio`` is 2 log Λ of the likelihood-ratio test, ``freedom`` its degrees of freedom.
    """

    hellinger: Floats
    psi: Floats
    ratio: Floats
    freedom: Floats

    @classmethod
    def side_by_side(cls, parts: list[Divergences]) -> Divergences:
        """Join divergences (k,) as columns of (k, d)."""
        return cls(*(np.stack(column, axis=1) for column in zip(*parts, strict=True)))

    def untested(self) -> Divergences:
        """Return them without a test: the counts are no rows that were drawn one by one."""
        return self._replace(ratio=np.full_like(self.ratio, np.nan))

    def with_missing(self, shown: Pair, rows: Pair) -> Divergences:
        """Count missing cells as a value of their own, where either side has any.

        Parameters
        ----------
        shown : pair of ndarray (k, d)
            Σw of the cells of either side that are there.
        rows : pair of ndarray (k,)
            Σw of all rows of either side.
        """
        cells = []
        for there, n in zip(shown, rows, strict=True):
            gone = n[:, None] - there
            gone = np.where(gone > ROUNDING * n[:, None], gone, 0.0)
            cells.append(np.stack([there, gone], axis=-1))
        alone = of_fractions(*cells)
        with np.errstate(invalid="ignore"):
            shares = [np.moveaxis(x / x.sum(axis=-1, keepdims=True), -1, 0) for x in cells]
        (o, m), (o2, m2) = shares
        counted = ((cells[0] + cells[1])[..., 1] > 0) & ~np.isnan(alone.hellinger)
        both = np.where(o * o2 > 0, 1 - self.hellinger**2, 0.0)
        overlap = np.sqrt(m * m2) + np.sqrt(o * o2) * both
        of_cells = np.where(o * o2 > 0, (o + o2) / 2 * self.psi, 0.0)
        untested = np.isnan(self.ratio)
        ratio = alone.ratio + np.where(untested, 0.0, self.ratio)
        freedom = alone.freedom + np.where(untested, 0.0, self.freedom)
        whole = np.sqrt(np.maximum(1 - overlap, 0.0)), alone.psi + of_cells, ratio, freedom
        return Divergences(*(np.where(counted, *pair) for pair in zip(whole, self, strict=True)))

    def at(self, *place: int) -> Divergence | None:
        """Return the divergence of one pair; None where a side has no rows."""
        hellinger, psi, ratio, freedom = (float(part[place]) for part in self)
        if np.isnan(hellinger):
            return None
        from scipy.special import chdtrc

        return Divergence(
            hellinger,
            psi,
            None if np.isnan(ratio) else float(chdtrc(freedom, ratio)) if freedom else 1.0,
        )


def of_fractions(a: Floats, b: Floats) -> Divergences:
    """Compare counts (..., m) of the same m values, p = a/n_a and q = b/n_b.

    ::

        H² = ½ Σ (√p − √q)²
        2 log Λ = 2 Σ a log(p/r) + 2 Σ b log(q/r),  r = (a + b)/(n_a + n_b),  m − 1 degrees

    where the test counts the values that either side shows.

    Parameters
    ----------
    a, b : ndarray (..., m)
        Counts of the values on either side.

    Examples
    --------
    >>> found = of_fractions(np.array([8.0, 2.0]), np.array([2.0, 8.0])).at()
    >>> round(found.hellinger, 4), round(found.p_value, 4)  # √(1/5), ...
    (0.4472, 0.0055)
    """
    n, m = (x.sum(axis=-1, keepdims=True) for x in (a, b))
    seen = (n > 0) & (m > 0)
    p, q, r = (
        np.divide(x, total, out=np.zeros(np.broadcast_shapes(x.shape, seen.shape)), where=seen)
        for x, total in ((a, n), (b, m), (a + b, n + m))
    )
    values = (a + b > 0).sum(axis=-1)
    freedom = np.maximum(values - 1.0, 0.0)
    with np.errstate(invalid="ignore"):
        smooth = SMOOTHING * a.shape[-1]
        u, v = (a + SMOOTHING) / (n + smooth), (b + SMOOTHING) / (m + smooth)
        psi = ((u - v) * np.log(u / v)).sum(axis=-1)
    ratio = 2 * (n[..., 0] * _relative(p, r) + m[..., 0] * _relative(q, r))
    enough = np.minimum(n, m)[..., 0] >= ROWS_PER_VALUE * values
    known, distance = seen[..., 0], np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1) / 2)
    return Divergences(
        np.where(known, np.minimum(distance, 1.0), np.nan),
        np.where(known, psi, np.nan),
        np.where(known & enough, ratio, np.nan),
        freedom,
    )


def _relative(p: Floats, q: Floats) -> Floats:
    """Σ p log(p/q), (...); rounding makes nothing negative."""
    from scipy.special import rel_entr

    return np.asarray(np.maximum(rel_entr(p, q).sum(axis=-1), 0.0))


def of_gaussians(weights: Pair, variances: Pair, shift: Floats) -> Divergences:
    """Compare numbers by their means and variances, as if they were Gaussian.

    With δ = μ_a − μ_b and s = σ_a² + σ_b²:

    ::

        H² = 1 − √(2σ_a σ_b/s) exp(−δ²/4s)
        J  = ½ [(σ_a/σ_b − σ_b/σ_a)² + δ²/σ_a² + δ²/σ_b²]
        2 log Λ = n log σ²/σ_a² + m log σ²/σ_b²,  2 degrees,
        σ² = (nσ_a² + mσ_b²)/(n + m) + nm δ²/(n + m)²

    Numbers without spread are a distribution of one value.

    Parameters
    ----------
    weights : pair of ndarray
        n and m, Σw of either side.
    variances : pair of ndarray
        σ_a² and σ_b²: Σw(x − x̄)²/Σw.
    shift : ndarray
        δ.

    Examples
    --------
    >>> one, hundred = np.array(1.0), np.array(100.0)
    >>> found = of_gaussians((hundred, hundred), (one, one), one).at()
    >>> round(found.hellinger, 4), round(found.psi, 4)  # √(1 − exp(−1/8)), 1
    (0.3428, 1.0)
    """
    (n, m), (variance_a, variance_b) = weights, variances
    sd_a, sd_b = np.sqrt(variance_a), np.sqrt(variance_b)
    s = variance_a + variance_b
    known, equal = (n > 0) & (m > 0), (s == 0) & (shift == 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_overlap = (
            np.log1p(-np.minimum((sd_a - sd_b) ** 2 / s, 1.0)) / 2 - (shift / np.sqrt(s)) ** 2 / 4
        )
        hellinger = np.sqrt(-np.expm1(np.where(s > 0, log_overlap, -np.inf)))
        psi = (sd_a / sd_b - sd_b / sd_a) ** 2 + (shift / sd_a) ** 2 + (shift / sd_b) ** 2
        spread = (variance_a > 0) & (variance_b > 0)
        total, a, b = n + m, n / (n + m), 1 - n / (n + m)
        pooled = a * variance_a + b * variance_b + a * b * shift**2
        ratio = n * np.log(pooled / variance_a) + m * np.log(pooled / variance_b)
    tested = known & spread & (np.minimum(n, m) >= FEWEST_ROWS)
    return Divergences(
        np.where(known, np.where(equal, 0.0, hellinger), np.nan),
        np.where(known, np.where(equal, 0.0, np.where(spread, psi / 2, np.inf)), np.nan),
        np.where(tested, np.maximum(ratio, 0.0), np.nan),
        np.full(np.shape(total), 2.0),
    )


# -- of two tables


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
    """Drift between two tables; it prints as a table.

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
    left_out : tuple of str
        Columns that tell one row from another in both tables, and are not compared.
    """

    classes: tuple[Value, ...]
    rows: tuple[float, float]
    labels: Divergence | None
    columns: tuple[ColumnComparison, ...]
    left_out: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Return what has changed, in a sentence: by tests at 5 % together, and the most by H."""
        apart = {one.column: one.overall for one in self.columns if one.overall is not None}
        if self.labels is not None:
            apart["the labels"] = self.labels
        tested = {name: p for name, one in apart.items() if (p := one.p_adjusted) is not None}
        most = max(apart, key=lambda name: apart[name].hellinger, default="")
        if not most or apart[most].hellinger == 0:
            return "Nothing has changed."
        shift = apart[most].psi
        size = "small" if shift < SMALL else "moderate" if shift <= LARGE else "large"
        by = f"{most}, Hellinger {apart[most].hellinger:.2f}, a {size} shift"
        if not tested:
            return f"Too few rows for tests; the most apart: {by}."
        changed = {name for name, p in tested.items() if p < LEVEL}
        if not changed:
            least = probability(min(tested.values()))
            return f"No change is found (least p {least} by Holm); the most apart: {by}."
        columns = len(changed - {"the labels"})
        what = ["the labels"] if "the labels" in changed else []
        what += [f"{columns} of {len(self.columns)} columns"] if columns else []
        said = " and ".join(what).capitalize()
        return f"{said} changed (p < {LEVEL} by Holm); the most: {by}."

    def above(self, distance: float) -> tuple[str, ...]:
        """Return the columns that are further apart, the most first, and "(labels)" before all.

        Parameters
        ----------
        distance : float
            Of Hellinger, from 0 to 1.
        """
        labels = self.labels is not None and self.labels.hellinger > distance
        names = (one.column for one in self.columns if one.distance > distance)
        return (*["(labels)"] * labels, *names)

    def most_within(self, column: ColumnComparison) -> tuple[Value, Divergence] | None:
        """Return the class whose rows differ most in a column, and how much; None if unknown."""
        pairs = zip(self.classes, column.within, strict=True)
        known = [(label, found) for label, found in pairs if found is not None]
        return max(known, key=lambda pair: pair[1].hellinger, default=None)

    def table(self) -> Table:
        """Return the divergences as a table, with the class that differs most in a column.

        p is adjusted for all tests.
        """
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
        notes = [f"{amount(self.rows[0])} and {rows_in_print(self.rows[1])}{remark}"]
        if self.left_out:
            notes.append(f"not compared, as each row has its own: {', '.join(self.left_out)}")
        return Table(
            self.verdict,
            header,
            rows,
            notes,
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
    if found is None:
        return [UNKNOWN] * 3
    p = UNKNOWN if found.p_adjusted is None else probability(found.p_adjusted)
    psi = f"{found.psi:.4g}" if np.isfinite(found.psi) else "∞"
    return [f"{found.hellinger:.4f}", psi, p]


def compared(
    a: Sequence[ClassSums],
    b: Sequence[ClassSums],
    names: Sequence[Sequence[str]],
    rows: tuple[float, float],
    classes: tuple[Value, ...] = (),
    weights: Pair | None = None,
    left_out: Collection[str] = (),
) -> Comparison:
    """Compare two tables of the same columns.

    Numbers are compared by mean and variance, as Gaussians; over all classes these are the moments
    of the mixture. Categories, outcomes, words and counts are compared by their fractions;
    columns of counts each by its fraction of all counts, and columns that are modelled by a joint
    table one by one and then together.

    Parameters
    ----------
    a, b : sequences of ClassSums
        The sums of their blocks of columns, over the same classes; of one class without labels.
    names : sequence of sequences of str
        Names of the columns of every block.
    rows : tuple of two floats
        Σw of the rows of each; of the labelled ones, if the tables have labels.
    classes : tuple
        The k labels.
    weights : tuple of two ndarrays (k,), optional
        Σw of the rows of each class, of each table; None if the tables have no labels.
    left_out : collection of str
        Columns that are not compared.
    """
    sides = [[(type(block).__name__, block.d) for block in side] for side in (a, b)]
    if sides[0] != sides[1]:
        first, second = (", ".join(f"{kind}({d})" for kind, d in side) for side in sides)
        raise SchemaError(
            f"the blocks of one table are {first}, those of the other {second}",
            "only tables of the same columns can be compared",
        )
    labels = None if weights is None else of_fractions(*weights).at()
    columns = [
        column
        for mine, theirs, block in zip(a, b, names, strict=True)
        for column in _columns(mine, theirs, rows, tuple(block), weights)
        if column.column not in left_out
    ]
    columns.sort(key=lambda column: (column.overall is None, -column.distance))
    labels, *overall = _adjusted([labels, *(column.overall for column in columns)])
    adjusted = [replace(one, overall=found) for one, found in zip(columns, overall, strict=True)]
    return Comparison(classes, rows, labels, tuple(adjusted), tuple(left_out))


def _adjusted(found: Sequence[Divergence | None]) -> list[Divergence | None]:
    """Adjust the p-values for each other, by Holm's method."""
    tests = [one.p_value for one in found if one is not None and one.p_value is not None]
    tests.sort()
    times = range(len(tests), 0, -1)
    upto = accumulate((min(1.0, n * p) for n, p in zip(times, tests, strict=True)), max)
    by_p = dict(zip(tests, upto, strict=True))  # of equal ones the last, which is the largest
    return [
        one and replace(one, p_adjusted=None if one.p_value is None else by_p[one.p_value])
        for one in found
    ]


def _columns(
    mine: ClassSums,
    theirs: ClassSums,
    rows: tuple[float, float],
    names: tuple[str, ...],
    weights: Pair | None,
) -> Iterator[ColumnComparison]:
    """The comparisons of the columns of one block, and of all together if it is a joint one."""
    sides = mine, theirs
    within = None if weights is None else _with_missing(sides, weights)
    whole = sides if weights is None else (mine.one_class, theirs.one_class)
    overall = _with_missing(whole, (np.array(rows[:1]), np.array(rows[1:])))
    shown = [side.total[0] / n for side, n in zip(whole, rows, strict=True)]
    for j in range(overall.hellinger.shape[1]):
        missing = [float(1 - fraction[min(j, len(fraction) - 1)]) for fraction in shown]
        yield ColumnComparison(
            names[j] if j < len(names) else ", ".join(names),
            overall.at(0, j),
            () if within is None else tuple(within.at(c, j) for c in range(len(within.hellinger))),
            (max(missing[0], 0.0), max(missing[1], 0.0)),
        )


def _with_missing(sides: tuple[ClassSums, ClassSums], rows: Pair) -> Divergences:
    """The divergences of blocks whose classes have so many rows (k,); see `with_missing`."""
    found = sides[0].divergences(sides[1])
    columns = np.arange(found.hellinger.shape[1])
    shown = [side.total[:, np.minimum(columns, side.total.shape[1] - 1)] for side in sides]
    return found.with_missing((shown[0], shown[1]), rows)
