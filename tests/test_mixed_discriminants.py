"""Discriminant analysis of tables of numbers and categories."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import discriminant_analysis as sk

import suffice
from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError, SufficeWarning
from suffice.export import to_json
from suffice.model_selection import cross_validate
from suffice.naive_bayes import NaiveBayes
from suffice.privacy import audit

N = 300
COLORS = ("blue", "green", "red")
ALL = [
    LinearDiscriminantAnalysis(store_covariance=True),
    QuadraticDiscriminantAnalysis(shrinkage=0.1, store_covariance=True),
    RegularizedDiscriminantAnalysis(0.3, 0.2, calibration="none"),
]
BY_NAME = pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
pytestmark = [
    pytest.mark.filterwarnings("ignore:within"),  # a class without a value of a category
    pytest.mark.filterwarnings("ignore:column 'color.blue"),  # rows of one value
]


def table(seed: int = 0, missing: float = 0.0, n: int = N) -> tuple[pa.Table, np.ndarray]:
    """Numbers, booleans and categories that tell something of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    color = np.array(COLORS)[np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))]
    columns: dict[str, Any] = {
        "color": color,
        "size": rng.normal(size=n) + y + 1e6,
        "old": rng.random(n) < 0.3 + 0.2 * y,
        "town": np.array(["Bonn", "Ulm"])[(rng.random(n) < 0.2 + 0.2 * y).astype(int)],
    }
    made = {name: pa.array(x, mask=rng.random(n) < missing) for name, x in columns.items()}
    return pa.table(made), y


def indicated(rows: pa.Table) -> np.ndarray:
    """The same as numbers, by hand; missing cells are NaN."""
    found = [np.array(rows[name].to_pylist(), float) for name in ("size", "old")]
    for name, value in (("color", "green"), ("color", "red"), ("town", "Ulm")):
        cells = rows[name].to_pylist()
        found.append(np.array([np.nan if c is None else float(c == value) for c in cells]))
    return np.stack(found, axis=1)


@BY_NAME
def test_values_become_columns(model: Any) -> None:
    rows, y = table()
    found, by_hand = model.unfitted().fit(rows, y), model.unfitted().fit(indicated(rows), y)
    assert found.terms_ == ("size", "old", "color[green]", "color[red]", "town[Ulm]")
    assert_allclose(found.predict_proba(rows), by_hand.predict_proba(indicated(rows)), rtol=1e-9)
    assert_allclose(found.means_, by_hand.means_, rtol=1e-12)
    assert found.n_features_in_ == 4
    assert found.feature_names_in_.tolist() == ["color", "size", "old", "town"]


def test_as_scikit_learn_of_indicators() -> None:
    rows, y = table()
    x = indicated(rows) - [1e6, 0, 0, 0, 0]
    model = LinearDiscriminantAnalysis().fit(rows, y)
    peer = sk.LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    assert_allclose(model.predict_proba(rows), peer.predict_proba(x), atol=1e-8)
    assert model.transform(rows).shape == (N, 2)
    assert model.coef_.shape == (3, 5)


@BY_NAME
def test_a_missing_cell_is_expected_in_its_class(model: Any) -> None:
    """Row by row: x̃ = x or the mean of the class, whose variance joins the scatter."""
    rows, y = table(1, missing=0.2)
    x = indicated(rows)
    shown = ~np.isnan(x).all(axis=1)  # the others are in the class prior alone
    x, kept = x[shown], y[shown]
    groups = [[0], [1], [2, 3], [4]]
    means = np.array([[np.nanmean(x[kept == c, j]) for j in range(5)] for c in range(3)])
    filled, scatter = x.copy(), np.zeros((3, 5, 5))
    within = [np.nanmean((x[:, j] - means[kept, j]) ** 2) for j in (0, 1)]
    for i, c in enumerate(kept):
        for group in groups:
            if np.isnan(x[i, group[0]]):
                filled[i, group] = p = means[c, group]
                numbers = np.diag([within[j] for j in group if j < 2])
                own = numbers if group[0] < 2 else np.diag(p) - np.outer(p, p)
                scatter[c][np.ix_(group, group)] += own
        apart = filled[i] - means[c]
        scatter[c] += np.outer(apart, apart)
    found = model.unfitted().fit(rows, y)
    assert_allclose(found.means_, means, rtol=1e-12)
    n, total = np.bincount(kept), len(kept)
    if isinstance(model, LinearDiscriminantAnalysis):
        assert_allclose(found.covariance_, scatter.sum(axis=0) / total, atol=1e-8)
    elif isinstance(model, QuadraticDiscriminantAnalysis):
        expected = scatter / n[:, None, None] * np.where(np.eye(5), 1.0, 0.9)
        assert_allclose(found.covariance_, expected, atol=1e-8)
    else:
        unit = np.diagonal(scatter.sum(axis=0)) / total
        mixed = 0.7 * scatter + 0.3 * scatter.sum(axis=0) + np.diag(unit)
        mixed /= (0.7 * n + 0.3 * total + 1)[:, None, None]
        width = (np.diagonal(mixed, axis1=1, axis2=2) / unit).mean(axis=1)
        expected = 0.8 * mixed + 0.2 * width[:, None, None] * np.diag(unit)
        assert_allclose(found.covariance_, expected, atol=1e-8)
    assert (found.n_iter_, found.converged_) == (0, True)


