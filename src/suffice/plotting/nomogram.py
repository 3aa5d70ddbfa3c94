"""The instrument of paper and ruler: points of every value, their total, and the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.design.bins import span
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.terms import TermParameters
from suffice.plotting.cells import MOST_WHOLE, POINTS, Cells, cells_of, log_likelihoods, rows_with
from suffice.plotting.style import INK, QUIET, figure_of, require_place, shortened, sized_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, TALL = 7.3, 0.46  # inches: A4 less its margins, and a row
MOST_VALUES = 12  # of a column that have names
FEW_STEPS = 12  # of a density in bins, which are named by their bounds
LEVELS = (4, 11)  # how far above a line, or below it, names may stand
LETTER, SMALL = 1.0, 6.5  # width of a letter of a name, in points of the scale; size of the font
BESIDE = 62  # points of a scale that leaves room for a list beside it
LINES = 3  # of such a list
PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


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
    sums : Sums
        The answer as a sum.
    most : int
        How many columns are drawn; the others count as unknown, or as their middle.

    Attributes
    ----------
    columns : tuple of str
        Those that are drawn, the widest first.
    points : dict from column to ndarray (m,)
        Of the values ``values[column]``.
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

    def __init__(self, sums: Sums, most: int = 14) -> None:
        self.sums, self.shown = sums, sums.columns[:most]
        if not self.shown:
            raise ParameterError(
                "no column says anything that a list of values shows",
                "a nomogram has a scale for each column",
            )
        self.columns = tuple(one.cells.column for one in self.shown)
        self.scale = 100 / float(np.ptp(self.shown[0].adds))
        self.points = {one.cells.column: self._points(one, one.adds) for one in self.shown}
        self.values = {one.cells.column: one.cells.values for one in self.shown}

    def _points(self, one: Added, adds: Any) -> NDArray[np.float64]:
        return np.asarray(self.scale * (adds - one.adds.min()), np.float64)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        label: Any = None,
        against: Any = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        most: int = 14,
        ax: Axes | None = None,
    ) -> Self:
        """Draw naive Bayes, linear discriminant analysis, a linear or a logistic regression.

        Parameters
        ----------
        model : estimator
        label, against : label, optional
            The class that points speak for, the last one by default, and the one that it is
            weighed against, which has to be named where there are more than two. Of a regression
            of several targets, the target.
        limits : mapping from column to pair of numbers, optional
            From where to where its scale goes. Else it goes as far as rows that the model draws;
            linear and logistic regression know means and standard deviations alone, and go two of
            these to either side.
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
        return cls(sums_of(model, label, against, limits), most).plot(ax=ax)

    def total(self, row: Mapping[str, Any]) -> float:
        """The points of a row together; a column without a cell is unknown.

        Raises
        ------
        ParameterError
            If the model needs a cell that is not given, or a value has no points.
        """
        found = 0.0
        for one in self.shown:
            name, cell = one.cells.column, row.get(one.cells.column)
            if cell is None and not self.sums.unknown:
                raise ParameterError(f"there is no cell of {name!r}", "this model needs every cell")
            if cell is None:
                found += float(self._points(one, 0.0))
            elif one.cells.are_numbers:
                found += float(np.interp(cell, one.cells.values, self.points[name]))
            else:
                values = list(one.cells.values)
                if isinstance(cell, str) and values == [False, True]:
                    cell = _truth(cell)
                if cell not in values:
                    raise ParameterError(
                        f"{cell!r} of column {name!r} has no points",
                        "the training rows did not show it",
                        "leave it out" if self.sums.unknown else "take another value",
                    )
                found += float(self.points[name][values.index(cell)])
        return found

    def answer(self, total: float) -> float:
        """P(a | x, a or b) of a total, or the prediction."""
        least = sum(float(one.adds.min()) for one in self.shown)
        sum_ = self.sums.start + least + total / self.scale
        if self.sums.classes is None:
            return sum_
        return float(1 / (1 + np.exp(-sum_)))

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the scales on the axes given, or on new ones."""
        rows = len(self.shown) + 3
        ax = sized_axes(ax, WIDE, TALL * (rows + 1.4))
        ax.set_xlim(-2, 102)
        ax.set_ylim(rows - 0.4, -0.8)
        for side in ("top", "right", "bottom", "left"):
            ax.spines[side].set_visible(False)
        ax.tick_params(length=0)
        ax.set_xticks([])
        for at in range(0, 101, 10):
            ax.plot([at, at], [0, rows - 3], color=QUIET, linewidth=0.4, alpha=0.5)
        _line(ax, 0, np.arange(0, 101, 10.0), [str(at) for at in range(0, 101, 10)])
        for row, one in enumerate(self.shown, 1):
            self._column(ax, row, one)
        most = sum(float(points.max()) for points in self.points.values())
        ticks = _round(0, most, 10)
        _line(ax, rows - 2, 100 * ticks / most, [f"{tick:g}" for tick in ticks])
        answers, names = self._answers(most)
        _line(ax, rows - 1, 100 * answers / most, names)
        last = shortened(self.sums.target)
        if self.sums.classes is not None:
            last = f"P({shortened(self.sums.classes[0], 16)})"
            last += "" if self.sums.of_two else ", of the two"
        names = ["points", *(shortened(name) for name in self.columns), "total", last]
        ax.set_yticks(range(rows), names, fontsize="small")
        ax.set_title(self._title(), fontsize="medium", loc="left")
        ax.set_xlabel(self._note(), fontsize="small", loc="left")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _title(self) -> str:
        if self.sums.classes is None:
            return f"{shortened(self.sums.target)}: add up the points, and read it below the total"
        a, b = (shortened(name) for name in self.sums.classes)
        return f"{shortened(self.sums.target)}: {a}, against {b}"

    def _note(self) -> str:
        notes = []
        if hidden := len(self.sums.columns) - len(self.shown):
            how = "unknown" if self.sums.unknown else "in the middle"
            notes.append(f"{hidden:,} more columns are taken as {how}")
        if self.sums.left_out:
            notes.append(f"without {', '.join(map(shortened, self.sums.left_out[:3]))}")
        return "; ".join(notes)

    def _column(self, ax: Axes, row: int, one: Added) -> None:
        """The scale of one column: its values where their points are."""
        points = self.points[one.cells.column]
        if one.cells.are_numbers:
            at, names, rising = _marks(one.cells.values, points)
        else:
            kept = np.arange(len(points))
            if len(kept) > MOST_VALUES:  # those in even steps from the least to the most
                order = np.argsort(points, kind="stable")
                kept = order[np.linspace(0, len(order) - 1, MOST_VALUES).round().astype(np.intp)]
            at, names = points[kept], [shortened(one.cells.values[i], 20) for i in kept.tolist()]
            rising = np.ones(len(at), np.bool_)
        if self.sums.unknown:
            at = np.append(at, self._points(one, 0.0))
            names, rising = [*names, "unknown"], np.append(rising, False)
        _line(ax, row, at, names, rising, ends=(0.0, float(points.max())))

    def _answers(self, most: float) -> tuple[NDArray[np.float64], list[str]]:
        """Totals of round answers, and their names."""
        low, high = self.answer(0.0), self.answer(most)
        if self.sums.classes is None:
            shown = _round(low, high, 10)
            return (shown - low) * self.scale, [f"{value:g}" for value in shown]
        shown = np.array([p for p in PROBABILITIES if low <= p <= high])
        zero = -np.log(low) + np.log1p(-low) if 0 < low < 1 else 0.0
        return self.scale * (np.log(shown) - np.log1p(-shown) + zero), [f"{p:g}" for p in shown]


def _truth(cell: str) -> Any:
    """Read a truth value as files spell it; any other word as it is."""
    word = pa.array([cell])
    return TRUTH.read(word)[0].as_py() if re.match(TRUTH.pattern, cell.strip()) else cell


def _round(low: float, high: float, most: int) -> NDArray[np.float64]:
    """At most so many round numbers between two."""
    ticks = np.asarray(MaxNLocator(most).tick_values(low, high), np.float64)
    return ticks[(ticks >= low) & (ticks <= high)]


def _marks(
    values: NDArray[np.float64], points: NDArray[np.float64]
) -> tuple[NDArray[np.float64], list[str], NDArray[np.bool_]]:
    """Points of round values, or of the bins of a density; and where points rise with values."""
    steps = np.flatnonzero(np.diff(points))
    if len(steps) < FEW_STEPS and len(steps) < len(points) // 8:
        starts, ends = np.append(0, steps + 1), np.append(steps, len(points) - 1)
        bounds = [f"{(values[i] + values[i + 1]) / 2:.4g}" for i in steps.tolist()]
        names = [f"{low} to {high}" for low, high in zip(["", *bounds], [*bounds, ""], strict=True)]
        names[0], names[-1] = f"below {bounds[0]}", f"from {bounds[-1]}"
        return (points[starts] + points[ends]) / 2, names, np.ones(len(starts), np.bool_)
    ticks = _round(values[0], values[-1], 8)
    slope = np.gradient(points, values)
    return (
        np.interp(ticks, values, points),
        [f"{tick:g}" for tick in ticks],
        np.interp(ticks, values, slope) >= 0,
    )


def _line(
    ax: Axes,
    row: int,
    at: NDArray[np.float64],
    names: list[str],
    rising: NDArray[np.bool_] | None = None,
    ends: tuple[float, float] | None = None,
) -> None:
    """A scale with marks and names; where these do not fit, and there is room, a list beside it."""
    low, high = ends or (float(at.min()), float(at.max()))
    above = np.ones(len(at), np.bool_) if rising is None else rising
    ax.plot([low, high], [row, row], color=INK, linewidth=0.8)
    for x, side in zip(at.tolist(), above.tolist(), strict=True):
        ax.plot([x, x], [row, row - 0.1 if side else row + 0.1], color=INK, linewidth=0.8)
    levels = _levels(at, names, above)
    if ends is not None and high <= BESIDE and any(level is None for level in levels):
        _list(ax, row, high, at, names)
        return
    for x, name, side, level in zip(at.tolist(), names, above.tolist(), levels, strict=True):
        if level is not None:
            shift = (0, LEVELS[level] if side else -LEVELS[level])
            ax.annotate(
                name,
                (x, row),
                shift,
                textcoords="offset points",
                ha="center",
                va="bottom" if side else "top",
                fontsize=SMALL,
            )


def _levels(
    at: NDArray[np.float64], names: list[str], above: NDArray[np.bool_]
) -> list[int | None]:
    """Stack names above the line so that none touches another; None of no room."""
    taken: dict[tuple[bool, int], float] = {}
    found: list[int | None] = [None] * len(names)
    for i in np.argsort(at, kind="stable").tolist():
        half, side = LETTER * (len(names[i]) + 1) / 2, bool(above[i])
        for level in range(len(LEVELS)):
            if taken.get((side, level), -np.inf) <= at[i] - half:
                taken[side, level], found[i] = at[i] + half, level
                break
    return found


def _list(ax: Axes, row: int, high: float, at: NDArray[np.float64], names: list[str]) -> None:
    """Names and their points as text, on the right of a short scale."""
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


REACH = 2.0  # standard deviations that numbers go to either side, where no density is known
SAME = 1e-9
JOINED = (
    JointTableParameters,
    TermParameters,
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)


@dataclass(frozen=True, eq=False)
class Added:
    """The contribution of a column."""

    cells: Cells  # m values of it
    adds: NDArray[np.float64]  # (m,): in nats, or in units of the target


@dataclass(frozen=True, eq=False)
class Sums:
    """An answer as a sum: the start, and a term of every column.

    Parameters
    ----------
    start : float
    columns : tuple of Added
        Those that add anything.
    classes : tuple of two labels, or None
        The sum is log P(a | x) − log P(b | x); without classes, a prediction.
    target : str
        What the classes are classes of, or what is predicted.
    unknown : bool
        Whether a cell may be unknown, which then adds 0.
    of_two : bool
        Whether the model has no other class than these two.
    left_out : tuple of str
        Columns that add something that no list of values shows, such as texts.
    """

    start: float
    columns: tuple[Added, ...]
    classes: tuple[Any, Any] | None
    target: str
    unknown: bool
    of_two: bool = True
    left_out: tuple[str, ...] = ()


Limits = Mapping[str, tuple[float, float]]


def sums_of(
    model: Any, label: Any = None, against: Any = None, limits: Limits | None = None
) -> Sums:
    """The answers of a fitted model as sums over single columns."""
    if isinstance(model, GenerativeClassifier):
        parameters = model.model_.parameters
        if getattr(model.model_, "pairs", None) is not None:
            raise _refused(model, "it counts pairs of columns")
        if any(isinstance(one, JOINED) for one in parameters):
            if all(_is_linear(one) for one in parameters):
                return _of_rows(model, label, against, limits or {})
            raise _refused(model, "columns are modelled together")
        return _of_parts(model, label, against, limits or {})
    if hasattr(model, "coef_") and (hasattr(model, "classes_") or hasattr(model, "design_")):
        return _of_rows(model, label, against, limits or {})
    raise _refused(model, "its answers are means of the answers of others")


def _refused(model: Any, why: str) -> ParameterError:
    return ParameterError(
        f"the answers of this {type(model).__name__} are no sums over single columns: {why}",
        "points of single columns are added",
        "draw NaiveBayes, LinearDiscriminantAnalysis, a linear or a logistic regression",
    )


def _is_linear(parameters: Any) -> bool:
    """Return whether classes share a covariance, so that log-odds are linear."""
    if isinstance(parameters, TermParameters):
        parameters = parameters.of_terms
    gaussian = isinstance(parameters, MultivariateGaussianParameters)
    return gaussian and len(parameters.factored.covariance) == 1


def _two_classes(classes: Sequence[Any], label: Any, against: Any) -> tuple[int, int]:
    """Places of the class that points speak for, the last by default, and of the other one."""
    names = list(classes)
    if len(names) < 2:
        raise ParameterError("the model has one class", "points weigh one against another")
    a = len(names) - 1 if label is None else require_place(label, names, "class")
    if against is not None:
        return a, require_place(against, names, "class")
    if len(names) > 2:
        raise ParameterError(
            f"the model has {len(names)} classes",
            "points weigh one class against another",
            "name two: label=..., against=...",
        )
    return a, 1 - a


def _of_parts(model: GenerativeClassifier, label: Any, against: Any, limits: Limits) -> Sums:
    """Sum naive Bayes: logarithms of likelihood ratios, times the weights of the columns."""
    fitted = model.model_
    classes = fitted.classes.values
    a, b = _two_classes(classes, label, against)
    columns, left_out = [], []
    for name in fitted.family_names:
        try:
            cells = _within(cells_of(model, name), limits)
        except ParameterError:  # a text, or counts that share a draw
            left_out.append(name)
            continue
        logs = log_likelihoods(model, cells)
        with np.errstate(invalid="ignore"):
            adds = logs[:, a] - logs[:, b]
        if not np.isfinite(adds).all():
            raise ParameterError(
                f"a value of column {name!r} is impossible in a class",
                "points are finite",
                "fit the model with alpha above 0",
            )
        columns.append(Added(cells, adds))
    start = float(fitted.log_prior[a] - fitted.log_prior[b])
    target = model.reader_.layout.label or "class"
    two = classes[a], classes[b]
    of_two = len(classes) == 2
    return Sums(start, _telling(columns), two, target, True, of_two, tuple(left_out))


def _of_rows(model: Any, label: Any, against: Any, limits: Limits) -> Sums:
    """Sum models that answer complete rows: each column is moved on its own."""
    known = [_within(cells, limits) for cells in _cells_of_rows(model)]
    base = {one.column: one.values[len(one.values) // 2 if one.are_numbers else 0] for one in known}
    tables = [{name: [cell] for name, cell in base.items()}]
    for one in known:
        table = {name: [cell] * len(one.values) for name, cell in base.items()}
        tables.append(table | {one.column: list(one.values)})
    grid = {name: [cell for table in tables for cell in table[name]] for name in base}
    rows = rows_with(model, grid)
    if hasattr(model, "classes_"):
        a, b = _two_classes(model.classes_.tolist(), label, against)
        logs = model.predict_log_proba(rows)
        answers = logs[:, a] - logs[:, b]
        classes: tuple[Any, Any] | None = (model.classes_.tolist()[a], model.classes_.tolist()[b])
        target = model.reader_.layout.label or "class"
    else:
        targets = model.design_.targets
        t = 0 if label is None else require_place(label, targets, "target")
        if label is None and len(targets) > 1:
            raise ParameterError(
                f"the model has {len(targets)} targets", "one is drawn", "name it: label=..."
            )
        answers = np.asarray(model.predict(rows), np.float64).reshape(len(rows), -1)[:, t]
        classes, target = None, targets[t]
    columns, at = [], 1
    for one in known:
        columns.append(Added(one, answers[at : at + len(one.values)] - answers[0]))
        at += len(one.values)
    of_two = len(getattr(model, "classes_", (0, 1))) == 2
    return Sums(float(answers[0]), _telling(columns), classes, target, False, of_two)


def _cells_of_rows(model: Any) -> list[Cells]:
    """Values of every column of a model that answers complete rows."""
    if isinstance(model, GenerativeClassifier):
        return [cells_of(model, name) for name in model.reader_.layout.names]
    fitted = model.model_
    design = fitted.design
    if design.formula is not None or design.words:
        raise _refused(model, "terms of a formula, and words, are no single columns")
    cells = []
    for name in design.groups:
        if name in design.categories:
            held = np.empty(len(design.categories[name]), object)
            held[:] = design.categories[name].values
            cells.append(Cells(name, held, discrete=True))
            continue
        if name in design.bins:
            cells.append(Cells(name, np.linspace(*span(design.bins[name]), POINTS), discrete=False))
            continue
        (j,) = design.places([name])
        mean, sd = float(fitted.term_means[j]), float(fitted.term_scales[j])
        two = abs(sd**2 - mean * (1 - mean)) < SAME  # the variance of zeros and ones
        line = np.linspace(mean - REACH * sd, mean + REACH * sd, POINTS)
        cells.append(Cells(name, np.array([0.0, 1.0]) if two else line, discrete=two))
    return cells


def _within(cells: Cells, limits: Limits) -> Cells:
    """The cells of a column, numbers from where to where they were asked for."""
    if cells.column not in limits or not cells.are_numbers:
        return cells
    low, high = limits[cells.column]
    whole = cells.discrete and high - low <= MOST_WHOLE
    line = np.arange(np.floor(low), np.ceil(high) + 1) if whole else np.linspace(low, high, POINTS)
    return Cells(cells.column, line, cells.discrete)


def _telling(columns: list[Added]) -> tuple[Added, ...]:
    """Return the columns that add anything, the widest first."""
    kept = [one for one in columns if np.ptp(one.adds) > 0]
    return tuple(sorted(kept, key=lambda one: -float(np.ptp(one.adds))))
