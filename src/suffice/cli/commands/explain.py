"""``suffice explain``: the evidence of every column for a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.models import has_candidates, known_columns, load_model, predicts_numbers
from suffice.cli.options import AsJson, Data, Ignore, ModelFile, ReadAs, Reading
from suffice.cli.output import decibans, deliver, short
from suffice.errors import DataError, ParameterError
from suffice.numerics.in_print import Table, percent

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.models.base.answers import Evidence
    from suffice.models.linear.effects import Effects

MOST_COLUMNS = 20
MOST_WORDS = 8  # of one text
ONCE = 0.995  # a column of less weight is named


def explain(
    *,
    model: ModelFile,
    data: Data,
    rows: Annotated[int, typer.Option(min=1, help="How many rows.")] = 3,
    as_json: AsJson = False,
    read: ReadAs = None,
    ignore: Ignore = None,
) -> None:
    """Explain predictions: the evidence of every column.

    Evidence for the predicted class against the next is in decibans, which add
    up: 10 are odds of 10 to 1, 20 of 100 to 1. Of a predicted number: what every
    column adds to the prediction of the average row.
    """
    from suffice.data.table import FirstRows

    fitted: Any = load_model(model)
    opened = Reading.of(read).open(data, fitted.reader_.format)
    table = FirstRows(known_columns(opened, fitted, ignore=ignore), rows)
    head = table.head()
    cells = head.to_pylist()
    if not cells:
        raise DataError(f"{data[0]} holds no row", "there is nothing to explain")
    found = fitted.explain(table)
    if predicts_numbers(fitted):
        effects = [_effects(found, row, of) for row, of in enumerate(cells)]
        facts = {"rows": [*effects]}
        deliver(facts, lambda: (_effect_table(row) for row in effects), as_json)
        return
    if len(found.classes) < 2:
        raise DataError(
            f"the model knows one class, {found.classes[0]!r}",
            "an explanation compares two",
            "fit it to rows of another class",
        )
    explained = [_evidence(fitted, found, head, row, of) for row, of in enumerate(cells)]
    _add_intervals(explained, fitted, table)
    facts = {"rows": [*explained]}
    deliver(facts, lambda: _shown(explained), as_json)


# Classes ----------------------------------------------------------------------------------------


def _evidence(
    model: Any, found: Evidence, head: pa.RecordBatch, row: int, cells: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what every column of a row says for the most probable class against the next."""
    from suffice.bayes import column_weights
    from suffice.models.base.answers import DECIBAN

    probability = found.probabilities[row]
    second, first = probability.argsort(kind="stable")[-2:]
    prior, columns = found.log_odds(first, second)
    # Columns that are calibrated one by one have weights; an average asks all models together.
    weighed = getattr(model, "calibration_", None) is not None and not hasattr(model, "bins_")
    weights = column_weights(model) if weighed else {}
    words = {} if has_candidates(model) else _word_evidence(model, head, row)
    parts: list[dict[str, Any]] = []
    for name, nats in zip(found.columns, columns[row].tolist(), strict=True):
        part: dict[str, Any] = {
            "column": name,
            "value": cells.get(name, ""),
            "counted": weights.get(name, 1.0),
            "decibans": nats * DECIBAN,
        }
        if name in words:
            own = {w: float((k[first] - k[second]) * DECIBAN) for w, k in words[name].items()}
            part["words"] = dict(sorted(own.items(), key=lambda one: -abs(one[1])))
        parts.append(part)
    parts.sort(key=lambda part: -abs(part["decibans"]))
    start = float(prior * DECIBAN)
    facts = {
        "row": row + 1,
        "prediction": found.classes[first],
        "probability": float(probability[first]),
        "against": found.classes[second],
        "columns": parts,
        "sum": start + sum(part["decibans"] for part in parts),
    }
    facts["prior" if found.start == "prior" else "average_row"] = start
    return facts