@BY_NAME
def test_at_predict_a_missing_cell_is_left_out(model: Any) -> None:
    rows, y = table()
    found = model.unfitted().fit(rows, y)
    nothing = pa.table({name: pa.nulls(1, rows[name].type) for name in rows.column_names})
    assert_allclose(found.predict_proba(nothing)[0], np.bincount(y) / N, rtol=1e-12)
    by_hand = model.unfitted().fit(indicated(rows), y)
    gappy = table(2, missing=0.3)[0]
    assert_allclose(found.predict_proba(gappy), by_hand.predict_proba(indicated(gappy)), rtol=1e-8)
    new = gappy.set_column(0, "color", pa.array(["violet"] * N))
    lacking = gappy.set_column(0, "color", pa.nulls(N, pa.string()))
    with pytest.warns(SufficeWarning, match=r"column 'color': 300 of 300 \(100%\).*'violet'"):
        unseen = found.predict_proba(new)
    assert_array_equal(unseen, found.predict_proba(lacking))


@BY_NAME
def test_values_join_and_leave(model: Any) -> None:
    rows, y = table(3, missing=0.1)
    blue = np.flatnonzero([c == "blue" for c in rows["color"].to_pylist()])
    others = np.setdiff1d(np.arange(N), blue)
    parts = [(rows.take(at), y[at]) for at in (others, blue)]
    whole = model.unfitted().fit(
        pa.concat_tables(p[0] for p in parts), np.concatenate([y[others], y[blue]])
    )
    batchwise = model.unfitted().fit(*parts[0])
    assert "color[blue]" not in batchwise.terms_ + whole.terms_
    batchwise.partial_fit(*parts[1])
    merged = model.unfitted().fit(*parts[0]).merge(model.unfitted().fit(*parts[1]))
    for other in (batchwise, merged):
        assert other.statistic_ == whole.statistic_
        assert_array_equal(other.predict_proba(rows), whole.predict_proba(rows))
    left = whole.forget(*parts[1])
    assert left.statistic_ == model.unfitted().fit(*parts[0]).statistic_
    assert left.terms_ == ("size", "old", "color[red]", "town[Ulm]")
    with pytest.raises(suffice.errors.ForgetError):
        left.forget(*parts[1])


@BY_NAME
def test_what_a_file_holds(model: Any, tmp_path: Path) -> None:
    rows, y = table(4, missing=0.1)
    found = model.unfitted().fit(rows, y)
    found.save(tmp_path / "m.suffice")
    loaded: Any = suffice.load(tmp_path / "m.suffice")
    assert_array_equal(loaded.predict_proba(rows), found.predict_proba(rows))
    assert loaded.statistic_ == found.statistic_
    again = loaded.partial_fit(*table(5))
    assert_array_equal(again.predict_proba(rows), found.partial_fit(*table(5)).predict_proba(rows))


@BY_NAME
def test_contributions_are_of_columns(model: Any) -> None:
    rows, y = table(6, missing=0.1)
    found = model.unfitted().fit(rows, y)
    evidence = found.explain(rows)
    assert evidence.columns == ("color", "size", "old", "town")
    assert_allclose(evidence.probabilities, found.predict_proba(rows), rtol=1e-8)
    absent = rows["town"].is_null().to_numpy()
    assert_allclose(evidence.contributions[absent, 3], 0.0, atol=1e-9)


def test_a_form_weighs_values_of_categories() -> None:
    rows, y = table()
    model = LinearDiscriminantAnalysis().fit(rows, y)
    weights, intercept = model.linear_form().pair(2, 0)
    logs = model.predict_log_proba(rows)
    found = model.form_features(rows) @ weights + intercept
    assert_allclose(found, logs[:, 2] - logs[:, 0], atol=1e-6)
    named = [("color", "green"), ("color", "red"), "size", "old", ("town", "Ulm")]
    assert list(model.linear_form().features) == named


