"""``suffice demo``: the whole path on a real table, without a file and without a network."""

from __future__ import annotations

from collections.abc import Iterator

import suffice
from suffice.cli.output import print_all
from suffice.cli.results import schema_table
from suffice.numerics.in_print import Table, percent

FOLDS = 10
LABEL = "cultivar"
NEXT = """\
4. Go on with your own table

  suffice fit table.csv --label COLUMN            fit a model, see how columns are read
  suffice cv table.csv --label COLUMN             which model predicts best
  suffice evaluate table.suffice test.csv         error rate and probabilities
  suffice predict table.suffice new.csv           a prediction for every row
  suffice explain table.suffice new.csv           and the evidence for it
"""


def demo() -> None:
    """Fit, evaluate, predict and explain on a table of wines."""
    print_all(_story())


def _story() -> Iterator[str | Table]:
    import pyarrow as pa
    from sklearn.datasets import load_wine

    from suffice.model_selection import evaluate_folds

    wine = load_wine()
    columns = dict(zip(wine.feature_names, map(pa.array, wine.data.T), strict=True))
    table = pa.table({**columns, LABEL: pa.array(wine.target_names[wine.target])})
    new, rows = table.slice(table.num_rows - 1), table.slice(0, table.num_rows - 1)
    yield "1. Fit\n"
    yield (
        f"{rows.num_rows} Italian wines of three cultivars, {len(columns)} measurements each, from "
        "scikit-learn's load_wine; one wine was put aside. One pass over the rows.\n"
    )
    model = suffice.NaiveBayes().fit(rows, LABEL)
    yield schema_table(model)
    yield "\n2. Evaluate\n"
    folds = evaluate_folds(suffice.NaiveBayes(), rows, LABEL, cv=FOLDS, shuffle=True)
    named = (("training data", model.evaluate(rows, LABEL)), (f"{FOLDS} folds", folds.pooled))
    scores = [[name, percent(found.error), f"{found.log_loss:.4f}"] for name, found in named]
    yield Table("", ["", "error rate", "log loss"], scores)
    yield "\n3. Predict and explain\n"
    yield model.explain(new).table()
    yield f"\n{NEXT}"
