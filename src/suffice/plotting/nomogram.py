"""The instrument of paper and ruler: points of every value, their total, and the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from suffice.data.spelling import TRUTH
from suffice.errors import ParameterError
from suffice.families.joint_table import JointTableParameters
from suffice.families.multivariate_gaussian import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.models.base.checks import require_place
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.design.bins import span
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.terms import TermParameters
from suffice.plotting.cells import POINTS, Cells, cells_of, rows_with
from suffice.plotting.style import INK, QUIET, figure_of, shortened, sized_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, TALL = 7.3, 0.46  # inches: A4 less its margins, and a row
MOST_VALUES = 12  # of a column that have names
LEVELS = (4, 11)  # how far above a line, or below it, names may stand
LETTER, SMALL = 1.0, 6.5  # width of a letter of a name, in points of the scale; size of the font
BESIDE, LINES = 62, 3  # points of a scale that leaves room for a list beside it; lines of that
REACH = 2.0  # standard deviations that numbers go to either side, where no density is known
SAME = 1e-9
PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
JOINED = (
    JointTableParameters,
    TermParameters,
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)

Array = NDArray[np.float64]


class NomogramDisplay:
    """Points of every value of every column, whose total gives the answer, without a computer.

    The column that can add the most has points from 0 to 100. With s points to a nat (to a unit of
    the target, of a regression) and the least addition m_j of each column::

        points_j(x) = s (f_j(x) − m_j)
        log P(a | x) − log P(b | x) = f_0 + Σ_j f_j(x_j) = f_0 + Σ_j m_j + total / s

    Where densities are not monotone, values that stand above a line add more the larger they are,
    and those below it add less.

    Parameters
    ----------
    start : float
        f_0.
    columns : sequence of (Cells, ndarray (m,))
        m values of a column, and f_j of each.
    target : str
        What is predicted.
    classes : tuple of two labels, optional
        a and b; none of a regression.
    unknown : bool
        Whether a cell may be unknown, which then adds 0.
    others : bool
        Whether the model has other classes than these two.
    left_out : sequence of str
        Columns that no list of values shows, such as texts.
    most : int
        How many columns are drawn; the others count as unknown, or as their middle.

    Attributes
    ----------
    points : dict from column to ndarray (m,)
        Of the values ``values[column]``; columns that are drawn, the widest first.
    values : dict from column to ndarray (m,)
    scale : float
        s.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Notes
    -----
    Source: J. Lubsen, J. Pool, E. van der Does, A practical device for the application of a
    diagnostic or prognostic function (1978); for naive Bayes, M. Možina, J. Demšar, M. Kattan,
    B. Zupan, Nomograms for visualization of naive Bayesian classifier (2004).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from suffice import NaiveBayes
    >>> fruit = {"hue": ["red", "red", "blue", "red"], "skin": ["dry", "dry", "dry", "wet"]}
    >>> model = NaiveBayes.textbook().fit(fruit, ["apple", "apple", "plum", "plum"])
    >>> display = NomogramDisplay.from_estimator(model)
    >>> display.values["hue"].tolist(), display.points["hue"].round(1).tolist()
    (['blue', 'red'], [100.0, 0.0])
    >>> total = display.total({"hue": "red", "skin": "dry"})
    >>> p = model.predict_proba({"hue": ["red"], "skin": ["dry"]})[0, 1]
    >>> round(display.answer(total), 4), round(float(p), 4)
    (0.3077, 0.3077)
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        start: float,
        columns: Sequence[tuple[Cells, Array]],
        target: str,
        classes: tuple[Any, Any] | None = None,
        unknown: bool = False,
        others: bool = False,
        left_out: Sequence[str] = (),
        most: int = 14,
    ) -> None:
        telling = [(cells, adds) for cells, adds in columns if np.ptp(adds) > 0]
        if not telling:
            raise _without_scales()
        telling.sort(key=lambda one: -float(np.ptp(one[1])))
        self.target, self.classes, self.unknown, self.others = target, classes, unknown, others
        self.left_out, self.hidden = tuple(left_out), len(telling[most:])
        self.scale = 100 / float(np.ptp(telling[0][1]))
        self.cells = {cells.column: cells for cells, _ in telling[:most]}
        self.values = {name: cells.values for name, cells in self.cells.items()}
        least = {cells.column: float(adds.min()) for cells, adds in telling[:most]}
        self.points = {
            cells.column: self.scale * (adds - adds.min()) for cells, adds in telling[:most]
        }
        self._least = start + sum(least.values())  # the answer to a total of 0
        self._unknown = {name: -self.scale * low for name, low in least.items()}

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        label: Any = None,
        against: Any = None,
        most: int = 14,
        ax: Axes | None = None,
    ) -> Self:
        """Draw naive Bayes, linear discriminant analysis, a linear or a logistic regression.

        A scale goes as far as rows that the model draws; linear and logistic regression know means
        and standard deviations alone, and go two of these to either side.

        Parameters
        ----------
        model : estimator
        label, against : label, optional
            The class that points speak for, the last one by default, and the one that it is
            weighed against, which has to be named where there are more than two. Of a regression
            of several targets, the target.
        most : int
            How many columns are drawn, those that can add the most: 14 and their scales fill a
            page of A4.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the answers are no sums over single columns, such as those of quadratic discriminant
            analysis, of pairs of columns, and of averages; if there is no such class.
        """
        check_is_fitted(model)
        unknown = _leaves_out_missing_cells(model)
        columns, left_out = _columns_of(model)
        target, classes, answered = _answers_of(model, label, against)
        if not columns:
            raise _without_scales()
        base = {
            one.column: one.values[len(one.values) // 2 if one.are_numbers else 0]
            for one in columns
        }
        rows = {name: [None if unknown else cell] for name, cell in base.items()}
        for one in columns:  # each is moved on its own
            for name, cells in rows.items():
                cells += one.values.tolist() if name == one.column else cells[:1] * len(one.values)
        answers = answered(rows_with(model, rows))
        stops = np.cumsum([1, *(len(one.values) for one in columns)]).tolist()
        adds = [answers[i:j] - answers[0] for i, j in pairwise(stops)]
        for one, each in zip(columns, adds, strict=True):
            if not np.isfinite(each).all():
                raise ParameterError(
                    f"a value of column {one.column!r} is impossible in a class",
                    "points are finite",
                    "fit the model with alpha above 0",
                )
        others = len(getattr(model, "classes_", ())) > 2
        start, pairs = float(answers[0]), list(zip(columns, adds, strict=True))
        return cls(start, pairs, target, classes, unknown, others, left_out, most).plot(ax=ax)

    def total(self, row: Mapping[str, Any]) -> float:
        """Return the points of a row together; a column without a cell is unknown.

        Raises
        ------
        ParameterError
            If the model needs a cell that is not given, or a value has no points.
        """
        found = 0.0
        for name, cells in self.cells.items():
            cell = row.get(name)
            if cell is None and not self.unknown:
                raise ParameterError(f"there is no cell of {name!r}", "this model needs every cell")
            if cell is None:
                found += self._unknown[name]
            elif cells.are_numbers:
                found += float(np.interp(cell, cells.values, self.points[name]))
            else:
                values = list(cells.values)
                if isinstance(cell, str) and values == [False, True]:
                    cell = _truth(cell)
                if cell not in values:
                    raise ParameterError(
                        f"{cell!r} of column {name!r} has no points",
                        "the training rows did not show it",
                        "leave it out" if self.unknown else "take another value",
                    )
                found += float(self.points[name][values.index(cell)])
        return found

    def answer(self, total: float) -> float:
        """Return P(a | x, a or b) of a total, or the prediction."""
        found = self._least + total / self.scale
        return found if self.classes is None else float(1 / (1 + np.exp(-found)))

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the scales on the axes given, or on new ones."""
        rows = len(self.cells) + 3
        ax = sized_axes(ax, WIDE, TALL * (rows + 1.4))
        ax.set_xlim(-2, 102)
        ax.set_ylim(rows - 0.4, -0.8)
        for side in ("top", "right", "bottom", "left"):
            ax.spines[side].set_visible(False)
        ax.tick_params(length=0)
        ax.set_xticks([])
        tens = np.arange(0, 101, 10.0)
        ax.vlines(tens, 0, rows - 3, color=QUIET, linewidth=0.4, alpha=0.5)
        _line(ax, 0, tens, [f"{at:g}" for at in tens])
        for row, name in enumerate(self.cells, 1):
            self._draw_column(ax, row, name)
        most = sum(float(points.max()) for points in self.points.values())
        ticks = _round(0, most, 10)
        _line(ax, rows - 2, 100 * ticks / most, [f"{tick:g}" for tick in ticks])
        low, high = self.answer(0.0), self.answer(most)
        if self.classes is None:
            shown, named = _round(low, high, 10), shortened(self.target)
            sums, title = shown, f"{named}: add up the points, and read it below the total"
        else:
            shown = np.array([p for p in PROBABILITIES if low <= p <= high])
            sums = np.log(shown) - np.log1p(-shown)
            a, b = map(shortened, self.classes)
            title = f"{shortened(self.target)}: {a}, against {b}"
            named = f"P({shortened(a, 16)})" + (", of the two" if self.others else "")
        answers = 100 * self.scale * (sums - self._least) / most
        _line(ax, rows - 1, answers, [f"{value:g}" for value in shown])
        names = ["points", *map(shortened, self.cells), "total", named]
        ax.set_yticks(range(rows), names, fontsize="small")
        ax.set_title(title, fontsize="medium", loc="left")
        how = "unknown" if self.unknown else "in the middle"
        notes = [f"{self.hidden:,} more columns are taken as {how}"] if self.hidden else []
        if self.left_out:
            notes.append(f"without {', '.join(map(shortened, self.left_out[:3]))}")
        ax.set_xlabel("; ".join(notes), fontsize="small", loc="left")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _draw_column(self, ax: Axes, row: int, name: str) -> None:
        """Draw the scale of one column: round numbers, or names, where their points are."""
        cells, points = self.cells[name], self.points[name]
        if cells.are_numbers:
            ticks = _round(cells.values[0], cells.values[-1], 8)
            at, names = np.interp(ticks, cells.values, points), [f"{tick:g}" for tick in ticks]
            above = np.interp(ticks, cells.values, np.gradient(points, cells.values)) >= 0
        else:
            kept = np.arange(len(points))
            if len(kept) > MOST_VALUES:  # those in even steps from the least to the most
                order = np.argsort(points, kind="stable")
                kept = order[np.linspace(0, len(order) - 1, MOST_VALUES).round().astype(np.intp)]
            at, names = points[kept], [shortened(cells.values[i], 20) for i in kept.tolist()]
            above = np.ones(len(at), np.bool_)
        if self.unknown:
            at, names = np.append(at, self._unknown[name]), [*names, "unknown"]
            above = np.append(above, False)
        _line(ax, row, at, names, above, float(points.max()))


def _without_scales() -> ParameterError:
    fact = "no column says anything that a list of values shows"
    return ParameterError(fact, "a nomogram has a scale for each column")


def _truth(cell: str) -> Any:
    """Read a truth value as files spell it; any other word as it is."""
    word = pa.array([cell])
    return TRUTH.read(word)[0].as_py() if re.match(TRUTH.pattern, cell.strip()) else cell


# Drawing ----------------------------------------------------------------------------------------


def _round(low: float, high: float, most: int) -> Array:
    """At most so many round numbers between two."""
    ticks = np.asarray(MaxNLocator(most).tick_values(low, high), np.float64)
    return ticks[(ticks >= low) & (ticks <= high)]


def _line(
    ax: Axes,
    row: int,
    at: Array,
    names: list[str],
    above: NDArray[np.bool_] | None = None,
    high: float | None = None,
) -> None:
    """Draw a scale from 0 to ``high``, or of all marks, with names that do not touch each other.

    Where these do not fit, and there is room, they are a list beside the scale.
    """
    up = np.ones(len(at), np.bool_) if above is None else above
    low, last = (at.min(initial=0), at.max(initial=0)) if high is None else (0.0, high)
    ax.plot([low, last], [row, row], color=INK, linewidth=0.8)
    ax.vlines(at, row, np.where(up, row - 0.1, row + 0.1), color=INK, linewidth=0.8)
    taken: dict[tuple[bool, int], float] = {}
    placed: list[tuple[int, int]] = []  # names, and how far from the line they stand
    for i in np.argsort(at, kind="stable").tolist():
        half, side = LETTER * (len(names[i]) + 1) / 2, bool(up[i])
        for level in range(len(LEVELS)):
            if taken.get((side, level), -np.inf) <= at[i] - half:
                taken[side, level] = at[i] + half
                placed.append((i, LEVELS[level]))
                break
    if high is not None and high <= BESIDE and len(placed) < len(names):
        pairs = (f"{name}: {x:.0f}" for name, x in zip(names, at.tolist(), strict=True))
        text = ", ".join(pair.replace(" ", "\N{NO-BREAK SPACE}") for pair in pairs)
        lines = wrap(text, max(int((100 - high) / LETTER), 20), max_lines=LINES, placeholder=" ...")
        ax.annotate(
            "\n".join(lines),
            (high, row),
            (8, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            linespacing=1.1,
        )
        return
    for i, far in placed:
        ax.annotate(
            names[i],
            (float(at[i]), row),
            (0, far if up[i] else -far),
            textcoords="offset points",
            ha="center",
            va="bottom" if up[i] else "top",
            fontsize=SMALL,
        )


# Answers as sums --------------------------------------------------------------------------------


def _leaves_out_missing_cells(model: Any) -> bool:
    """Return whether a model leaves missing cells out; refuse one whose answers are no sums."""
    if not isinstance(model, GenerativeClassifier):
        if hasattr(model, "coef_") and (hasattr(model, "classes_") or hasattr(model, "design_")):
            return False
        raise _refused(model, "its answers are means of the answers of others")
    if getattr(model.model_, "pairs", None) is not None:
        raise _refused(model, "it counts pairs of columns")
    joined = [one for one in model.model_.parameters if isinstance(one, JOINED)]
    if joined and not all(map(_is_linear, model.model_.parameters)):
        raise _refused(model, "columns are modelled together")
    return not joined


def _is_linear(parameters: Any) -> bool:
    """Return whether classes share a covariance, so that log-odds are linear."""
    if isinstance(parameters, TermParameters):
        parameters = parameters.of_terms
    gaussian = isinstance(parameters, MultivariateGaussianParameters)
    return gaussian and len(parameters.factored.covariance) == 1


def _refused(model: Any, why: str) -> ParameterError:
    return ParameterError(
        f"the answers of this {type(model).__name__} are no sums over single columns: {why}",
        "points of single columns are added",
        "draw NaiveBayes, LinearDiscriminantAnalysis, a linear or a logistic regression",
    )


def _answers_of(model: Any, label: Any, against: Any) -> tuple[str, Any, Any]:
    """Return what is predicted, the two classes, and a function from rows to sums (n,)."""
    if not hasattr(model, "classes_"):
        targets = model.design_.targets
        if label is None and len(targets) > 1:
            raise ParameterError(
                f"the model has {len(targets)} targets", "one is drawn", "name it: label=..."
            )
        t = 0 if label is None else require_place(label, targets, "target")
        return targets[t], None, lambda rows: model.predict(rows).reshape(rows.num_rows, -1)[:, t]
    classes = model.classes_.tolist()
    if len(classes) < 2:
        raise ParameterError("the model has one class", "points weigh one against another")
    a = len(classes) - 1 if label is None else require_place(label, classes, "class")
    if against is None and len(classes) > 2:
        raise ParameterError(
            f"the model has {len(classes)} classes",
            "points weigh one class against another",
            "name two: label=..., against=...",
        )
    b = 1 - a if against is None else require_place(against, classes, "class")

    def log_odds(rows: pa.Table) -> Array:
        logs = model.predict_log_proba(rows)
        with np.errstate(invalid="ignore"):
            return np.asarray(logs[:, a] - logs[:, b])

    return model.reader_.layout.label or "class", (classes[a], classes[b]), log_odds


def _columns_of(model: Any) -> tuple[list[Cells], list[str]]:
    """Return values of every column, and the columns that have no list of these."""
    cells, left_out = list[Cells](), list[str]()
    if isinstance(model, GenerativeClassifier):
        for name in model.model_.family_names:
            try:
                cells.append(cells_of(model, name))
            except ParameterError:  # a text, or counts that share a draw
                left_out.append(name)
        return cells, left_out
    fitted = model.model_
    design = fitted.design
    if design.formula is not None or design.words:
        raise _refused(model, "terms of a formula, and words, are no single columns")
    for name in design.groups:
        if name in design.categories:
            held = np.empty(len(design.categories[name]), object)
            held[:] = design.categories[name].values
            cells.append(Cells(name, held, discrete=True))
        elif name in design.bins:
            cells.append(Cells(name, np.linspace(*span(design.bins[name]), POINTS), discrete=False))
        else:
            (j,) = design.places([name])
            mean, sd = float(fitted.term_means[j]), float(fitted.term_scales[j])
            two = abs(sd**2 - mean * (1 - mean)) < SAME  # the variance of zeros and ones
            line = np.linspace(mean - REACH * sd, mean + REACH * sd, POINTS)
            cells.append(Cells(name, np.array([0.0, 1.0]) if two else line, discrete=two))
    return cells, left_out