def test_numbers_that_are_categories() -> None:
    rows, y = table()
    model = LinearDiscriminantAnalysis(categorical=["old"]).fit(rows, y)
    assert model.terms_[-2:] == ("old[True]", "town[Ulm]")
    coded = rows.set_column(0, "color", rows["color"].dictionary_encode())
    same = LinearDiscriminantAnalysis(categorical=["old"]).fit(coded, y)
    assert_array_equal(same.predict_proba(coded), model.predict_proba(rows))
    with pytest.raises(ParameterError, match="categorical names the column 'x'"):
        LinearDiscriminantAnalysis(categorical=["x"]).fit(rows, y)


def test_a_table_of_numbers_is_read_as_before() -> None:
    rows, y = table()
    numbers = rows.select(["size", "old"])
    model = LinearDiscriminantAnalysis().fit(numbers, y)
    assert model.parts_[0].layout.encoding == "real"
    assert model.terms_ == ("size", "old")


def test_rows_that_lack_cells_are_not_asked() -> None:
    rows, y = table(7, missing=0.05)
    model = RegularizedDiscriminantAnalysis().fit(rows, y)
    complete = sum(all(c is not None for c in row.values()) for row in rows.to_pylist())
    assert model.regularization_ is not None
    assert model.regularization_.rows == complete
    few, y = table(7, missing=0.4)
    found = RegularizedDiscriminantAnalysis().fit(few, y).regularization_
    assert found is not None
    assert found.rows == N


def test_rows_of_the_model_have_the_colours_of_the_table() -> None:
    rows, y = table()
    model = QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(rows, y)
    drawn, _ = model.sample(2_000, random_state=0)
    assert set(np.unique(np.asarray(drawn["color"], str))) == set(COLORS)


def test_what_is_refused(tmp_path: Path) -> None:
    rows, y = table()
    model = LinearDiscriminantAnalysis().fit(rows, y)
    with pytest.raises(ParameterError, match="modelled together, some as categories"):
        to_json(model)
    with pytest.raises(ParameterError, match="an interval rests on the posterior of numbers"):
        model.predict_proba_interval(rows)
    with pytest.raises(ParameterError, match="values of categories come and go with rows"):
        cross_validate(LinearDiscriminantAnalysis(), rows, y, cv="loo")
    text = rows.append_column("note", pa.array([f"one {i} two three four" for i in range(N)]))
    with pytest.raises(SchemaError, match=r"'note' holds text.*takes numbers and categories"):
        model.unfitted().fit(text, y)
    many = rows.set_column(0, "color", pa.array([f"c{i}" for i in range(N)]))
    said = "column 'color'.*'300 values'.*each value becomes a column of its own, and 256"
    with pytest.raises(DataError, match=said):
        model.unfitted().fit(many, y)


def test_what_a_file_tells_of_few_rows() -> None:
    rows, y = table()
    model = LinearDiscriminantAnalysis().fit(rows, y)
    joint: dict[Any, int] = {}
    for row, c in zip(rows.to_pylist(), y.tolist(), strict=True):
        key = c, f"{row['color']}, {row['town']}"
        joint[key] = joint.get(key, 0) + 1
    found = [one for one in audit(model, 20).findings if one.what == "rare combination"]
    assert {(one.label, one.value): one.rows for one in found} == pytest.approx(
        {key: n for key, n in joint.items() if n < 20}
    )


def test_columns_change_as_those_of_naive_bayes_do() -> None:
    """Column by column, both keep the same sums."""
    (old, y), (new, z) = ((rows.drop_columns("old"), y) for rows, y in (table(0), table(1)))
    mixed, naive = LinearDiscriminantAnalysis(), NaiveBayes.textbook()
    found = mixed.fit(old, y).compare(mixed.unfitted().fit(new, z))
    assert str(found) == str(naive.fit(old, y).compare(naive.unfitted().fit(new, z)))


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [("town", "Rome", "fewer rows than are"), ("size", 7e6, "other values than are")],
)
def test_rows_that_were_never_learnt_are_not_forgotten(column: str, value: Any, said: str) -> None:
    rows, y = table()
    place = rows.column_names.index(column)
    changed = rows.set_column(place, column, pa.array([value] * len(rows)))
    model = LinearDiscriminantAnalysis().fit(rows, y)
    with pytest.raises(ForgetError, match=f"column '{column}': {said} to be forgotten"):
        model.forget(changed.slice(0, 20), y[:20])


def test_a_number_too_large_is_named_by_column_and_row() -> None:
    rows, y = table()
    size = rows["size"].to_numpy().copy()
    size[7] = 1e200
    rows = rows.set_column(rows.column_names.index("size"), "size", pa.array(size))
    with pytest.raises(DataError, match=r"column 'size', row 7: 1e\+200; a number must be below"):
        LinearDiscriminantAnalysis().fit(rows, y)
