"""The laws of an estimator that is a function of one exact statistic."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from tests.laws.comparing import frozen, require
from tests.laws.row_laws import check_rows

from suffice import load

__all__ = ["check_estimator_laws"]

Make = Callable[[], Any]


def check_estimator_laws(make: Make, table: pa.Table, label: str) -> None:
    """Check that an estimator depends on the rows that it holds, and on nothing else.

    ::

        partial_fit piece by piece = fit of all, in any order
        fit(A + B).forget(B)       = fit(A)
        fit(A).merge(fit(B))       = fit(A + B)
        a row of weight w          = the row w times; of weight 0, its absence
        load(save(model))          = model, and goes on learning as the model does
        A, then B with decay ½     = fit(A + B), the rows of A with the weight ½
        A, then B in a window of 1 = fit(B)
        a row alone                = the row among others (`check_rows`)

    Equal are the statistics, and to the last bit the parameters and the log joints of all rows.

    Parameters
    ----------
    make : callable
        Returns a new estimator, to be fitted.
    table : pyarrow.Table
        Six rows or more. Its first third shows two labels. Its first and its last third suggest
        the same kind for every column as the whole table, or the estimator is given families.
    label : str
        Name of the label column.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> table = pa.table({"size": [1.0, 5.0, 2.0, 4.0, 1.5, 6.0], "kind": list("apapap")})
    >>> check_estimator_laws(NaiveBayes.textbook, table, "kind")
    """
    laws = (
        *(_check_pieces, _check_order, _check_forget, _check_merge),
        *(_check_weights, _check_stream, _check_file, _check_alone),
    )
    for law in laws:
        law(make, table, label)


def _check_pieces(make: Make, table: pa.Table, label: str) -> None:
    model, third = make(), len(table) // 3
    for piece in (table[:third], table[:0], table[third:-1], table[-1:]):
        model.partial_fit(piece, label)
    _same(model, make().fit(table, label), table, label, "partial_fit in pieces = fit")


def _check_order(make: Make, table: pa.Table, label: str) -> None:
    third = len(table) // 3
    turned = pa.concat_tables([table[-third:], table[:-third]])
    _same(make().fit(turned, label), make().fit(table, label), table, label, "order is nothing")


def _check_forget(make: Make, table: pa.Table, label: str) -> None:
    third = len(table) // 3
    kept, rest = table[:third], table[third:]
    forgetful = make().fit(table, label).forget(rest, label)
    _same(forgetful, make().fit(kept, label), table, label, "fit(A + B).forget(B) = fit(A)")


def _check_merge(make: Make, table: pa.Table, label: str) -> None:
    third = len(table) // 3
    first, last = make().fit(table[:-third], label), make().partial_fit(table[-third:], label)
    before = frozen(last.statistic_)
    merged = first.merge(last)
    require(frozen(last.statistic_) == before, "merge leaves the other model as it was")
    _same(merged, make().fit(table, label), table, label, "fit(A).merge(fit(B)) = fit(A + B)")


def _check_weights(make: Make, table: pa.Table, label: str) -> None:
    times = np.resize([1, 2, 3, 1, 0], len(table))
    column = _free_name(table)
    weighted = table.append_column(column, pa.array(times.astype(np.float64)))
    repeated = table.take(np.repeat(np.arange(len(table)), times))
    model = make().fit(weighted, label, sample_weight=column)
    _same(model, make().fit(repeated, label), table, label, "weights are repetitions")

    once = table.append_column(column, pa.array((times > 0).astype(np.float64)))
    model = make().fit(once, label, sample_weight=column)
    present = table.take(np.flatnonzero(times))
    _same(model, make().fit(present, label), table, label, "weight 0 is absence")


def _check_stream(make: Make, table: pa.Table, label: str) -> None:
    third = len(table) // 3
    first, last = table[:-third], table[-third:]
    column = _free_name(table)
    weights = np.repeat([0.5, 1.0], [len(first), len(last)])
    weighted = table.append_column(column, pa.array(weights))
    faded = make().fit(first, label).partial_fit(last, label, decay=0.5)
    expected = make().fit(weighted, label, sample_weight=column)
    _same(faded, expected, table, label, "decay is a weight")

    moved = make().fit(first, label).partial_fit(last, label, window=1)
    _same(moved, make().partial_fit(last, label), table, label, "a window of 1 is the last batch")


def _check_file(make: Make, table: pa.Table, label: str) -> None:
    third = len(table) // 3
    model = make().fit(table[:-third], label)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        loaded = load(path)
    _same(loaded, model, table, label, "a loaded model is the model saved")
    require(loaded.get_params() == model.get_params(), "a loaded model has the same options")
    loaded.partial_fit(table[-third:], label)
    _same(loaded, make().fit(table, label), table, label, "a loaded model goes on learning")


def _check_alone(make: Make, table: pa.Table, label: str) -> None:
    check_rows(make().fit(table, label), table.drop([label]))


def _same(model: Any, expected: Any, table: pa.Table, label: str, law: str) -> None:
    require(frozen(model.classes_) == frozen(expected.classes_), f"{law}: classes")
    require(model.statistic_ == expected.statistic_, f"{law}: statistic")
    pairs = [(m.model_.prior, m.model_.parameters) for m in (model, expected)]
    require(frozen(pairs[0]) == frozen(pairs[1]), f"{law}: parameters")
    scores = [_scores(m, table, label) for m in (model, expected)]
    require(frozen(scores[0]) == frozen(scores[1]), f"{law}: log joints")


def _scores(model: Any, table: pa.Table, label: str) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = model.predict_joint_log_proba(table.drop([label]))
    return scores


def _free_name(table: pa.Table) -> str:
    name = "weight"
    while name in table.column_names:
        name += "_"
    return name
