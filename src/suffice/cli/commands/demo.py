"""``suffice demo``: the whole path on a real table, without a file and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import suffice
from suffice.atomic import atomic_writer
from suffice.cli.options import option
from suffice.cli.output import print_all
from suffice.errors import ParameterError
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


TRY = """\
  suffice fit wines.csv --label cultivar          measurements of three kinds of wine
  suffice cv wines.csv --label cultivar
  suffice fit diabetes.csv --target progression   a number, from age, sex and blood
  suffice fit january.csv --label left            customers; cells are missing
  suffice update january.suffice february.csv
"""
MONTHS = "january", "february"
CUSTOMERS = 200  # a month


def demo(
    *,
    files: Annotated[
        Path | None, option("DIR", "Write small files to play with, and say what to try.")
    ] = None,
) -> None:
    """Fit, evaluate, predict and explain on a table of wines.

    Example: suffice demo --files demo
    """
    print_all(_story() if files is None else _written(files))


def _written(folder: Path) -> Iterator[str]:
    """Write small tables, none over a file that is there; yield what they are good for."""
    import pyarrow as pa
    from pyarrow import csv
    from sklearn.datasets import load_diabetes

    sick = load_diabetes(scaled=False)
    columns = dict(zip(sick.feature_names, sick.data.T.tolist(), strict=True))
    tables = {"wines": _wines(), "diabetes": {**columns, "progression": sick.target.tolist()}}
    tables |= {name: _customers(seed) for seed, name in enumerate(MONTHS)}
    paths = {name: folder / f"{name}.csv" for name in tables}
    for path in paths.values():
        if path.exists():
            raise ParameterError(f"{path} is there", "it would be lost", "choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in paths.items():
        with atomic_writer(path) as file:
            csv.write_csv(pa.table(tables[name]), file, csv.WriteOptions(quoting_style="needed"))
    yield f"{len(paths)} files written to {folder}. Try there:\n"
    yield TRY


def _wines() -> dict[str, Any]:
    from sklearn.datasets import load_wine

    wine = load_wine()
    columns = dict(zip(wine.feature_names, wine.data.T.tolist(), strict=True))
    return {**columns, LABEL: wine.target_names[wine.target].tolist()}


def _customers(month: int) -> dict[str, Any]:
    """Return customers who are drawn: age, plan, spending, and whether they left."""
    import numpy as np

    rng = np.random.default_rng(month)
    left = rng.random(CUSTOMERS) < 0.3
    age = rng.integers(18, 80, CUSTOMERS) - 6 * left
    plan = np.where(rng.random(CUSTOMERS) < 0.5 + 0.3 * left, "monthly", "yearly").tolist()
    spent = np.round(rng.gamma(4, 10, CUSTOMERS) * (1 - 0.3 * left) + 5 * month, 2).tolist()
    missing = rng.random(CUSTOMERS) < 0.08
    return {
        "age": np.maximum(age, 18).tolist(),
        "plan": plan,
        "spent": [None if gone else cell for cell, gone in zip(spent, missing, strict=True)],
        "left": np.where(left, "yes", "no").tolist(),
    }


def _story() -> Iterator[str | Table]:
    import pyarrow as pa

    from suffice.model_selection import evaluate_folds

    table = pa.table(_wines())
    new, rows = table.slice(table.num_rows - 1), table.slice(0, table.num_rows - 1)
    yield "1. Fit\n"
    measured = f"{table.num_columns - 1} measurements each"
    yield (
        f"{rows.num_rows} Italian wines of three cultivars, {measured}, from "
        "scikit-learn's load_wine; one wine was put aside. One pass over the rows.\n"
    )
    model = suffice.NaiveBayes().fit(rows, LABEL)
    yield model.schema_.table()
    yield "\n2. Evaluate\n"
    folds = evaluate_folds(
        suffice.NaiveBayes(), rows, LABEL, cv=FOLDS, shuffle=True, random_state=0
    )
    named = (("training data", model.evaluate(rows, LABEL)), (f"{FOLDS} folds", folds.pooled))
    scores = [[name, percent(found.error), f"{found.log_loss:.4f}"] for name, found in named]
    yield Table("", ["", "error rate", "log loss"], scores)
    yield "\n3. Predict and explain\n"
    yield model.explain(new).table()
    yield f"\n{NEXT}"
