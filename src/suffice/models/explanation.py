"""Explanations: predictions as sums over columns; one table of them for every place they show."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.table_source import TableSource
from suffice.data.words import split_words
from suffice.errors import ParameterError
from suffice.models.base.checks import require_place
from suffice.models.reading import open_rows
from suffice.numerics.elementary import exp, log_of
from suffice.numerics.in_print import Printed, Table, odds, percent, short, signed
from suffice.numerics.logspace import log_normalise, row_sums
from suffice.numerics.rows import is_sparse
from suffice.phrases import rows_in_print

ROWS, COLUMNS, WORDS = 3, 20, 8  # in print: of a table, of a row, of a text
ONCE = 0.995  # a column of less weight is named
Unit = Literal["nats", "decibans"]
UNITS = {"nats": ("log-odds", 1.0), "decibans": ("decibans", 10 / log_of(10))}

Array = NDArray[np.float64]


class Contribution(NamedTuple):
    """Contribution of one column to the t numbers of a prediction."""

    column: str
    value: Any  # None where it is missing or unknown
    cell: str  # in print; empty where it is unknown, as of a product of columns
    adds: Array  # (t,)
    words: Mapping[str, Array]  # of a text: what each adds, (t,), the largest first
    weight: float  # how often the column counts


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation(Printed):
    """One prediction: where it starts, what every column adds, where it ends.

    Of a classifier the only number is the log-odds of ``prediction`` against another class.
    """

    row: int  # from 0
    outputs: tuple[str, ...]  # what the t numbers are
    start: tuple[str, Array]  # its name, (t,)
    contributions: tuple[Contribution, ...]  # the largest first
    end: str  # the name of the sum
    prediction: Any = None
    against: Any = None
    probability: float | None = None  # of the prediction, and its 95 % interval
    interval: tuple[float, float] | None = None
    nats: float | None = None  # one nat in the unit of the log-odds; None of a regression

    @property
    def total(self) -> Array:
        """Return the start plus what all columns add, (t,)."""
        return self.start[1] + sum(one.adds for one in self.contributions)

    def table(self) -> Table:
        """Return the start, the columns, the largest first, and the sum."""
        shown, rest = self.contributions[:COLUMNS], self.contributions[COLUMNS:]
        nothing = np.full(len(self.outputs), np.nan)
        lines = [(self.start[0], "", self.start[1], nothing if self.nats is None else None)]
        for one in shown:
            lines.append((one.column, one.cell, one.adds, None))
            if len(one.words) > 1:
                words, others = list(one.words.items())[:WORDS], list(one.words.values())[WORDS:]
                lines += [("", word, adds, nothing) for word, adds in words]
                if others:
                    name = f"({_others(len(others), 'word')})"
                    lines.append(("", name, np.sum(others, axis=0), nothing))
        if rest:
            adds = np.sum([one.adds for one in rest], axis=0)
            lines.append((_others(len(rest), "column"), "", adds, None))
        lines.append((self.end, "", self.total, nothing))
        light = [f"{one.column} {one.weight:.2f}" for one in shown if one.weight < ONCE]
        is_odds = self.nats is not None
        return Table(
            self._title(),
            ["", "value", *self.outputs, *["odds"] * is_odds],
            [[name, cell, *self._in_print(adds)] for name, cell, adds, _ in lines],
            [f"Weights of columns that repeat each other: {', '.join(light)}."] if light else [],
            left=(0, 1, *[3] * is_odds),
            bars=[float((adds if bar is None else bar)[0]) for _, _, adds, bar in lines],
        )

    def _title(self) -> str:
        if self.probability is None:
            return f"Row {self.row + 1}"
        ends = self.interval and f" (95 % interval: {' to '.join(map(percent, self.interval))})"
        said = f"{self.prediction}, with probability {percent(self.probability)}"
        return f"Row {self.row + 1}: {said}{ends or ''}"

    def _in_print(self, adds: Array) -> list[str]:
        if self.nats is None:
            return [f"{value + 0.0:.6g}" for value in adds.tolist()]
        (value,) = adds.tolist()
        return [signed(value), odds(value / self.nats)]


def _others(number: int, noun: str) -> str:
    return f"{number:,} other {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class Asked:
    """The model and the rows of an explanation; cells are read when they are shown."""

    model: Any
    X: Any

    def row(self, at: int) -> tuple[Any, dict[str, Any]]:
        """Return one row as a table that the model reads, and its cells by column."""
        source = open_rows(self.model, self.X)
        if not isinstance(source, TableSource):
            x = source.x[[at]]
            cells = (x.toarray() if is_sparse(x) else x)[0].tolist()
            return x, dict(zip(source.names, cells, strict=True))
        table = source.table
        batches: Iterable[pa.RecordBatch] = [table.head()]
        if at >= table.shown.rows:
            parts = table.parts(dict.fromkeys(table.names))
            batches = (batch for part in parts for batch in part.record_batches())
        for batch in batches:
            if at < batch.num_rows:
                one = pa.Table.from_batches([batch.slice(at, 1)])
                return one, one.to_pylist()[0]
            at -= batch.num_rows
        return None, {}  # rows that could be read once

    @property
    def weights(self) -> Mapping[str, float]:
        """Return how often columns count, where weights are fitted to each."""
        model = self.model.model_
        weighed = getattr(model, "calibration", None) and getattr(model, "pairs", None) is None
        return model.column_weights if weighed else {}

    def words(self, one: Any) -> dict[str, dict[str, Array]]:
        """Return what every word of a row adds, by column: arrays (k,) or (t,).

        Counts of words enter log-likelihoods one by one, so the words of a text add up to what the
        text adds, but for what a text without words does.
        """
        found: dict[str, dict[str, Array]] = {}
        blocks = [block for block in self.model.reader_.layout.blocks if block.encoding == "events"]
        for name in (name for block in blocks for name in block.columns):
            text = one[name][0].as_py() if name in one.column_names else None
            if not isinstance(text, str):
                continue
            counted = split_words([text])
            words = counted.vocabulary.values
            alone = [" ".join([word] * int(n)) for word, n in zip(words, counted.data, strict=True)]
            rows = one.take(pa.array([0] * (1 + len(words))))
            place = one.column_names.index(name)
            explained = self.model.explain(rows.set_column(place, name, pa.array(["", *alone])))
            if words and name in explained.columns:
                added = explained.contributions[:, explained.columns.index(name)]
                with np.errstate(invalid="ignore"):
                    found[name] = dict(zip(words, added[1:] - added[0], strict=True))
        return found

    def interval(self, one: Any, c: int) -> tuple[float, float] | None:
        try:
            low, high = self.model.predict_proba_interval(one)[0, c].tolist()
        except ParameterError:
            return None
        return low, high


class Explanation(Printed):
    """Contributions of all columns to the predictions of all rows, as arrays."""

    columns: tuple[str, ...]  # d
    contributions: Array  # (n, d, t)
    asked: Asked | None  # for cells, words and intervals in print

    @abstractmethod
    def row(self, row: int = 0) -> RowExplanation:
        """Return the explanation of one row."""

    def table(self) -> Table:
        """Return the first rows, each as `row` has it; and how many more there are."""
        n = len(self.contributions)
        if not n:
            return Table(f"{type(self).__name__}(0 rows)", [], [])
        first, *others = [self.row(at).table() for at in range(min(n, ROWS))]
        last = [Table(f"{rows_in_print(n)}; row({ROWS}) shows the next", [], [])] * (n > ROWS)
        return replace(first, below=[*others, *last])

    def _require(self, row: int) -> None:
        n = len(self.contributions)
        if not 0 <= row < n:
            raise ParameterError(f"there is no row {row}", f"rows count from 0 to {n - 1}")

    def _contributions(
        self, row: int, of: Callable[[Array], Array]
    ) -> tuple[Any, tuple[Contribution, ...]]:
        """Return a row as a table, and what its columns add: ``of`` arrays (..., k) or (..., t)."""
        one, cells = self.asked.row(row) if self.asked else (None, {})
        words = self.asked.words(one) if self.asked and isinstance(one, pa.Table) else {}
        weights = self.asked.weights if self.asked else {}
        found = []
        for name, adds in zip(self.columns, of(self.contributions[row]), strict=True):
            of_words = {word: of(added) for word, added in words.get(name, {}).items()}
            found.append(
                Contribution(
                    name,
                    cells.get(name),
                    short(cells[name]) if name in cells else "",
                    adds,
                    dict(sorted(of_words.items(), key=lambda item: _size(item[1]), reverse=True)),
                    weights.get(name, 1.0),
                )
            )
        return one, tuple(sorted(found, key=lambda one: _size(one.adds), reverse=True))


def _size(adds: Array) -> float:
    return float(np.abs(adds).max())


def _log_odds(adds: Array, c: int, against: int) -> Array:
    """Return the difference of two classes of an array (..., k); 0 where both are impossible."""
    with np.errstate(invalid="ignore"):
        found = adds[..., c] - adds[..., against]
    return np.nan_to_num(found, nan=0.0, posinf=np.inf, neginf=-np.inf)


@dataclass(frozen=True, repr=False)
class Evidence(Explanation):
    """Log-likelihoods of every cell under every class, in nats.

    The log joint is ``log_prior + contributions.sum(axis=1)``; the difference of two classes is
    the evidence for one against the other. A missing cell contributes 0.

    Parameters
    ----------
    columns : tuple of str
        The d columns.
    classes : tuple
        The k labels.
    log_prior : ndarray (k,)
        log P(c).
    contributions : ndarray (n, d, k)
        log p(x_j | c); of columns that are modelled together, log p(x_j | c, those before x_j).
    start : str
        What there is before any column is looked at: the prior. Of a logistic regression it is the
        average row: its scores b_c + x̄ᵀw_c stand in the place of the log prior, and
        (x_j − x̄_j) w_cj in that of log p(x_j | c), up to a term that all classes share.
    asked : Asked, optional

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = {"size": [1.0, 1.2, 5.0, 5.5], "hue": ["red", "red", "blue", "red"]}
    >>> model = NaiveBayes.textbook().fit(rows, list("aabb"))
    >>> print(model.explain({"hue": "blue"}))
    Row 1: b, with probability 66.7 % (95 % interval: 8.3 % to 98.8 %)
           value    log-odds of b against a  odds
    prior                              0.00  even
    hue    blue                       +0.69  2 to 1 for
    size   missing                     0.00  even
    sum                               +0.69  2 to 1 for
    """

    columns: tuple[str, ...]
    classes: tuple[Any, ...]
    log_prior: Array
    contributions: Array
    start: str = "prior"
    asked: Asked | None = None

    def row(
        self, row: int = 0, *, unit: Unit = "nats", label: Any = None, against: Any = None
    ) -> RowExplanation:
        """Return what every column of a row says for one class against another.

        Parameters
        ----------
        row : int
            From 0.
        unit : {"nats", "decibans"}
            Of log-odds: natural logarithms, or ten times those to the base 10.
        label, against : label, optional
            By default the most probable class, and the next.

        Raises
        ------
        ParameterError
            If there is no such row, class or unit, or only one class.
        """
        self._require(row)
        if unit not in UNITS:
            raise ParameterError(f"unit={unit!r}", f"it is one of {', '.join(UNITS)}")
        name, scale = UNITS[unit]
        c, b = self._two_classes(row, label, against)

        def of(adds: Array) -> Array:
            return scale * _log_odds(adds, c, b)[..., None]

        with warnings.catch_warnings(action="ignore"):  # the rows were answered before
            one, contributions = self._contributions(row, of)
            interval = self.asked.interval(one, c) if self.asked and one is not None else None
        return RowExplanation(
            row,
            (f"{name} of {self.classes[c]} against {self.classes[b]}",),
            (self.start, of(self.log_prior)),
            contributions,
            "sum",
            self.classes[c],
            self.classes[b],
            float(self.probabilities[row, c]),
            interval,
            scale,
        )

    def table(self) -> Table:
        if len(self.classes) < 2:
            return Table(f"Evidence: every row is {', '.join(map(str, self.classes))}", [], [])
        return super().table()

    def _two_classes(self, row: int, label: Any, against: Any) -> tuple[int, int]:
        """Choose the class that is explained, and the one that it is measured against."""
        ranked = np.argsort(-self.log_joint[row], kind="stable").tolist()
        if len(ranked) < 2:
            raise ParameterError(
                f"the model has one class, {self.classes[0]!r}",
                "an explanation compares two",
                "fit it to rows of another class",
            )
        other = None if against is None else require_place(against, self.classes, "class")
        if label is None:
            one = next(c for c in ranked if c != other)
        else:
            one = require_place(label, self.classes, "class")
        return one, next(c for c in ranked if c != one) if other is None else other

    @property
    def log_joint(self) -> Array:
        """Return log P(x, c), (n, k)."""
        return self.log_prior + row_sums(self.contributions)

    @property
    def probabilities(self) -> Array:
        """P(c | x), (n, k)."""
        return exp(log_normalise(self.log_joint, self.log_prior)[0])

    def log_odds(self, c: int, against: int) -> tuple[Array, Array]:
        """Evidence for class ``c`` against another, in nats.

        Returns
        -------
        prior : ndarray ()
            log P(c) − log P(against).
        columns : ndarray (n, d)
            What every column adds.
        """
        return _log_odds(self.log_prior, c, against), _log_odds(self.contributions, c, against)


@dataclass(frozen=True, repr=False)
class Effects(Explanation):
    """The contribution of every column to ŷ, compared with the average row.

    ::

        ŷ = b + x̄ᵀw + Σ_j (x_j − x̄_j) w_j

    Of a category it is the sum over its indicators. The effects are in units of the target, and
    add up to the prediction; or both are of the function of it that a formula has on its left.

    Parameters
    ----------
    columns : tuple of str
        The d columns.
    targets : tuple of str
        The t targets.
    average : ndarray (t,)
        b + x̄ᵀw: what is predicted for the average row.
    contributions : ndarray (n, d, t)
        (x_j − x̄_j) w_j.
    asked : Asked, optional

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [1.0, 0.0, 4.0])
    >>> found = model.explain([[2.0, 0.0]])
    >>> found.average.round(9), found.contributions[0, :, 0].round(9), found.predictions.round(9)
    (array([1.66666667]), array([ 0.66666667, -1.66666667]), array([[0.66666667]]))
    """

    columns: tuple[str, ...]
    targets: tuple[str, ...]
    average: Array
    contributions: Array
    asked: Asked | None = None

    def row(self, row: int = 0) -> RowExplanation:
        self._require(row)
        with warnings.catch_warnings(action="ignore"):  # the rows were answered before
            _, found = self._contributions(row, np.asarray)
        return RowExplanation(row, self.targets, ("average row", self.average), found, "prediction")

    @property
    def predictions(self) -> Array:
        """ŷ, (n, t)."""
        return self.average + row_sums(self.contributions)
