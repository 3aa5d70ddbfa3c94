"""Values of one column to draw a model at, and what the model says of them alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.schema import ONLY
from suffice.data.source import all_batches
from suffice.errors import ParameterError
from suffice.families.multinomial import MultinomialParameters
from suffice.models.base.checks import require_place
from suffice.models.base.evaluated_rows import known_codes
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.classifier import answers_by_batch
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.terms import TermParameters
from suffice.sums.block import MixedBlock, RealBlock
from suffice.sums.vocabulary import FALSE_TRUE

DRAWS = 2_000  # rows of each class that say where a number lies
TAIL = 0.002  # share of them that may lie outside the picture, on either side
POINTS = 400
MOST_WHOLE = 200  # whole numbers that are drawn one by one


@dataclass(frozen=True, eq=False)
class Cells:
    """Values of a column: m numbers, or m values that have names."""

    column: str
    values: NDArray[Any]  # (m,)
    discrete: bool  # whether they are all there is between the first and the last

    @property
    def positions(self) -> NDArray[np.float64]:
        """Return the positions drawn, (m,): numbers at themselves, others at 0, 1, ..."""
        return self.values if self.are_numbers else np.arange(float(len(self.values)))

    @property
    def are_numbers(self) -> bool:
        return self.values.dtype.kind == "f"


def require_generative(model: Any) -> GenerativeClassifier:
    """The model, if it says how columns look in a class."""
    check_is_fitted(model)
    if not isinstance(model, GenerativeClassifier):
        raise ParameterError(
            f"{type(model).__name__} does not say how a column looks in a class",
            "naive Bayes and discriminant analysis do",
            what_to_draw_of(model),
        )
    return model


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
    for part, parameters, block in zip(
        model.model_.parts, model.model_.parameters, model.model_.statistic.blocks, strict=True
    ):
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
        if isinstance(parameters, TermParameters):
            return _of_terms(parameters, name, j)
        if part.layout.encoding in {"binary", "outcome"}:
            return _two_values(model, name)
        if (listed := parameters.values(j)) is not None:
            return Cells(name, _objects(listed), discrete=True)
        if (vocabularies := getattr(block, "vocabularies", None)) is not None:
            return Cells(name, _objects(vocabularies[j].values), discrete=True)
        return _numbers(parameters, name, j, len(model.model_.classes))
    raise ParameterError(
        f"column {name!r} has no value", "no row showed one", "learn from rows that do"
    )


def _numbers(parameters: Any, name: str, j: int, k: int) -> Cells:
    """Numbers as far as rows of every class reach."""
    codes = np.repeat(np.arange(k), DRAWS)
    drawn = np.asarray(parameters.sample(codes, np.random.default_rng(0))[j], np.float64)
    whole = bool((drawn == np.round(drawn)).all())
    return Cells(name, _line(drawn.reshape(k, DRAWS), whole), discrete=whole)


def _of_terms(parameters: TermParameters, name: str, j: int) -> Cells:
    if parameters.is_number(j):
        place = int(parameters.places[j][0])
        return _numbers(parameters.of_terms, name, place, len(parameters.factored.mean))
    return Cells(name, _objects(parameters.design.categories[name].values), discrete=True)


def _two_values(model: GenerativeClassifier, name: str) -> Cells:
    column = model.schema_[list(model.reader_.layout.names).index(name)]
    two: tuple[Any, ...] = (-1, 1) if column.reason == ONLY.format(-1, 1) else (0, 1)
    return Cells(name, _objects((False, True) if column.stored == "boolean" else two), True)


def _objects(values: tuple[Any, ...]) -> NDArray[Any]:
    held = np.empty(len(values), object)
    held[:] = values
    return held


def _line(drawn: NDArray[np.float64], whole: bool) -> NDArray[np.float64]:
    """Numbers that cover what every class draws, (k, n)."""
    low = float(np.quantile(drawn, TAIL, axis=1).min())
    high = float(np.quantile(drawn, 1 - TAIL, axis=1).max())
    if whole and high - low <= MOST_WHOLE:
        return np.arange(np.floor(low), np.ceil(high) + 1)
    return np.linspace(low, high, POINTS)


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
    b, j = _place(model, cells.column)
    parameters = model.model_.parameters[b]
    if isinstance(parameters, TermParameters) and not parameters.is_number(j):
        raise ParameterError(
            f"the values of column {cells.column!r} are indicators of a Gaussian",
            "they have no shares in a class",
            "draw a prediction: LedgerDisplay",
        )
    rows = rows_with(model, {cells.column: cells.values})
    (batch,) = answers_by_batch(model, rows, all_batches, model.reader_.to_answer)
    found = np.zeros((len(cells.values), len(model.model_.classes)))
    parameters.column(j).add_log_likelihood(batch.blocks[b].column(j), found)
    return found


def counted(model: GenerativeClassifier, column: str) -> float:
    """Return the weight of a column."""
    b, j = _place(model, column)
    weights = model.model_.part_weights[b]
    return float(weights[min(j, len(weights) - 1)])


@dataclass(frozen=True, eq=False)
class Shown:
    """The labelled values of one column."""

    values: NDArray[np.float64]  # (n,): numbers; or places in the `Cells` of the column
    codes: NDArray[np.intp]  # (n,): codes of the classes, as the model has them


def shown_by(model: GenerativeClassifier, cells: Cells, X: Any, y: Any) -> Shown:
    """Return the cells of a column in labelled rows, without missing cells and unseen values."""
    b, j = _place(model, cells.column)
    source = model._open_judged(X, y, None)
    layout = model.reader_.to_answer
    values, codes = [np.empty(0)], [np.empty(0, np.intp)]
    for part in source.parts(layout, 1):
        for batch in all_batches(part, layout):
            values.append(_of_cells(cells, batch.blocks[b].column(j)))
            codes.append(known_codes(batch, model.model_))
    found, classes = np.concatenate(values), np.concatenate(codes)
    known = np.isfinite(found) & (classes >= 0)
    return Shown(found[known], classes[known])


def _of_cells(cells: Cells, block: Any) -> NDArray[np.float64]:
    """Numbers, or places among the cells; NaN where there is none."""
    if isinstance(block, MixedBlock):
        block = block.numbers if block.is_number[0] else block.categories
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
        numbers = np.array([*map(float, held), np.nan])[coded.codes[:, 0]]
    if cells.are_numbers:
        return numbers
    return np.where(np.isnan(numbers), np.nan, numbers > 0)  # of two values, the second


def _place(model: GenerativeClassifier, column: str) -> tuple[int, int]:
    """The part of a column, and its place in it."""
    parts = [list(part.layout.columns) for part in model.model_.parts]
    b = next(b for b, columns in enumerate(parts) if column in columns)
    return b, parts[b].index(column)