def _word_evidence(model: Any, head: pa.RecordBatch, row: int) -> dict[str, dict[str, Any]]:
    """Return what every word of a row adds to the classes, by column: arrays (k,).

    Counts of words enter the log-likelihoods one by one, so the words of a text add up to what the
    text adds, but for what a text without words does.
    """
    import numpy as np
    import pyarrow as pa

    from suffice.data.words import split_words

    found: dict[str, dict[str, Any]] = {}
    blocks = [block for block in model.reader_.layout.blocks if block.encoding == "events"]
    for name in (name for block in blocks for name in block.columns):
        text = head.column(name)[row].as_py() if name in head.schema.names else None
        if not isinstance(text, str):
            continue
        counted = split_words([text])
        words = counted.vocabulary.values
        alone = [" ".join([word] * int(n)) for word, n in zip(words, counted.data, strict=True)]
        rows = pa.Table.from_batches([head.take(pa.array([row] * (1 + len(words))))])
        asked = rows.set_column(rows.column_names.index(name), name, pa.array(["", *alone]))
        explained = model.explain(asked)
        if words and name in explained.columns:
            added = explained.contributions[:, explained.columns.index(name)]
            with np.errstate(invalid="ignore"):
                found[name] = dict(zip(words, added[1:] - added[0], strict=True))
    return found


def _add_intervals(explained: list[dict[str, Any]], model: Any, table: Any) -> None:
    """Add the interval of the probability, where the model has a posterior."""
    try:
        ends = model.predict_proba_interval(table)
    except ParameterError:
        return
    labels = model.classes_.tolist()
    for row, one in enumerate(explained):
        one["interval"] = ends[row, labels.index(one["prediction"])].tolist()


def _shown(explained: list[dict[str, Any]]) -> Iterator[str | Table]:
    for why in explained:
        yield _evidence_table(why)
        yield ""


def _evidence_table(why: dict[str, Any]) -> Table:
    title = f"Row {why['row']}: {why['prediction']}, with probability {percent(why['probability'])}"
    if "interval" in why:
        title += f" (95 % interval: {' to '.join(map(percent, why['interval']))})"
    start = ("prior", why["prior"]) if "prior" in why else ("average row", why["average_row"])
    rows = [[start[0], "", decibans(start[1])]]
    for part in why["columns"][:MOST_COLUMNS]:
        rows.append([part["column"], short(part["value"]), decibans(part["decibans"])])
        words = list(part.get("words", {}).items())
        if len(words) > 1:
            rows += [["", word, decibans(value)] for word, value in words[:MOST_WORDS]]
        if others := words[MOST_WORDS:]:
            noun = "word" if len(others) == 1 else "words"
            total = sum(value for _, value in others)
            rows.append(["", f"({len(others)} other {noun})", decibans(total)])
    if rest := why["columns"][MOST_COLUMNS:]:
        rows.append([_others(len(rest)), "", decibans(sum(part["decibans"] for part in rest))])
    rows.append(["sum", "", decibans(why["sum"])])
    less = [
        f"{part['column']} {part['counted']:.2f}"
        for part in why["columns"][:MOST_COLUMNS]
        if part["counted"] < ONCE
    ]
    notes = [f"Weights of columns that repeat each other: {', '.join(less)}."] if less else []
    header = ["", "value", f"decibans for {why['prediction']}, against {why['against']}"]
    return Table(title, header, rows, notes, left=(0, 1))


def _others(number: int) -> str:
    return "1 other column" if number == 1 else f"{number} other columns"


# Numbers ----------------------------------------------------------------------------------------


def _effects(found: Effects, row: int, cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the columns of one row add, the largest effect first."""
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


def _effect_table(facts: dict[str, Any]) -> Table:
    targets = list(facts["prediction"])
    lines = [("average row", "", facts["average_row"])]
    lines += [
        (one["column"], short(one["value"]), one["adds"]) for one in facts["columns"][:MOST_COLUMNS]
    ]
    if rest := facts["columns"][MOST_COLUMNS:]:
        total = {target: sum(one["adds"][target] for one in rest) for target in targets}
        lines.append((_others(len(rest)), "", total))
    lines.append(("prediction", "", facts["prediction"]))
    rows = [[name, cell, *(f"{x:.6g}" for x in adds.values())] for name, cell, adds in lines]
    return Table(f"Row {facts['row']}", ["", "value", *targets], rows, left=(0, 1))
