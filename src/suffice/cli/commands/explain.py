"""``suffice explain``: the contribution of every column to a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.models import known_columns, load_model
from suffice.cli.options import AsJson, Data, Ignore, ModelFile, ReadAs, Reading
from suffice.cli.output import deliver
from suffice.errors import DataError
from suffice.numerics.in_print import Table

if TYPE_CHECKING:
    from suffice.models.explanation import RowExplanation


def explain(
    *,
    model: ModelFile,
    data: Data,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="How many rows.")] = 3,
    as_json: AsJson = False,
    read: ReadAs = None,
    ignore: Ignore = None,
) -> None:
    """Explain predictions: the evidence of every column.

    To the log-odds of the predicted class against the next, which add up; odds
    multiply. Of a predicted number: to the prediction of the average row.

    Example: suffice explain adult.suffice new.csv --rows 2
    """
    import numpy as np

    from suffice.data.table import FirstRows, RowsWhere

    fitted: Any = load_model(model)
    opened = Reading.of(read).open(data, fitted.reader_.format)
    table = FirstRows(known_columns(opened, fitted, ignore=ignore), rows)
    numbers: Sequence[int] = range(rows)
    try:
        found = fitted.explain(table)
    except DataError:  # as predict does, go on with the rows that have an answer
        answers = list(fitted.predict_batches(table, unanswerable="empty"))
        known = np.array(
            [cell is not None for one in answers for cell in one.column(0).to_pylist()]
        )
        numbers = np.flatnonzero(known).tolist()
        if not numbers:
            raise
        found = fitted.explain(RowsWhere(table, known, (0, len(known))))
    if not (n := len(found.contributions)):
        raise DataError(f"{data[0]} holds no row", "there is nothing to explain")
    explained = [replace(found.row(at), row=numbers[at]) for at in range(n)]
    facts = {"rows": [_facts(one) for one in explained]}
    deliver(facts, _shown(explained), as_json)


def _shown(explained: list[RowExplanation]) -> Iterator[str | Table]:
    for one in explained:
        yield one.table()
        yield ""


def _facts(found: RowExplanation) -> dict[str, Any]:
    """Return an explanation by the names of its numbers; of a classifier there is one number."""
    of_classes = found.nats is not None

    def numbers(adds: Any) -> Any:
        values = adds.tolist()
        return values[0] if of_classes else dict(zip(found.outputs, values, strict=True))

    columns = [
        {
            "column": one.column,
            "value": one.value,
            "log_odds" if of_classes else "adds": numbers(one.adds),
            **({"counted": one.weight} if of_classes else {}),
            **({"words": {w: numbers(adds) for w, adds in one.words.items()}} if one.words else {}),
        }
        for one in found.contributions
    ]
    facts = {
        "row": found.row + 1,
        found.start[0].replace(" ", "_"): numbers(found.start[1]),
        "columns": columns,
    }
    if not of_classes:
        return facts | {"prediction": numbers(found.total)}
    facts |= {"prediction": found.prediction, "probability": found.probability}
    facts |= {"against": found.against, "sum": numbers(found.total)}
    return facts | ({"interval": list(found.interval)} if found.interval else {})
