"""AODE against exact fractions, and what it keeps of a table."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from tests.laws.estimator_laws import check_estimator_laws

from suffice import AODE, NaiveBayes, load
from suffice.bayes import column_weights, linear_form
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError, SufficeWarning
from suffice.privacy import audit

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")

ROWS = [
    ("r", "s", "u", "yes"),
    ("r", "s", None, "yes"),
    ("g", "s", "v", "yes"),
    ("g", "t", "u", "no"),
    ("b", None, "v", "no"),
    ("r", "t", "v", "no"),
    ("b", "t", "u", "no"),
    (None, "s", "v", "yes"),
]
VALUES = (("b", "g", "r"), ("s", "t"), ("u", "v"))


def categories(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*(row[:3] for row in rows), strict=True)
    return pa.table(
        {n: pa.array(list(c), pa.string()) for n, c in zip("abc", columns, strict=True)}
    )


def by_fractions(row: tuple[Any, ...]) -> dict[str, Fraction]:
    """P(c, x) as Weka's AODE has it, m = 1, by counting rows."""

    def shown(c: str | None, *cells: tuple[int, Any]) -> int:
        """Rows of a class that show these cells; None is any value that is not missing."""
        fits = (
            (c is None or one[3] == c)
            and all(one[j] is not None and v in (None, one[j]) for j, v in cells)
            for one in ROWS
        )
        return sum(fits)

    places = [j for j in range(3) if row[j] is not None]
    parents = [i for i in places if shown(None, (i, row[i]))]
    if not parents:
        return {c: Fraction(4, 8) for c in ("no", "yes")}
    found = {}
    for c in ("no", "yes"):
        total = Fraction(0)
        for i in parents:
            m = len(VALUES[i])
            term = (shown(c, (i, row[i])) + Fraction(1, 2 * m)) / Fraction(
                shown(None, (i, None)) + 1
            )
            for j in places:
                if j != i:
                    both = shown(c, (i, row[i]), (j, row[j])) + Fraction(1, len(VALUES[j]))
                    term *= both / (shown(c, (i, row[i]), (j, None)) + 1)
            total += term
        found[c] = total / len(parents)
    return found


def test_probabilities_are_those_of_exact_fractions() -> None:
    model = AODE(calibration="none").fit(categories(ROWS), [row[3] for row in ROWS])
    asked = list(product(*((*values, None) for values in VALUES)))
    joint = model.predict_joint_log_proba(categories(asked))
    for row, logs, p in zip(asked, joint, model.predict_proba(categories(asked)), strict=True):
        exact = by_fractions(row)
        assert_allclose(np.exp(logs), [float(one) for one in exact.values()], rtol=1e-13)
        assert_allclose(p, [float(one / sum(exact.values())) for one in exact.values()], rtol=1e-13)


def test_what_no_row_showed_is_missing() -> None:
    model = AODE().fit(categories(ROWS * 5), [row[3] for row in ROWS * 5])
    new = categories([("violet", "s", "u"), ("violet", None, None)])
    same = categories([(None, "s", "u"), (None, None, None)])
    assert_array_equal(model.predict_proba(new), model.predict_proba(same))
    assert_array_equal(model.predict_proba(same)[1], model.class_prior_)


