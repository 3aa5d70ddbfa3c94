"""Values of one column to draw a model at, their axis, and what the model says of them alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import all_batches
from suffice.errors import ParameterError
from suffice.families.densities.piecewise import PiecewiseParameters
from suffice.families.density import DensityParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.models.base.checks import require_place
from suffice.models.base.evaluated_rows import known_codes
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.terms import TermParameters
from suffice.models.reading import open_rows
from suffice.numerics.elementary import exp, log
from suffice.numerics.in_print import number
from suffice.sums.block import MixedBlock, RealBlock, SparseBlock
from suffice.sums.vocabulary import FALSE_TRUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWS = 2_000  # rows of each class that say where a number lies
TAIL = 0.002  # share of them that may lie outside the picture, on either side
POINTS = 400
MOST_WHOLE = 200  # whole numbers that are drawn one by one
FAINT = 0.05  # of the highest density: what is lower cannot be read from the picture
VISIBLE = 0.2  # of an axis on which more has to be seen; else another one is chosen
TEN = log(10.0)
MOST_RANGES, MOST_TICKS = 24, 7  # on an axis of ranks


@dataclass(frozen=True, eq=False)
class Axis:
    """An axis of numbers: linear, logarithmic, or of ranks where neither shows more than a spike.

    The position u of a number x is x, log₁₀ x, or the number of cuts below it, interpolated.
    """

    kind: Literal["linear", "log", "rank"]
    cuts: NDArray[np.float64]  # (b + 1,): both ends; of ranks, those of ranges of equal room

    @classmethod
    def of(cls, edges: NDArray[np.float64], shares: NDArray[np.float64]) -> Self:
        """Choose the axis of a column by its bins, edges (b + 1,), and classes' shares (k, b)."""
        upto = np.cumsum(shares, axis=1)
        tails = np.array([np.interp([TAIL, 1 - TAIL], [0.0, *row], edges) for row in upto])
        ends = np.array([tails[:, 0].min(), tails[:, 1].max()])
        if ends[0] == ends[1]:
            return cls("linear", ends + np.array([-0.5, 0.5]))
        if _visible(np.clip(edges, *ends), shares) >= VISIBLE:
            return cls("linear", ends)
        if edges[0] > 0 and _visible(log(edges), shares) >= VISIBLE:
            return cls("log", edges[[0, -1]])
        if len(edges) > MOST_RANGES + 1:
            share = np.append(0.0, upto.mean(axis=0))
            places = np.searchsorted(share, np.linspace(0, share[-1], MOST_RANGES + 1))
            edges = edges[np.unique([0, *places[:-1], len(edges) - 1])]
        return cls("rank", edges)

    @classmethod
    def of_rows(cls, values: NDArray[np.float64]) -> Self:
        """Choose the axis of numbers (n,) that rows show, from the least to the largest."""
        edges = np.unique(np.quantile(values, np.linspace(0, 1, MOST_RANGES + 1)))
        if len(edges) < 2:
            return cls("linear", edges[0] + np.array([-0.5, 0.5]))
        found = cls.of(edges, np.histogram(values, edges)[0][None] / len(values))
        return found if found.kind == "rank" else cls(found.kind, edges[[0, -1]])

    def position(self, x: Any) -> NDArray[np.float64]:
        """Return the positions u of numbers."""
        if self.kind == "rank":
            return np.asarray(np.interp(x, self.cuts, np.arange(float(len(self.cuts)))))
        return np.asarray(log(x) / TEN if self.kind == "log" else x, np.float64)

    def number(self, u: Any) -> NDArray[np.float64]:
        """Return the numbers at positions u."""
        if self.kind == "rank":
            return np.asarray(np.interp(u, np.arange(float(len(self.cuts))), self.cuts))
        return np.asarray(exp(TEN * u) if self.kind == "log" else u, np.float64)

    def spaced(self, points: int) -> NDArray[np.float64]:
        """Return numbers from end to end in equal steps of the axis."""
        first, last = self.position(self.cuts[[0, -1]]).tolist()
        found = self.number(np.linspace(first, last, points))
        found[[0, -1]] = self.cuts[[0, -1]]
        return found

    def put(self, ax: Axes, which: Literal["x", "y"]) -> None:
        """Give an axis of a picture this scale, its ends and ticks."""
        set_scale = getattr(ax, f"set_{which}scale")
        if self.kind == "rank":
            set_scale("function", functions=(self.position, self.number))
            places = np.linspace(0, len(self.cuts) - 1, min(MOST_TICKS, len(self.cuts)))
            ticks = self.cuts[places.round().astype(np.intp)]
            dust = 1e-6 * np.ptp(self.cuts)  # of rounding
            written = [number(0.0 if abs(tick) < dust else tick) for tick in ticks.tolist()]
            getattr(ax, f"{which}axis").set_ticks(ticks, written)
        else:
            set_scale(self.kind)
        getattr(ax, f"set_{which}lim")(self.cuts[0], self.cuts[-1])


