"""What must not matter does not: partition, order, threads, units, container, detours."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from scipy.sparse import csr_matrix
from tests.laws.comparing import frozen
from tests.laws.row_laws import check_rows
from tests.running import on

from suffice import NaiveBayes
from suffice.errors import SufficeWarning

FAMILIES = {
    "size": "gaussian",
    "far": "gaussian",
    "visits": "poisson",
    "color": "categorical",
    "floor": "categorical",
    "old": "bernoulli",
    "note": "multinomial",
}
ESTIMATIONS = ["mle", "map", "bayes"]
ROWS = 400
WORDS = ["apple", "pear", "plum", "fig", "kiwi", "lime"]


def mixed(n: int, seed: int = 0, gaps: float = 0.1) -> pa.Table:
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)
    columns = {
        "size": (rng.normal(size=n) + code).tolist(),
        "far": (1e8 + rng.normal(size=n) * (1 + code)).tolist(),
        "visits": rng.poisson(2.0 + code).tolist(),
        "color": rng.choice(["red", "blue", "green"], n).tolist(),
        "floor": rng.integers(1, 5, n).tolist(),
        "old": (rng.random(n) < 0.3 + 0.2 * code).tolist(),
        "note": [" ".join(rng.choice(WORDS[: 3 + c], 5)) for c in code],
        "kind": [["ham", "spam", "eggs"][c] for c in code],
    }
    return pa.table(
        {
            name: pa.array(values, mask=rng.random(n) < (0.02 if name == "kind" else gaps))
            for name, values in columns.items()
        }
    )


def features(table: pa.Table) -> pa.Table:
    return table.drop(["kind"])


def learnt(model: NaiveBayes, table: pa.Table) -> Any:
    """Everything that a model knows and says, to the bit."""
    known = model.model_.classes, model.model_.prior, model.model_.parameters
    return frozen((known, model.predict_joint_log_proba(table), model.predict_proba(table)))


# -- partition, order, threads


def partitioned(n: int, parts: int, rng: np.random.Generator) -> list[np.ndarray]:
    pieces = np.array_split(rng.permutation(n), parts)
    return [pieces[i] for i in rng.permutation(parts)]


@pytest.mark.parametrize("estimation", ESTIMATIONS)
@pytest.mark.filterwarnings("ignore:.*impossible under every class:suffice.errors.SufficeWarning")
def test_partitions_of_a_table(estimation: str) -> None:
    table = mixed(ROWS)
    rng = np.random.default_rng(1)
    whole = on(2, NaiveBayes.textbook(FAMILIES, estimation=estimation)).fit(table, "kind")
    for threads, parts in [(1, 2), (4, 20)]:
        model = on(threads, NaiveBayes.textbook(FAMILIES, estimation=estimation))
        for rows in partitioned(len(table), parts, rng):
            model.partial_fit(table.take(rows), "kind")
            model.partial_fit(table[:0], "kind")
        assert learnt(model, features(table)) == learnt(whole, features(table))


@pytest.mark.parametrize("estimation", ESTIMATIONS)
@pytest.mark.parametrize("family", ["gaussian", "poisson", "categorical", "multinomial"])
@pytest.mark.filterwarnings("ignore:.*impossible under every class:suffice.errors.SufficeWarning")
def test_partitions_of_an_array(family: str, estimation: str) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, ROWS)
    x = rng.poisson(3.0 + y[:, None], (ROWS, 12)).astype(np.float64)
    x[rng.random(x.shape) < 0.1] = np.nan
    weights = rng.integers(0, 4, ROWS) / 4
    whole = on(2, NaiveBayes.textbook(family, estimation=estimation)).fit(x, y, weights)
    model = on(4, NaiveBayes.textbook(family, estimation=estimation))
    for rows in partitioned(ROWS, 20, rng):
        model.partial_fit(x[rows], y[rows], sample_weight=weights[rows])
    assert learnt(model, x) == learnt(whole, x)


@pytest.mark.parametrize("estimation", ESTIMATIONS)
@pytest.mark.parametrize("family", ["gaussian", "poisson", "categorical", "multinomial"])
def test_a_row_gets_the_same_bits_wherever_it_stands(family: str, estimation: str) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 70)
    x = rng.poisson(3.0 + y[:, None], (70, 17)).astype(np.float64)
    x[rng.random(x.shape) < 0.1] = np.nan
    check_rows(NaiveBayes.textbook(family, estimation=estimation).fit(x, y), x)


# -- weights


def test_weights_are_repetitions() -> None:
    table = mixed(300)
    rng = np.random.default_rng(3)
    times = rng.integers(0, 4, len(table))
    repeated = NaiveBayes.textbook(FAMILIES).fit(
        table.take(np.repeat(np.arange(300), times)), "kind"
    )
    by_name = table.append_column("w", pa.array(times))
    models = [
        NaiveBayes.textbook(FAMILIES).fit(table, "kind", sample_weight=times),
        NaiveBayes.textbook(FAMILIES).fit(by_name, "kind", sample_weight="w"),
        NaiveBayes.textbook(FAMILIES).fit(features(table), table["kind"].to_pylist(), times),
    ]
    for model in models:
        assert model.statistic_ == repeated.statistic_
        assert learnt(model, features(table)) == learnt(repeated, features(table))


def test_only_the_ratio_of_weights_matters_to_maximum_likelihood() -> None:
    table = mixed(300, gaps=0.0)
    model = NaiveBayes.textbook(FAMILIES, estimation="mle").fit(table, "kind")
    twice = NaiveBayes.textbook(FAMILIES, estimation="mle").fit(table, "kind", np.full(300, 4.0))
    assert learnt(model, features(table)) == learnt(twice, features(table))


# -- forgetting and growing


@pytest.mark.parametrize("estimation", ESTIMATIONS)
@pytest.mark.filterwarnings("ignore:.*impossible under every class:suffice.errors.SufficeWarning")
def test_forgetting_is_never_having_seen(estimation: Any) -> None:
    kept, rest = mixed(400, seed=1), mixed(900, seed=2)
    strangers = pa.table(
        {
            "size": [4.0, 5.0],
            "far": [1e8, None],
            "visits": [3, 30],
            "color": ["violet", "red"],
            "floor": [99, None],
            "old": [True, None],
            "note": ["unheard words", "apple"],
            "kind": ["new", "newer"],
        },
        schema=rest.schema,
    )
    rest = pa.concat_tables([rest, strangers])
    model = NaiveBayes.textbook(FAMILIES, estimation=estimation).fit(kept, "kind")
    expected = learnt(model, features(rest))
    statistic = model.statistic_

    model.partial_fit(rest, "kind")
    assert model.classes_.tolist() == ["eggs", "ham", "new", "newer", "spam"]
    both = NaiveBayes.textbook(FAMILIES, estimation=estimation).fit(
        pa.concat_tables([kept, rest]), "kind"
    )
    assert learnt(model, features(rest)) == learnt(both, features(rest))

    order = np.random.default_rng(0).permutation(len(rest))
    for rows in np.array_split(order, 3):
        model.forget(rest.take(rows), "kind")
    assert model.classes_.tolist() == ["eggs", "ham", "spam"]
    assert model.statistic_ == statistic
    vocabularies = [getattr(block, "vocabularies", ()) for block in statistic.blocks]
    assert [getattr(b, "vocabularies", ()) for b in model.statistic_.blocks] == vocabularies
    assert learnt(model, features(rest)) == expected


def test_a_missing_label_drops_the_row_and_is_counted() -> None:
    table = mixed(500)
    known = table.filter(table["kind"].is_valid())
    with_gaps = NaiveBayes.textbook(FAMILIES).fit(table, "kind")
    without = NaiveBayes.textbook(FAMILIES).fit(known, "kind")
    assert learnt(with_gaps, features(table)) == learnt(without, features(table))
    assert with_gaps.statistic_.unlabelled.value == table["kind"].null_count > 0
    assert without.statistic_.unlabelled.value == 0


# -- missing cells


@pytest.mark.parametrize("gone", ["size", "visits", "color", "old", "note"])
def test_a_missing_column_is_no_column(gone: str) -> None:
    table = mixed(400)
    others = {name: family for name, family in FAMILIES.items() if name != gone}
    without = NaiveBayes.textbook(others).fit(table.drop([gone]), "kind")
    rows = features(table)
    place = rows.column_names.index(gone)
    blank = rows.set_column(place, gone, pa.nulls(len(rows), rows.schema.field(gone).type))
    expected = without.predict_joint_log_proba(rows.drop([gone]))

    seen = NaiveBayes.textbook(FAMILIES).fit(table, "kind")
    np.testing.assert_array_equal(seen.predict_joint_log_proba(blank), expected)

    never = NaiveBayes.textbook(FAMILIES).fit(blank.append_column("kind", table["kind"]), "kind")
    np.testing.assert_array_equal(never.predict_joint_log_proba(blank), expected)


@pytest.mark.parametrize("estimation", ESTIMATIONS)
def test_a_row_without_cells_gets_the_class_prior(estimation: Any) -> None:
    table = mixed(400)
    model = NaiveBayes.textbook(FAMILIES, estimation=estimation).fit(table, "kind")
    schema = features(table).schema
    blank = pa.table([pa.nulls(3, field.type) for field in schema], schema=schema)
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(blank), [model.model_.log_prior] * 3
    )
    np.testing.assert_allclose(model.predict_proba(blank), [model.model_.prior] * 3, rtol=1e-15)

    x = np.random.default_rng(0).normal(size=(30, 2))
    model = NaiveBayes.textbook(estimation=estimation).fit(x, np.arange(30) % 3)
    np.testing.assert_allclose(model.predict_proba([[np.nan, np.nan]]), [[1 / 3] * 3], rtol=1e-15)


def test_a_column_that_was_never_observed_says_nothing() -> None:
    table = mixed(200)
    for kind in (pa.float64(), pa.int64(), pa.bool_(), pa.date32()):
        more = table.append_column("void", pa.nulls(200, kind))
        for estimation in ESTIMATIONS:
            plain = NaiveBayes.textbook(FAMILIES, estimation=estimation).fit(table, "kind")
            model = NaiveBayes.textbook(FAMILIES, estimation=estimation).fit(more, "kind")
            np.testing.assert_array_equal(
                model.predict_joint_log_proba(features(more)),
                plain.predict_joint_log_proba(features(table)),
            )


# -- units


def posteriors(x: np.ndarray, y: np.ndarray, estimation: Any) -> np.ndarray:
    return NaiveBayes.textbook("gaussian", estimation=estimation).fit(x, y).predict_log_proba(x)


@pytest.mark.parametrize("estimation", ESTIMATIONS)
def test_units_do_not_matter(estimation: Any) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 400)
    # Multiples of 2⁻¹⁰, so that the shifts below are exact.
    x = np.round((rng.normal(size=(400, 4)) + y[:, None]) * 1024) / 1024
    expected = posteriors(x, y, estimation)
    for other in (
        x * [1e-6, 3.0, 7e9, -1.0],
        x + np.array([1.0, -1000.0, 2.0**20, 2.0**40]),
        x * 2.0**-30 + 2.0**10,
    ):
        assert np.abs(posteriors(other, y, estimation) - expected).max() <= 1e-12
    order = rng.permutation(4)
    assert np.abs(posteriors(x[:, order], y, estimation) - expected).max() <= 1e-12


def test_the_order_of_columns_does_not_matter() -> None:
    table = mixed(300)
    expected = NaiveBayes.textbook(FAMILIES).fit(table, "kind").predict_log_proba(features(table))
    names = list(FAMILIES)[::-1]
    turned = table.select(["kind", *names])
    model = NaiveBayes.textbook({name: FAMILIES[name] for name in names}).fit(turned, "kind")
    assert np.abs(model.predict_log_proba(features(turned)) - expected).max() <= 1e-12
    # A table is read by the names of its columns.
    np.testing.assert_array_equal(
        model.predict_log_proba(features(table)), model.predict_log_proba(features(turned))
    )


def test_a_large_column_does_not_drown_a_small_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    small = (y + rng.normal(size=1000) * 0.1) * 1e-6
    large = rng.normal(size=1000) * 1e9
    model = NaiveBayes.textbook(estimation="mle").fit(np.column_stack([small, large]), y)
    assert model.score(np.column_stack([small, large]), y) == 1.0


@pytest.mark.parametrize("estimation", ESTIMATIONS)
def test_many_columns_give_finite_posteriors(estimation: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    x = rng.normal(size=(20, 20_000)) + 0.1 * y[:, None]
    model = NaiveBayes.textbook(estimation=estimation).fit(x, y)
    log_posterior = model.predict_log_proba(x)
    assert np.isfinite(log_posterior).all()
    assert model.predict(x).tolist() == y.tolist()

    counts = csr_matrix(rng.poisson(0.01 + 0.01 * y[:, None], (20, 20_000)).astype(np.float64))
    model = NaiveBayes.textbook(estimation="bayes", alpha=0.1).fit(counts, y)
    assert len(model.model_.parts) == 1
    assert np.isfinite(model.predict_log_proba(counts)).all()
    assert model.predict(counts).tolist() == y.tolist()


# -- containers


def test_every_container_of_a_table_gives_the_same_bits(tmp_path: Path) -> None:
    import pandas as pd
    import polars as pl

    table = mixed(500)
    pa.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=77)
    pa.feather.write_feather(table, tmp_path / "t.arrow", compression="uncompressed", chunksize=99)
    pa.csv.write_csv(table, tmp_path / "t.csv")
    paths = [str(tmp_path / name) for name in ("t.parquet", "t.arrow", "t.csv")]
    pandas = table.to_pandas(types_mapper=pd.ArrowDtype)
    tables = [table, table.to_batches(), *paths, pandas, pl.from_arrow(table)]
    tables[1] = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=30))

    expected = learnt(NaiveBayes.textbook(FAMILIES).fit(table, "kind"), features(table))
    for given in tables:
        model = NaiveBayes.textbook(FAMILIES).fit(given, "kind")
        assert learnt(model, features(table)) == expected, type(given)


def test_an_array_and_a_table_of_it_give_the_same_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 400)
    x = rng.poisson(2.0 + y[:, None], (400, 11)).astype(np.float64)
    x[rng.random(x.shape) < 0.1] = np.nan
    names = [f"x{j}" for j in range(11)]
    table = pa.table({n: pa.array(c, from_pandas=True) for n, c in zip(names, x.T, strict=True)})
    labelled = table.append_column("y", pa.array(y))
    pa.csv.write_csv(labelled, tmp_path / "t.csv")
    for family in ("gaussian", "poisson", "multinomial", "categorical"):
        for estimation in ESTIMATIONS:
            options = {"families": family, "estimation": estimation}
            array = NaiveBayes.textbook(**options).fit(x, y)
            expected = array.predict_joint_log_proba(x), array.predict_proba(x)
            for given in (labelled, str(tmp_path / "t.csv")):
                model = NaiveBayes.textbook(**options).fit(given, "y")
                assert frozen(model.model_.parameters) == frozen(array.model_.parameters)
                found = model.predict_joint_log_proba(table), model.predict_proba(table)
                np.testing.assert_array_equal(found, expected, err_msg=f"{family} {estimation}")


def test_labels_of_every_kind_are_kept_as_they_are() -> None:
    x = np.arange(12.0)[:, None]
    for labels in (["b", "a"], [3, -7], [True, False], [2.0, 1.0]):
        y = np.array(labels * 6)
        model = NaiveBayes.textbook().fit(x, y)
        assert model.classes_.tolist() == sorted(labels)
        assert set(model.predict(x).tolist()) <= set(labels)


# -- tables without rows


def test_tables_without_rows() -> None:
    table = mixed(200)
    model = NaiveBayes.textbook(FAMILIES).fit(table, "kind")
    before = frozen(model.statistic_)
    nothing = table[:0]
    model.partial_fit(nothing, "kind").forget(nothing, "kind")
    assert frozen(model.statistic_) == before
    assert model.predict_proba(features(nothing)).shape == (0, 3)
    assert model.predict(features(nothing)).shape == (0,)
    assert model.explain(features(nothing)).contributions.shape == (0, 7, 3)


# -- impossible rows


def test_an_impossible_row_is_answered_by_the_prior_and_costs_infinitely_much() -> None:
    table = pa.table({"c": ["r", "r", "b"], "y": ["p", "p", "q"]})
    model = NaiveBayes.textbook({"c": "categorical"}, estimation="mle").fit(table, "y")
    wrong = pa.table({"c": ["r", "b"], "y": ["q", "q"]})
    assert model.evaluate(wrong, "y").log_loss == np.inf
    assert model.evaluate(wrong, "y").log_likelihood == -np.inf
    right = model.evaluate(table, "y")
    assert right.log_loss == 0.0
    assert right.log_likelihood == pytest.approx(2 * np.log(2 / 3) + np.log(1 / 3), rel=1e-15)
    mixed_sum = right + model.evaluate(wrong, "y")
    assert mixed_sum.log_loss == np.inf
    assert (mixed_sum - model.evaluate(wrong, "y")).log_likelihood == right.log_likelihood

    two = pa.table({"c": ["r", "b"], "d": ["s", "t"], "y": ["p", "q"]})
    model = NaiveBayes.textbook({"c": "categorical", "d": "categorical"}, estimation="mle").fit(
        two, "y"
    )
    rows = pa.table({"c": ["r"], "d": ["t"]})
    with pytest.warns(SufficeWarning, match="1 of 1 row is impossible under every class"):
        np.testing.assert_array_equal(model.predict_proba(rows), [[0.5, 0.5]])