def mixed(n: int, seed: int = 0) -> tuple[pa.Table, list[str]]:
    """Numbers, categories and outcomes with holes; the class is the product of two signs."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = np.where((x[:, 0] > 0) == (x[:, 1] > 0), "same", "other")
    noise = rng.random((n, 3)) < 0.1
    hue = np.where(rng.random(n) < 0.7, y, rng.choice(["red", "blue"], n))
    table = {
        "size": pa.array(x[:, 0], mask=noise[:, 0]),
        "width": pa.array(x[:, 1]),
        "hue": pa.array(hue.tolist(), mask=noise[:, 1]),
        "old": pa.array((rng.random(n) < 0.5).tolist(), mask=noise[:, 2]),
    }
    return pa.table(table), y.tolist()


BINS = {
    "size": [-0.5, 0.0, 0.5],
    "width": [-0.5, 0.0, 0.5],
    "hue": ("blue", "other", "red", "same"),
    "old": (False, True),
}


def test_pairs_tell_what_single_columns_do_not() -> None:
    table, y = mixed(800)
    rows, test = (table[:400], y[:400]), (table[400:], y[400:])
    alone = NaiveBayes.textbook(numbers="density").fit(*rows).score(*test)
    plain = AODE(calibration="none", bins=BINS).fit(*rows)
    model = AODE(bins=BINS).fit(*rows)
    assert model.score(*test) > alone + 0.05
    assert model.calibration_.weights.shape == (5,)
    assert model.calibration_.after < model.calibration_.before
    truth = model.classes_.searchsorted(test[1])
    losses = [-m.predict_log_proba(test[0])[np.arange(400), truth].mean() for m in (plain, model)]
    assert losses[1] < losses[0]


def test_it_keeps_the_laws_of_an_estimator() -> None:
    table, y = mixed(60)
    families = {"size": "density", "width": "density", "hue": "categorical", "old": "bernoulli"}
    check_estimator_laws(
        lambda: AODE(families, bins=BINS, calibration="none"), table.append_column("y", [y]), "y"
    )


def test_order_and_parts_of_a_table_change_nothing() -> None:
    table, y = mixed(150)
    order = np.random.default_rng(1).permutation(150)
    whole = AODE(bins=BINS).fit(table, y)
    shuffled = AODE(bins=BINS).fit(table.take(order), np.array(y)[order])
    merged = AODE(bins=BINS).fit(table[:70], y[:70])
    merged.merge(AODE(bins=BINS).fit(table[70:], y[70:]))
    for other in (shuffled, merged):
        assert other.statistic_ == whole.statistic_
        assert_allclose(other.predict_proba(table), whole.predict_proba(table), rtol=1e-9)


def test_a_file_holds_sums_and_no_rows(tmp_path: Path) -> None:
    table, y = mixed(300)
    model = AODE(bins=BINS).fit(table, y)
    model.save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    for name in (b"sample_weight", b"sampled", b"SampledBins"):
        content = content.replace(name, b"")
    assert b"ample" not in content
    again = load(tmp_path / "model")
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert {n: list(v) for n, v in again.bins_.items()} == {n: list(v) for n, v in BINS.items()}
    assert not again.partial_fit(table[:50], y[:50]).calibration_.stale
    assert again.forget(table[:50], y[:50]).calibration_.stale
    assert again.calibrate(table, y).calibration_.stale is False


def test_a_forgotten_row_leaves_nothing_in_a_file(tmp_path: Path) -> None:
    table, y = mixed(100)
    secret = 1.234567890123456
    width = pa.array([*table["width"].to_pylist()[:99], secret])
    table = table.set_column(1, "width", width)
    before = AODE(bins=BINS, calibration="none").fit(table[:99], y[:99])
    after = AODE(bins=BINS, calibration="none").fit(table, y).forget(table[99:], y[99:])
    after.save(tmp_path / "after")
    again = load(tmp_path / "after")
    assert again.statistic_ == before.statistic_
    assert_array_equal(again.predict_proba(table), before.predict_proba(table))
    assert pack("<d", secret) not in (tmp_path / "after").read_bytes()
    assert len(again.forgotten_) == 1  # a digest with a random key


def test_what_was_never_there_is_not_forgotten() -> None:
    table, y = mixed(100)
    model = AODE(calibration="none").fit(table[:50], y[:50])
    with pytest.raises(ForgetError):
        model.forget(table[50:], y[50:])


def test_bins_are_learnt_once_and_said() -> None:
    table, y = mixed(400)
    model = AODE()
    with pytest.warns(SufficeWarning, match="bins of this first batch"):
        model.partial_fit(table[:200], y[:200])
    first = model.bins_
    assert list(first) == ["size", "width", "hue", "old"]
    model.partial_fit(table[200:], y[200:])
    assert {n: list(v) for n, v in model.bins_.items()} == {n: list(v) for n, v in first.items()}
    again = AODE(bins=first, calibration="none").fit(table, y)
    assert again.statistic_.blocks == model.statistic_.blocks


def test_other_bins_are_not_merged() -> None:
    table, y = mixed(200)
    model = AODE(bins=BINS, calibration="none").fit(table, y)
    other = AODE(bins=BINS | {"size": [0.0]}, calibration="none").fit(table, y)
    with pytest.raises(SchemaError, match=r"other bins.*bins_"):
        model.merge(other)


def test_columns_that_do_not_fit_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.models.generative.paired_columns.MOST_BYTES", 1e3)
    table, y = mixed(200)
    with pytest.warns(SufficeWarning, match=r"of 4 columns are in no pairs.*'size', 'width'"):
        model = AODE(calibration="none").fit(table, y)
    assert len(model.bins_) < 4
    assert model.predict_proba(table).shape == (200, 2)


def test_contributions_add_up_to_the_answer() -> None:
    table, y = mixed(200)
    model = AODE().fit(table, y)
    evidence = model.explain(table[:60])
    assert_allclose(evidence.probabilities, model.predict_proba(table[:60]), rtol=1e-12)
    missing = evidence.contributions[np.array(table["size"][:60].is_null()), 0]
    assert len(missing)
    assert_array_equal(missing, 0)


def refused() -> Iterator[tuple[str, Any]]:
    yield "a form of a model", lambda model, table: linear_form(model)
    yield "a draw of rows of a model", lambda model, table: model.sample()
    yield "log p\\(x\\) of a model", lambda model, table: model.score_samples(table)
    yield "an interval of a model", lambda model, table: model.predict_proba_interval(table)


@pytest.mark.parametrize(("said", "call"), list(refused()))
def test_what_it_cannot_say_it_refuses(said: str, call: Any) -> None:
    table, y = mixed(60)
    with pytest.raises(ParameterError, match=f"^{said}.*fit NaiveBayes"):
        call(AODE(calibration="none").fit(table, y), table)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bins": [1, 2]}, "maps columns to cuts or values"),
        ({"bins": {"weight": [1.0]}}, "bins names the column 'weight'"),
        ({"bins": {"size": [2.0, 1.0]}}, "the cuts between them, ascending"),
        ({"bins": {"size": "wide"}}, "the cuts between them, ascending"),
    ],
)
def test_options_outside_their_rule(options: dict[str, Any], said: str) -> None:
    table, y = mixed(60)
    with pytest.raises(ParameterError, match=said):
        AODE(**options).fit(table, y)


def test_without_any_pair_it_is_naive_bayes() -> None:
    table, y = mixed(200)
    model = AODE(bins={}).fit(table, y)
    assert model.bins_ == {}
    assert model.score(table, y) == pytest.approx(
        NaiveBayes(numbers="density", calibration="weights").fit(table, y).score(table, y), abs=0.03
    )
    alone = AODE(bins={}, calibration="none").fit(table, y)
    assert_allclose(alone.predict_proba(table), [alone.class_prior_] * 200, rtol=1e-15)


@pytest.mark.parametrize("calibration", ["weights", "temperature", "none"])
def test_columns_without_a_value_say_nothing(calibration: Any) -> None:
    nothing = pa.table({name: pa.nulls(8, pa.float64()) for name in "ab"})
    model = AODE(calibration=calibration).fit(nothing, ["u", "v"] * 4)
    assert model.predict_proba(nothing[:1]).tolist() == [[0.5, 0.5]]
    assert model.bins_ == {}
    assert column_weights(model) == {"a": 0.0, "b": 0.0}


def test_rows_without_a_label_are_refused() -> None:
    rows = {"a": np.zeros(0), "b": np.zeros(0, str)}
    for learn in AODE().fit, AODE().partial_fit:
        with pytest.raises(DataError, match="no labelled row"):
            learn(pa.table(rows), [])


def test_texts_stand_beside_the_pairs() -> None:
    table = {"t": ["to be", "be or", "or not", "to not"] * 5, "u": list("xyxy") * 5}
    noted = AODE({"t": "multinomial"}).fit(table, list("abab") * 5)
    assert list(noted.bins_) == ["u"]
    assert noted.calibration_.weights.shape == (3,)


def test_an_audit_names_pairs_that_few_rows_show() -> None:
    model = AODE(calibration="none").fit(categories(ROWS), [row[3] for row in ROWS])
    found = {(f.column, f.label, f.value, f.rows) for f in audit(model, 2).findings if f.rows}
    assert ("a, b", "no", "r, t", 1.0) in found
    assert ("b, c", "yes", "s, u", 1.0) in found
    assert not any(column == "b, c" and label == "no" and value == "t, u"
                   for column, label, value, _ in found)  # fmt: skip


def test_at_most_a_hundred_columns_are_paired() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    x = rng.normal(size=(120, 102))
    x[:, 7] += 3 * y
    with pytest.warns(SufficeWarning, match=r"2 of 102 .* \(100 columns are paired .* 256 MB\)"):
        model = AODE(calibration="none").fit(x, y)
    assert len(model.bins_) == 100
    assert "x7" in model.bins_


def test_many_columns_share_a_weight() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    x = rng.normal(size=(60, 300))
    x[:, 7] += 2.0 * y
    weights = AODE().fit(x, y).calibration_.weights
    *columns, _ = weights.tolist()
    shared = max(columns, key=columns.count)
    assert len(columns) == 300
    assert columns.count(shared) >= 300 - 128  # of the 128, some weigh 0, as the others may
    assert columns[7] > shared


def test_tables_of_two_models_are_compared_by_their_columns() -> None:
    y, rows = np.arange(60) % 2, {"a": list("pq" * 30), "b": list("uvw" * 20)}
    model = AODE().fit(rows, y)
    other = AODE(bins=model.bins_).fit(rows | {"b": list("uuuvw" * 12)}, y)
    assert str(model.compare(other)).startswith("1 of 2 columns changed")


def test_columns_of_counts_are_hidden_one_by_one() -> None:
    counts = np.random.default_rng(0).poisson(0.5, (60, 6)) + np.eye(6, dtype=int).repeat(10, 0)
    y = np.arange(60) // 30
    with pytest.warns(SufficeWarning, match="in no pairs"):
        model = AODE(families="multinomial", calibration="none").fit(csr_array(counts), y)
    said = model.explain(csr_array(counts)).contributions
    joint = model.predict_joint_log_proba(csr_array(counts))
    assert_allclose(said.sum(axis=1) + model.model_.log_prior, joint, atol=1e-9)