def _visible(positions: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
    """Return the share of an axis on which the density of a class is not faint."""
    room = np.diff(positions)
    height = np.divide(shares, room, out=np.zeros_like(shares), where=room > 0).max(axis=0)
    return float(room[height > FAINT * height.max()].sum() / room.sum())


@dataclass(frozen=True, eq=False)
class Cells:
    """Values of a column: m numbers, or m values that have names."""

    column: str
    values: NDArray[Any]  # (m,); of densities that are constant in bins, where each starts and ends
    axis: Axis | None = None  # of numbers that are not drawn one by one

    @property
    def positions(self) -> NDArray[np.float64]:
        """Return the positions drawn, (m,): numbers at themselves, others at 0, 1, ..."""
        return self.values if self.are_numbers else np.arange(float(len(self.values)))

    @property
    def are_numbers(self) -> bool:
        return self.values.dtype.kind == "f"


def what_to_draw_of(model: Any) -> str:
    """The next step where a picture is not one of this kind of model."""
    if hasattr(model, "members_"):
        return "draw one of the models that it averages: model.members_[0]"
    return "draw a prediction: LedgerDisplay"


def cells_of(model: GenerativeClassifier, column: str | int) -> Cells:
    """The values of a column at which a model is drawn.

    Categories are those that rows showed. Numbers reach as far as rows that the model draws: all
    but 0.2 % on either side, in every class.
    """
    name = model.reader_.layout.names[require_place(column, model.reader_.layout.names)]
    parameters: Any
    for part, parameters in zip(model.model_.parts, model.model_.parameters, strict=True):
        if name not in part.layout.columns:
            continue
        j = list(part.layout.columns).index(name)
        shares_a_draw = isinstance(parameters, MultinomialParameters)  # with the other columns
        if shares_a_draw or part.layout.encoding == "sparse" or not part.family.is_distribution:
            raise ParameterError(
                f"column {name!r} is modelled by {part.family.name}",
                "a picture shows one value a row, and one distribution of it in every class",
                "see what its words say with suffice show --column",
            )
        listed = parameters.values(j)
        if isinstance(parameters, TermParameters) and parameters.is_number(j):
            parameters, j = parameters.of_terms, int(parameters.places[j][0])
        elif isinstance(parameters, TermParameters):
            listed = parameters.design.categories[name].values
        elif part.layout.encoding in {"binary", "outcome"}:
            listed = model.schema_[list(model.reader_.layout.names).index(name)].outcomes
        if listed is None:
            return _numbers(parameters, name, j, len(model.model_.classes))
        values = np.empty(len(listed), object)
        values[:] = listed
        return Cells(name, values)
    raise ParameterError(
        f"column {name!r} has no value", "no row showed one", "learn from rows that do"
    )


def _numbers(parameters: Any, name: str, j: int, k: int) -> Cells:
    """Numbers as far as rows of every class reach."""
    if isinstance(parameters, DensityParameters):
        parameters, j = parameters.column(j), 0
    if isinstance(parameters, PiecewiseParameters):
        starts, ends, _ = parameters.piece(j)
        axis = Axis.of(np.append(starts, ends[-1]), parameters.probabilities(j))
        if starts[0] == ends[-1]:
            return Cells(name, axis.spaced(2), axis)
        last = np.nextafter(ends, starts)  # a bin holds its lower end only
        return Cells(name, np.stack([starts, last], axis=1).ravel(), axis)
    codes = np.repeat(np.arange(k), DRAWS)
    drawn = np.asarray(parameters.sample(codes, np.random.default_rng(0))[j], np.float64)
    of_class = drawn.reshape(k, DRAWS)
    least, most = np.quantile(of_class, [TAIL, 1 - TAIL], axis=1)
    low, high = float(least.min()), float(most.max())
    axis = Axis("linear", np.array([low, high if high > low else low + 1]))
    if not (drawn == np.round(drawn)).all():
        return Cells(name, axis.spaced(POINTS), axis)
    if high - low <= MOST_WHOLE:
        return Cells(name, np.arange(np.floor(low), np.ceil(high) + 1))
    return Cells(name, np.unique(np.round(axis.spaced(POINTS))), axis)


def rows_with(model: Any, cells: Mapping[str, Any]) -> pa.Table:
    """A table of rows with these cells; all other cells are missing."""
    n = len(next(iter(cells.values())))
    columns = {
        name: pa.array(list(cells[name])) if name in cells else pa.nulls(n)
        for name in model.reader_.layout.names
    }
    return pa.table(columns)


def log_densities(model: GenerativeClassifier, cells: Cells) -> NDArray[np.float64]:
    """Return log p(x | c) of every value, (m, k), whatever the weight of the column."""
    b, j = block_of(model.reader_.layout, cells.column)
    parameters = model.model_.parameters[b]
    if isinstance(parameters, TermParameters) and not parameters.is_number(j):
        raise ParameterError(
            f"the values of column {cells.column!r} are indicators of a Gaussian",
            "they have no shares in a class",
            "draw a prediction: LedgerDisplay",
        )
    layout = model.reader_.to_answer
    source = open_rows(model, rows_with(model, {cells.column: cells.values}))
    (batch,) = all_batches(source, layout)
    found = np.zeros((len(cells.values), len(model.model_.classes)))
    parameters.column(j).add_log_likelihood(batch.blocks[b].column(j), found)
    return found


@dataclass(frozen=True, eq=False)
class Shown:
    """Cells of some columns in labelled rows."""

    values: NDArray[np.float64]  # (n, q): numbers; or places in the `Cells` of the column
    codes: NDArray[np.intp]  # (n,): codes of the classes, as the model has them


def shown_by(model: Any, cells: Sequence[Cells], X: Any, y: Any) -> Shown:
    """Return the rows that show all of some columns, without missing cells and unseen values."""
    source, layout = model._open_judged(X, y, None), model.reader_.to_answer
    places = [block_of(layout, one.column) for one in cells]
    values, codes = [np.empty((0, len(cells)))], [np.empty(0, np.intp)]
    for batch in all_batches(source, layout):
        columns = [batch.blocks[b].column(j) for b, j in places]
        values.append(np.stack(list(map(_of_cells, cells, columns)), axis=1))
        codes.append(known_codes(batch, model.model_))
    found, classes = np.concatenate(values), np.concatenate(codes)
    known = np.isfinite(found).all(axis=1) & (classes >= 0)
    return Shown(found[known], classes[known])


def block_of(layout: Layout, column: str) -> tuple[int, int]:
    """The block of a column, and its place in it."""
    parts = [list(block.columns) for block in layout.blocks]
    b = next(b for b, columns in enumerate(parts) if column in columns)
    return b, parts[b].index(column)


def _of_cells(cells: Cells, block: Any) -> NDArray[np.float64]:
    """Numbers, or places among the cells; NaN where there is none."""
    if isinstance(block, MixedBlock):
        block = block.numbers if block.is_number[0] else block.categories
    if isinstance(block, SparseBlock):
        raise ParameterError(
            f"column {cells.column!r} is a text, or of a sparse matrix",
            "a picture shows one value a row",
            "give X as a dense array",
        )
    if isinstance(block, RealBlock):
        numbers = np.asarray(block.values[:, 0], np.float64)
    else:
        coded = block.coded()
        held = coded.vocabularies[0].values
        if not cells.are_numbers:
            # Outcomes are the two values of the cells, in their order.
            values = (False, True) if coded.vocabularies[0] == FALSE_TRUE else cells.values
            places = {value: float(i) for i, value in enumerate(values)}
            table = np.array([*(places.get(value, np.nan) for value in held), np.nan])
            return np.asarray(table[coded.codes[:, 0]])
        if not all(isinstance(value, int | float) for value in held):
            fact = f"column {cells.column!r} holds no numbers"
            raise ParameterError(fact, "the axes are two columns of numbers")
        numbers = np.array([*map(float, held), np.nan])[coded.codes[:, 0]]
    if cells.are_numbers:
        return numbers
    return np.where(np.isnan(numbers), np.nan, numbers > 0)  # of two values, the second


def contrast(model: Any, label: Any, against: Any) -> tuple[str, int, int | None]:
    """Return what is predicted, and the codes of two classes; of a regression, of the target.

    By default the last class is weighed against the other one.
    """
    if not hasattr(model, "classes_"):
        targets = model.design_.targets
        if label is None and len(targets) > 1:
            raise ParameterError(
                f"the model has {len(targets)} targets", "one is drawn", "name it: label=..."
            )
        t = 0 if label is None else require_place(label, targets, "target")
        return targets[t], t, None
    classes = model.classes_.tolist()
    if len(classes) < 2:
        raise ParameterError("the model has one class", "a picture weighs one against another")
    a = len(classes) - 1 if label is None else require_place(label, classes, "class")
    if against is None and len(classes) > 2:
        raise ParameterError(
            f"the model has {len(classes)} classes",
            "a picture weighs one class against another",
            "name two: label=..., against=...",
        )
    b = 1 - a if against is None else require_place(against, classes, "class")
    return model.reader_.layout.label or "class", a, b
