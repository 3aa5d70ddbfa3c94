"""``suffice demo``: the whole path on a real table, without a file and without a network."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table

import suffice
from suffice.cli.options.shared import AsJson
from suffice.cli.output.explanation import (
    Contribution,
    Explanation,
    explanation_facts,
    explanations,
)
from suffice.cli.output.fitted import schema_facts, schema_grid
from suffice.cli.output.tables import decibans, deliver, grid, percent, print_all, short

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.cli.documents import Demonstration, WineErrors
    from suffice.models.generative.classifier import GenerativeClassifier

__all__ = ["demo"]

SEED = 0
BLANKED = 0.1
HELD_OUT = 3
FOLDS = 10
LABEL = "cultivar"
LEARNT, NOT_LEARNT = "on the wines it learnt from", "on wines it had not learnt"
COLOURS = {"pale": 3.5, "medium": 6.0}
LONG_NAME, SHORT_NAME = "od280/od315_of_diluted_wines", "od280/od315"
MEASURED = (
    "alcohol",
    "malic_acid",
    "ash",
    "alcalinity_of_ash",
    "magnesium",
    "total_phenols",
    "flavanoids",
    "nonflavanoid_phenols",
    "proanthocyanins",
    "color_intensity",
    "hue",
    LONG_NAME,
    "proline",
)

NEXT = """\
Now your own table, in any of CSV, TSV, Parquet or Arrow:

  suffice fit table.csv --label COLUMN            learn, and see what it made of
                                                  every column
  suffice cv table.csv --label COLUMN             which model answers new rows best
  suffice evaluate table.suffice test.csv         how often it errs, and where
  suffice predict table.suffice new.csv           an answer for every row
  suffice explain table.suffice new.csv           and the reasons
  suffice show table.suffice                      all that the model knows
  suffice merge a.suffice b.suffice -o c.suffice  one model of the rows of both
  suffice forget table.suffice x.csv -o c.suffice  the model without these rows
"""


def demo(as_json: AsJson = False) -> None:
    """Show the whole path on a real table, without a file and without a network."""
    if as_json:
        deliver(_facts(), list, True, None)
    else:
        print_all(_story())


def _story() -> Iterator[RenderableType]:
    table = _wines()
    blanked, measured = _blanked(table), table.num_columns - 1
    fraction = percent(blanked / (table.num_rows * measured))
    rows, new = _held_out(table)
    yield _heading("The table")
    yield (
        f"{table.num_rows} Italian wines of three cultivars, {measured} measurements each, from "
        "scikit-learn's load_wine. Three things were done to it: color_intensity was cut into the "
        "words pale, medium and dark, so that there is a column of words; "
        f"{blanked} cells, {fraction} of all, were blanked at random (seed {SEED}), because real "
        f"tables have holes; {LONG_NAME} was shortened to {SHORT_NAME}. {HELD_OUT} wines were put "
        "aside.\n"
    )
    model = suffice.NaiveBayes().fit(rows, LABEL)
    yield _heading("1. Learn")
    yield (
        f"One pass over {rows.num_rows} wines. Every column gets the model that its cells suggest; "
        "an empty cell is left out, not filled in."
    )
    yield schema_grid(model)
    yield _heading("2. Check")
    yield from _cross_check(model, rows)
    yield _heading("3. Answer, and say why")
    yield from _predictions(model, new)
    yield _heading("4. Go on")
    yield NEXT


def _facts() -> Demonstration:
    """What the story tells, for programs."""
    table = _wines()
    rows, new = _held_out(table)
    model = suffice.NaiveBayes().fit(rows, LABEL)
    scores = {name: _scores(found) for name, found in _evaluations(model, rows)}
    forgotten, gap = _forgotten(model, rows)
    explained = zip(_explained(model, new), new[LABEL].to_pylist(), strict=True)
    return {
        "rows": table.num_rows,
        "blanked_cells": _blanked(table),
        "held_out": HELD_OUT,
        "columns": schema_facts(model),
        "learnt": scores[LEARNT],
        "not_learnt": {**scores[NOT_LEARNT], "folds": FOLDS},
        "forgotten": {"rows": forgotten, "largest_difference": gap},
        "answers": [{**explanation_facts(why), "truth": truth} for why, truth in explained],
    }


def _scores(found: Any) -> WineErrors:
    return {"error": found.error, "log_loss": found.log_loss}


def _blanked(table: pa.Table) -> int:
    return sum(column.null_count for column in table.columns)


def _heading(text: str) -> RenderableType:
    from rich.text import Text

    return Text(f"{text}\n", style="bold")


def _wines() -> pa.Table:
    """The wines with one column in words, and some cells blanked."""
    import numpy as np
    import pyarrow as pa

    data, names, cultivars = _load_wine()
    blank = np.random.default_rng(SEED).random(data.shape) < BLANKED
    columns: dict[str, Any] = {}
    for name, values, holes in zip(names, data.T, blank.T, strict=True):
        cells = _colours(values) if name == "color_intensity" else values
        columns[SHORT_NAME if name == LONG_NAME else name] = pa.array(cells, mask=holes)
    columns[LABEL] = pa.array(cultivars)
    return pa.table(columns)


def _load_wine() -> tuple[Any, Sequence[str], Any]:
    """Measurements (178, 13), their names, and cultivars.

    The file of scikit-learn is read where it lies: importing its datasets takes longer than all
    that the demonstration does.
    """
    import numpy as np

    package = find_spec("sklearn")
    for folder in (package.submodule_search_locations if package else None) or ():
        path = Path(folder, "datasets", "data", "wine_data.csv")
        if path.is_file():
            cells = np.loadtxt(path, delimiter=",", skiprows=1)
            cultivars = np.array([f"class_{code:.0f}" for code in cells[:, -1]])
            return cells[:, :-1], MEASURED, cultivars
    from sklearn.datasets import load_wine

    wine = load_wine()
    return wine.data, wine.feature_names, wine.target_names[wine.target]


def _colours(intensity: Any) -> Any:
    import numpy as np

    names = np.array([*COLOURS, "dark"], dtype=object)
    return names[np.searchsorted(list(COLOURS.values()), intensity)]


def _held_out(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Put one wine of each third of the table aside, that is, one of each cultivar."""
    import numpy as np

    step = table.num_rows // HELD_OUT
    aside = np.arange(HELD_OUT) * step + step // 2
    return table.take(np.setdiff1d(np.arange(table.num_rows), aside)), table.take(aside)


