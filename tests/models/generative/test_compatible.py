"""Models that cannot be put together: what divides them is said, with both sides."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from suffice import NaiveBayes, read_table
from suffice.errors import SchemaError
from suffice.naive_bayes import BernoulliNB, GaussianNB

TABLE = pa.table({"u": [1.0, 2.0, 3.5], "v": ["p", "q", "p"], "kind": ["a", "b", "a"]})


def fit(table: pa.Table = TABLE, label: str = "kind", **options: Any) -> NaiveBayes:
    return NaiveBayes.textbook(**options).fit(table, label)


NUMBERS = TABLE.set_column(2, "kind", pa.array([1, 2, 1]))
TWO = TABLE.set_column(0, "u", pa.array([0, 1, 0]))

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "another column": (
        lambda: fit().merge(fit(TABLE.rename_columns(["u", "w", "kind"]))),
        "column 'v' is in this model only",
    ),
    "a column more": (
        lambda: fit(TABLE.drop(["v"])).compare(fit()),
        "column 'v' is in the other only",
    ),
    "another family": (
        lambda: fit().merge(fit(families={"u": "poisson"}, table=NUMBERS.set_column(
            0, "u", pa.array([1, 2, 3])))),
        "column 'u' is Gaussian() in this model and Poisson() in the other",
    ),
    "another order": (
        lambda: fit().merge(fit(TABLE.select(["v", "u", "kind"]))),
        "the columns of this model come in the order 'u', 'v', those of the other 'v', 'u'",
    ),
    "other outcomes": (
        lambda: fit(TWO, families={"u": "bernoulli"}).merge(
            fit(TWO.set_column(0, "u", pa.array([-1, 1, -1])), families={"u": "bernoulli"})
        ),
        "column 'u' holds 0 and 1 in this model and -1 and 1 in the other",
    ),
    "another label": (
        lambda: fit().merge(fit(TABLE.rename_columns(["u", "v", "sort"]), "sort")),
        "the label of this model is 'kind', that of the other is 'sort'",
    ),
    "labels of another type": (
        lambda: fit().merge(fit(NUMBERS)),
        "the labels of this model are of the type str, those of the other of the type number",
    ),
    "a batch whose labels are of another type": (
        lambda: GaussianNB().fit([[1.0], [2.0]], [0, 1]).partial_fit([[1.0]], ["0"]),
        "the labels learnt before are of the type number, those of this table of the type str",
    ),
    "declared labels of another type": (
        lambda: GaussianNB().partial_fit([[1.0], [2.0]], [0, 1], classes=["a", "b"]),
        "the labels in `classes` are of the type str, those of this table of the type number",
    ),
    "declared later, of another type": (
        lambda: GaussianNB().fit([[1.0], [2.0]], [0, 1]).partial_fit([[1.0]], [0], classes=["a"]),
        "the labels in `classes` are of the type str, those of this table of the type number",
    ),
    "thresholds": (
        lambda: BernoulliNB(binarize=5.5).fit([[1.0], [6.0]], [0, 1]).merge(
            BernoulliNB(binarize=0.0).fit([[1.0], [6.0]], [0, 1])
        ),
        "binarize is 5.5 in this model and 0.0 in the other",
    ),
    "missing cells": (
        lambda: fit(read_table(TABLE, missing=("?", "-"))).compare(fit()),
        "missing is ('-', '?') in this model and () in the other",
    ),
    "ends of labels": (
        lambda: fit(read_table(TABLE, label_suffix=".")).merge(fit()),
        "label_suffix is '.' in this model and '' in the other",
    ),
    "names of labels": (
        lambda: fit(read_table(TABLE, label_map={"a": "A"})).merge(fit()),
        "label_map is {'a': 'A'} in this model and {} in the other",
    ),
    "groups": (
        lambda: fit(pairs(), families={("u", "v"): "joint_table"}).merge(
            fit(pairs(), families={"u": "joint_table", "v": "joint_table"})
        ),
        "this model and the other group the same columns in different ways",
    ),
}  # fmt: skip


def pairs() -> pa.Table:
    return pa.table({"u": ["r", "s"], "v": ["p", "q"], "kind": ["a", "b"]})


@pytest.mark.parametrize("case", CASES)
def test_both_sides_are_named(case: str) -> None:
    make, fact = CASES[case]
    with pytest.raises(SchemaError, match=re.escape(fact)):
        make()


def test_the_order_of_missing_tokens_does_not_divide_models() -> None:
    mine, other = (read_table(TABLE, missing=tokens) for tokens in (["?", "-"], ["-", "?", "-"]))
    model = fit(mine).merge(fit(other))
    assert model.class_count_.tolist() == [4.0, 2.0]


def test_a_failed_merge_leaves_both_models() -> None:
    mine, theirs = fit(), fit(NUMBERS)
    before = mine.statistic_, theirs.statistic_
    with pytest.raises(SchemaError):
        mine.merge(theirs)
    assert (mine.statistic_, theirs.statistic_) == before
    assert mine.classes_.tolist() == ["a", "b"]


def test_numbers_are_labels_of_one_type_and_truth_values_are_none_of_them() -> None:
    model = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    assert model.partial_fit([[3.0]], [2.0]).classes_.tolist() == [0, 1, 2]
    with pytest.raises(SchemaError, match="of the type number, those of this table of the type bo"):
        model.partial_fit([[3.0]], [True])


def test_models_of_arrays_and_tables_have_labels_without_a_name() -> None:
    named = BernoulliNB().fit(pa.table({"x0": [0, 1], "kind": [1, 2]}), "kind")
    assert named.reader_.layout.label == "kind"
    array = BernoulliNB().fit([[0], [1]], [1, 2])
    assert array.reader_.layout.label is None
    assert array.merge(named).class_count_.tolist() == [2.0, 2.0]
