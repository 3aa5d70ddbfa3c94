"""The laws of what a column is: all rows that a model holds decide it, however they came."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from tests.laws.comparing import frozen, require

__all__ = ["check_kinds"]


def check_kinds(make: Callable[[], Any], table: pa.Table, label: str, seed: int = 0) -> None:
    """Check that what columns are, and answers, follow from the rows that a model holds.

    ::

        fit in any order, partial_fit in any parts, merge of any parts = fit
        fit of all, then forget some = fit of the rest

    Equal are what ``schema_`` says of every column, the statistics, and to the last bit the log
    joints and the probabilities of all rows. Columns whose type leaves it open whether they hold
    texts or categories are left to the first rows; they are not for this law.

    Parameters
    ----------
    make : callable
        Returns a new classifier, to be fitted.
    table : pyarrow.Table
        Rows of two labels or more.
    label : str
        Name of the label column.
    seed : int
        For the order of the rows, the parts, and the rows that are forgotten.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> table = pa.table({"rooms": [1, 2, 2, 3, 300, 1], "kind": list("apapap")})
    >>> check_kinds(NaiveBayes.textbook, table, "kind")
    """
    rng = np.random.default_rng(seed)
    whole = make().fit(table, label)
    for law, model in _made(make, table, label, rng):
        _same(model, whole, table, label, law)
    kept = rng.permutation(len(table))[: max(2, len(table) // 3)]
    if len(set(table[label].take(kept).to_pylist())) > 1:
        gone = np.setdiff1d(np.arange(len(table)), kept)
        rest = make().fit(table.take(kept), label)
        model = make().fit(table, label).forget(table.take(gone), label)
        _same(model, rest, table, label, "fit of all, then forget some = fit of the rest")


def _made(
    make: Callable[[], Any], table: pa.Table, label: str, rng: np.random.Generator
) -> Iterator[tuple[str, Any]]:
    """Models of the same rows, made in other ways."""
    n = len(table)
    turned = table.take(rng.permutation(n))
    yield "fit in any order = fit", make().fit(turned, label)
    ends = [0, *np.sort(rng.integers(0, n + 1, 3)).tolist(), n]
    parts = [turned[a:b] for a, b in pairwise(ends) if b > a]
    streamed = make()
    for part in parts:
        streamed.partial_fit(part, label)
    yield "partial_fit in any parts = fit", streamed
    merged = make().partial_fit(parts[0], label)
    for part in parts[1:]:
        merged.merge(make().partial_fit(part, label))
    yield "merge of any parts = fit", merged


def _same(model: Any, expected: Any, table: pa.Table, label: str, law: str) -> None:
    require(frozen(tuple(model.schema_)) == frozen(tuple(expected.schema_)), f"{law}: kinds")
    require(model.statistic_ == expected.statistic_, f"{law}: statistic")
    rows = table.drop([label])
    for method in ("predict_joint_log_proba", "predict_proba"):
        mine, theirs = (getattr(one, method)(rows) for one in (model, expected))
        require(frozen(mine) == frozen(theirs), f"{law}: {method}")