def _evaluations(model: GenerativeClassifier, rows: pa.Table) -> list[tuple[str, Any]]:
    """How the model does on its own rows, and models of nine folds on the tenth."""
    from suffice.model_selection import evaluate_folds

    folds = evaluate_folds(
        suffice.NaiveBayes(), rows, LABEL, cv=FOLDS, shuffle=True, random_state=SEED
    )
    return [(LEARNT, model.evaluate(rows, LABEL)), (NOT_LEARNT, folds.pooled)]


def _forgotten(model: GenerativeClassifier, rows: pa.Table) -> tuple[int, float]:
    """How many rows were forgotten, and how far probabilities are from those of a new fit."""
    import numpy as np

    first, others = rows.slice(0, rows.num_rows // FOLDS), rows.slice(rows.num_rows // FOLDS)
    forgotten = copy.deepcopy(model).forget(first, LABEL)
    refitted = suffice.NaiveBayes().fit(others, LABEL)
    gap = np.abs(refitted.predict_proba(first) - forgotten.predict_proba(first)).max()
    return first.num_rows, float(gap)


def _cross_check(model: GenerativeClassifier, rows: pa.Table) -> Iterator[RenderableType]:
    """Ten folds from one pass, and what forgetting one of them leaves."""
    scores = grid("", "error rate", "log loss")
    for name, found in _evaluations(model, rows):
        scores.add_row(name, percent(found.error), f"{found.log_loss:.4f}")
    yield (
        f"The wines are dealt into {FOLDS} folds. Each fold is answered by a model of the other "
        "nine. A model is a function of sums, so the sums of every fold are taken once, and added."
    )
    yield scores
    count, gap = _forgotten(model, rows)
    same = "the same to the last bit" if gap == 0 else f"the same within {gap:.1g}"
    yield (
        f"Sums can be subtracted, too. A model that forgets {count} wines, and one that "
        f"never saw them, give probabilities that are {same}.\n"
    )


def _explained(model: GenerativeClassifier, new: pa.Table) -> Sequence[Explanation]:
    return explanations(model.explain(new), new.to_pylist(), counted=model.column_weights_)


def _predictions(model: GenerativeClassifier, new: pa.Table) -> Iterator[RenderableType]:
    explained = _explained(model, new)
    yield (
        f"The {HELD_OUT} wines put aside. Every column says so many decibans for the answer and "
        "against the runner-up; they add up. 10 are odds of 10 to 1, 20 of 100 to 1."
    )
    yield _side_by_side(explained, model)
    for number, (why, truth) in enumerate(zip(explained, new[LABEL].to_pylist(), strict=True), 1):
        verdict = "right" if why.prediction == truth else f"wrong, it is {truth}"
        yield (
            f"  wine {number}: {why.prediction} with probability {percent(why.probability)}, "
            f"before {why.against}: {verdict}"
        )
    yield ""


def _side_by_side(explained: Sequence[Explanation], model: GenerativeClassifier) -> Table:
    headings = [f"{heading} {n}" for n in range(1, HELD_OUT + 1) for heading in ("wine", "dB")]
    table = grid("", *headings)
    table.padding = (0, 1, 0, 0)
    by_column = [{part.column: part for part in why.contributions} for why in explained]
    table.add_row("prior", *_pairs([Contribution("", "", why.prior) for why in explained]))
    for column in model.schema_:
        table.add_row(column.name, *_pairs([parts[column.name] for parts in by_column]))
    table.add_section()
    table.add_row("sum", *_pairs([Contribution("", "", why.total) for why in explained]))
    return table


def _pairs(parts: Sequence[Contribution]) -> list[str]:
    return [text for part in parts for text in (short(part.value), decibans(part.decibans))]
