"""``suffice demo``: the whole path on a real table, without a file and without a network."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

import suffice
from suffice.cli.output.explanation import explanations
from suffice.cli.output.fitted import schema_grid
from suffice.cli.output.tables import decibans, grid, percent, print_all, short

__all__ = ["demo"]

FOLDS = 10
LABEL = "cultivar"
NEXT = """\
Now your own table, in any of CSV, TSV, Parquet or Arrow:

  suffice fit table.csv --label COLUMN            fit a model, see what it made
                                                  of every column
  suffice cv table.csv --label COLUMN             which model predicts best
  suffice evaluate table.suffice test.csv         how often it errs, and where
  suffice predict table.suffice new.csv           a prediction for every row
  suffice explain table.suffice new.csv           and the reasons
  suffice show table.suffice                      all that the model knows
  suffice merge a.suffice b.suffice -o c.suffice  one model of the rows of both
  suffice forget table.suffice x.csv -o c.suffice  the model without these rows
"""


def demo() -> None:
    """Show the whole path on a real table, without a file and without a network."""
    print_all(_story())


def _story() -> Iterator[RenderableType]:
    import pyarrow as pa
    from sklearn.datasets import load_wine

    from suffice.model_selection import evaluate_folds

    wine = load_wine()
    columns = dict(zip(wine.feature_names, map(pa.array, wine.data.T), strict=True))
    table = pa.table({**columns, LABEL: pa.array(wine.target_names[wine.target])})
    new = table.slice(table.num_rows - 1)
    rows = table.slice(0, table.num_rows - 1)
    yield Text("1. Fit\n", style="bold")
    yield (
        f"{rows.num_rows} Italian wines of three cultivars, {len(columns)} measurements each, from "
        "scikit-learn's load_wine; one wine was put aside. One pass over the rows."
    )
    model = suffice.NaiveBayes().fit(rows, LABEL)
    yield schema_grid(model)
    yield Text("2. Check\n", style="bold")
    folds = evaluate_folds(suffice.NaiveBayes(), rows, LABEL, cv=FOLDS, shuffle=True)
    scores = grid("", "error rate", "log loss")
    fitted = model.evaluate(rows, LABEL)
    for name, found in (("training data", fitted), (f"{FOLDS} folds", folds.pooled)):
        scores.add_row(name, percent(found.error), f"{found.log_loss:.4f}")
    yield scores
    yield Text("3. Predict, and say why\n", style="bold")
    (why,) = explanations(model.explain(new), new.to_pylist())
    evidence = grid("", "value", f"decibans for {why.prediction}, against {why.against}")
    evidence.add_row(why.start, "", decibans(why.prior))
    for part in why.contributions:
        evidence.add_row(part.column, short(part.value), decibans(part.decibans))
    yield evidence
    yield f"  {why.prediction}, with probability {percent(why.probability)}\n"
    yield Text("4. Go on\n", style="bold")
    yield NEXT
