"""``suffice explain``: why the first rows were answered as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.bayes import column_weights
from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.models import (
    has_candidates,
    load,
    predicts_numbers,
)
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.shared import AsJson, Data, Ignore, ModelFile
from suffice.cli.output.explanation import (
    Contribution,
    Explanation,
    explanation_facts,
    explanations,
    word_evidence,
)
from suffice.cli.output.tables import decibans, deliver, grid, percent, short
from suffice.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from suffice.bayes import NextQuestions
    from suffice.cli.documents import ExplainedNumbers, ExplainedRow, ExplainedRows
    from suffice.models.linear.effects import Effects

__all__ = ["explain"]

MOST_WORDS = 8  # of one text
ONCE = 0.995  # a column that counts less is named


def explain(
    *,
    model: ModelFile,
    data: Data,
    rows: Annotated[int, typer.Option(min=1, help="How many rows to explain.")] = 3,
    top: Annotated[int, typer.Option(min=1, help="How many columns to list, at most.")] = 20,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask", help="Also say which missing cells would tell most of the class, in bits."
        ),
    ] = False,
    as_json: AsJson = False,
    ignore: Ignore = None,
    read: ReadAs = None,
) -> None:
    """Show what every column says for the answer and against the runner-up.

    Evidence is counted in decibans, which add up: 10 are odds of 10 to 1, 20 of
    100 to 1. A missing cell says nothing to naive Bayes. Of a predicted number
    it shows what every column adds to that of the average row.
    """
    from suffice.data.table_views import FirstRows

    reading = Reading.of(read)
    fitted = load(model)
    opened = known_columns(
        remarked(reading.open(data, fitted.reader_.format)), fitted, ignore=ignore
    )
    table = FirstRows(opened, rows)
    cells = table.head().to_pylist()
    if not cells:
        raise DataError(f"{data[0]} holds no row", "there is nothing to explain")
    found = fitted.explain(table)
    questions = _questions(fitted, table.head()) if ask else None
    if predicts_numbers(fitted):
        effects = [_effects(found, row, of) for row, of in enumerate(cells)]
        of_numbers: ExplainedRows = {"rows": [*effects]}
        tables = (_effect_grid(row, top) for row in effects)
        deliver(of_numbers, lambda: tables, as_json, None)
        return
    words = None
    if not has_candidates(fitted):  # which are asked together
        words = [word_evidence(fitted, table.head(), row) for row in range(len(cells))]
    explained = explanations(found, cells, _ends(fitted, table), _counted(fitted), words)
    answered: list[ExplainedRow] = [
        {"row": row, **explanation_facts(why)} for row, why in enumerate(explained, start=1)
    ]
    for one, asked in zip(answered, questions or (), strict=bool(questions)):
        one["ask"] = [
            {"column": name, "bits": None if isnan(bits) else bits}
            for name, bits in zip(asked.columns, asked.bits.tolist(), strict=True)
        ]
    facts: ExplainedRows = {"rows": [*answered]}
    deliver(facts, lambda: _rendered(explained, top, questions), as_json, None)


# Classes ----------------------------------------------------------------------------------------


def _ends(fitted: Any, table: Any) -> Any:
    """The intervals of the probabilities; None where the model has no posterior."""
    try:
        return fitted.predict_proba_interval(table)
    except ParameterError:
        return None


def _counted(fitted: Any) -> dict[str, float]:
    """How often each column is counted; nothing where pairs of columns are counted too."""
    alone = getattr(fitted, "calibration_", None) is not None and not hasattr(fitted, "bins_")
    return column_weights(fitted) if alone else {}


def _questions(fitted: Any, head: Any) -> list[NextQuestions]:
    """What to ask next of every row."""
    from suffice.bayes import next_question

    known = set(fitted.layout_.names)
    rows = head.select([name for name in head.schema.names if name in known])
    return [next_question(fitted, rows.slice(row, 1)) for row in range(rows.num_rows)]


def _rendered(
    explained: Sequence[Explanation], top: int, questions: Sequence[NextQuestions] | None
) -> Iterator[RenderableType]:
    for row, why in enumerate(explained, start=1):
        yield _grid(row, why, top)
        if questions:
            yield _asked(questions[row - 1], top)


def _asked(found: NextQuestions, top: int) -> RenderableType:
    known = [
        (name, bits)
        for name, bits in zip(found.columns, found.bits.tolist(), strict=True)
        if not isnan(bits)
    ]
    if not known:
        return "  No cell is missing that the model could ask for.\n"
    table = grid("ask next", "bits", title=f"{found.entropy:.3f} bits are open")
    for name, bits in known[:top]:
        table.add_row(name, f"{bits:.3f}")
    return table


def _grid(row: int, why: Explanation, top: int) -> Table:
    title = f"Row {row}: {why.prediction}, with probability {percent(why.probability)}"
    if why.interval is not None:
        title += f" (95 % interval: {' to '.join(map(percent, why.interval))})"
    table = grid("", "value", f"decibans for {why.prediction}, against {why.against}", title=title)
    table.columns[1].justify = "left"
    table.add_row(why.start, "", decibans(why.prior))
    for part in why.contributions[:top]:
        table.add_row(part.column, short(part.value), decibans(part.decibans))
        _add_words(table, part.words)
    others = why.contributions[top:]
    if others:
        total = sum(part.decibans for part in others)
        table.add_row(_others(len(others)), "", decibans(total))
    table.add_section()
    table.add_row("sum", "", decibans(why.total))
    table.caption = _repeated(why.contributions[:top])
    table.caption_justify = "left"
    return table


def _add_words(table: Table, words: Sequence[tuple[str, float]]) -> None:
    """Below a text of several words, what those say that say most."""
    if len(words) < 2:
        return
    for word, value in words[:MOST_WORDS]:
        table.add_row("", word, decibans(value))
    if others := words[MOST_WORDS:]:
        noun = "word" if len(others) == 1 else "words"
        total = decibans(sum(value for _, value in others))
        table.add_row("", f"({len(others)} other {noun})", total)


def _repeated(parts: Sequence[Contribution]) -> str | None:
    """Which columns are counted in part, as others say the same."""
    less = [f"{part.column} {part.counted:.2f}" for part in parts if part.counted < ONCE]
    return f"Counted in part, as columns repeat each other: {', '.join(less)}." if less else None


def _others(number: int) -> str:
    return "1 other column" if number == 1 else f"{number} other columns"


# Numbers ----------------------------------------------------------------------------------------


def _effects(found: Effects, row: int, cells: Mapping[str, Any]) -> ExplainedNumbers:
    """What the columns of one row add, the largest effect first."""
    added = found.contributions[row]
    order = sorted(range(len(added)), key=lambda j: -float(abs(added[j]).max()))

    def of_targets(values: Any) -> dict[str, float]:
        return dict(zip(found.targets, map(float, values), strict=True))

    return {
        "row": row + 1,
        "average_row": of_targets(found.average),
        "columns": [
            {
                "column": found.columns[j],
                "value": cells.get(found.columns[j], ""),  # a product of a formula has none
                "adds": of_targets(added[j]),
            }
            for j in order
        ],
        "prediction": of_targets(found.predictions[row]),
    }


def _effect_grid(facts: ExplainedNumbers, top: int) -> Table:
    targets = list(facts["prediction"])
    table = grid("", "value", *targets, title=f"Row {facts['row']}")
    table.columns[1].justify = "left"

    def add(name: str, value: str, numbers: Mapping[str, float]) -> None:
        table.add_row(name, value, *(f"{number:.6g}" for number in numbers.values()))

    add("average row", "", facts["average_row"])
    for part in facts["columns"][:top]:
        add(part["column"], short(part["value"]), part["adds"])
    others = facts["columns"][top:]
    if others:
        total = {target: sum(part["adds"][target] for part in others) for target in targets}
        add(_others(len(others)), "", total)
    table.add_section()
    add("prediction", "", facts["prediction"])
    return table
