"""Discriminant analysis of tables of numbers and categories."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import discriminant_analysis as sk
from sklearn.model_selection import KFold

import suffice
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.bayes import form_features, linear_form
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError, SufficeWarning
from suffice.model_selection import cross_val_predict
from suffice.privacy import audit

N = 300
COLORS = ("blue", "green", "red")
ALL = [
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(shrinkage=0.1),
    QuadraticDiscriminantAnalysis(shrinkage="auto"),
]
BY_NAME = pytest.mark.parametrize(
    "model", ALL, ids=lambda model: f"{type(model).__name__}-{model.shrinkage}"
)
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


def indicated(rows: pa.Table, missing: bool = False) -> np.ndarray:
    """The same as numbers, by hand; missing cells are NaN, or have a column of their own."""
    found = []
    for name in rows.column_names:
        cells = rows[name].to_pylist()
        levels = {"color": ["green", "red"], "town": ["Ulm"]}.get(name)
        if levels is None:
            found.append([np.nan if c is None else float(c) for c in cells])
            continue
        gap = 0.0 if missing else np.nan
        found += [[gap if c is None else float(c == value) for c in cells] for value in levels]
        if missing:
            found.append([float(c is None) for c in cells])
    return np.array(found).T


def same_model(found: Any, by_hand: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Compare estimates from indicators, which have one row more in a quadratic discriminant."""
    assert_allclose(found.means_, by_hand.means_, rtol=1e-12)
    own, other = (np.array(model.covariance_) for model in (found, by_hand))
    if isinstance(found, LinearDiscriminantAnalysis):
        assert_allclose(own, other, rtol=1e-9)
        return
    outcomes = ["[" in term for term in found.terms_]
    for c, (matrix, expected) in enumerate(zip(own, other, strict=True)):
        more = np.where(outcomes, x.var(axis=0), 0.0) / (y == c).sum()
        assert_allclose(np.diag(matrix), np.diag(expected) + more, rtol=1e-9)
        if found.shrinkage != "auto":
            assert_allclose(matrix - np.diag(more), expected, rtol=1e-9, atol=1e-12)


@BY_NAME
def test_values_become_columns(model: Any) -> None:
    rows, y = table()
    found, by_hand = model.unfitted().fit(rows, y), model.unfitted().fit(indicated(rows), y)
    assert found.terms_ == ("color[green]", "color[red]", "size", "old", "town[Ulm]")
    same_model(found, by_hand, indicated(rows), y)
    if isinstance(model, LinearDiscriminantAnalysis):
        proba = by_hand.predict_proba(indicated(rows))
        assert_allclose(found.predict_proba(rows), proba, rtol=1e-9)
    assert found.n_features_in_ == 4
    assert found.feature_names_in_.tolist() == ["color", "size", "old", "town"]


def test_as_scikit_learn_of_one_hot_columns() -> None:
    rows, y = table()
    frame = rows.to_pandas()
    frame["size"] -= 1e6
    x = pd.get_dummies(frame, columns=["color", "town"], drop_first=True).astype(float)
    model = LinearDiscriminantAnalysis().fit(rows, y)
    peer = sk.LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    assert_allclose(model.predict_proba(rows), peer.predict_proba(x), rtol=0, atol=1e-9)
    assert model.transform(rows).shape == (N, 2)
    assert model.coef_.shape == (3, 5)


@pytest.mark.parametrize("shrinkage", [None, "auto"])
def test_many_categories_are_as_their_columns(shrinkage: Any, tmp_path: Path) -> None:
    rng, n = np.random.default_rng(2), 1_600
    level, other = np.arange(n) % 390, rng.integers(0, 4, n)
    y = rng.integers(0, 3, n)
    own = 10 * y + rng.integers(0, 4, n)  # a value of which tells the class
    codes = {"level": 1000 + level, "other": other, "own": 10 + own}
    number = rng.normal(size=n) + y + 1e6
    rows = pd.DataFrame({"number": number} | {n: np.char.mod("v%d", c) for n, c in codes.items()})
    x = np.column_stack([number, *(np.unique(c)[1:] == c[:, None] for c in codes.values())])
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(rows, y)
    known = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(x, y)
    scores = known.decision_function(x[:100])
    size = np.abs(scores).max()
    assert_allclose(model.decision_function(rows[:100]), scores, atol=1e-6 * size)
    assert_allclose(model.covariance_, known.covariance_, atol=1e-9)
    rows.loc[:50, "own"], x[:51, -len(np.unique(own)) + 1 :] = None, np.nan
    rows.loc[30:80, "number"], x[30:81, 0] = np.nan, np.nan
    expected = known.predict_proba(x[:100])
    assert_allclose(model.predict_proba(rows[:100]), expected, atol=1e-6)
    model.save(tmp_path / "model.sfc")
    file = suffice.load(tmp_path / "model.sfc")
    assert_array_equal(file.predict_proba(rows[:100]), model.predict_proba(rows[:100]))
    halves = KFold(2)
    held = cross_val_predict(model, rows, y, cv=halves, method="predict_proba")
    for train, test in halves.split(rows):
        one = model.unfitted().fit(rows.iloc[train], y[train])
        assert_allclose(held[test], one.predict_proba(rows.iloc[test]), atol=1e-6)
    later = LinearDiscriminantAnalysis(shrinkage=shrinkage)
    later.fit(rows[81:], y[81:]).partial_fit(rows[900:], y[900:]).forget(rows[900:], y[900:])
    once = LinearDiscriminantAnalysis(shrinkage=shrinkage)
    assert_array_equal(later.coef_, once.fit(rows[81:], y[81:]).coef_)


@BY_NAME
def test_missing_cells_of_a_category_are_a_level_of_the_fit(model: Any) -> None:
    (rows, y), (complete, _) = table(1, missing=0.2), table(1)
    for name in ("size", "old"):
        rows = rows.set_column(rows.column_names.index(name), name, complete[name])
    found, by_hand = model.unfitted().fit(rows, y), model.unfitted().fit(indicated(rows, True), y)
    assert found.terms_ == (
        *("color[green]", "color[red]", "color[(missing)]", "size", "old"),
        *("town[Ulm]", "town[(missing)]"),
    )
    same_model(found, by_hand, indicated(rows, True), y)


@BY_NAME
def test_missing_numbers_are_expected_from_the_mean_of_their_class(model: Any) -> None:
    rows, y = table(1, missing=0.2)
    found, size = model.unfitted().fit(rows, y), indicated(rows)[:, 2]
    place = found.terms_.index("size")
    means = [np.nanmean(size[y == c]) for c in range(3)]
    assert_allclose(found.means_[:, place], means, rtol=1e-12)
    n, gone = np.bincount(y), np.isnan(size)
    spread = np.nanvar(size)
    squares = [
        np.nansum((size[y == c] - means[c]) ** 2) + gone[y == c].sum() * spread for c in range(3)
    ]
    shared = isinstance(model, LinearDiscriminantAnalysis)
    expected = [sum(squares) / N] if shared else squares / n
    variances = [matrix[place, place] for matrix in np.reshape(found.covariance_, (-1, 7, 7))]
    assert_allclose(variances, expected, rtol=1e-6)
    assert found.converged_


@BY_NAME
def test_at_predict_a_missing_cell_is_left_out(model: Any) -> None:
    rows, y = table()
    found = model.unfitted().fit(rows, y)
    nothing = pa.table({name: pa.nulls(1, rows[name].type) for name in rows.column_names})
    assert_allclose(found.predict_proba(nothing)[0], np.bincount(y) / N, rtol=1e-12)
    by_hand = model.unfitted().fit(indicated(rows), y)
    gappy = table(2, missing=0.3)[0]
    if isinstance(model, LinearDiscriminantAnalysis):
        proba = by_hand.predict_proba(indicated(gappy))
        assert_allclose(found.predict_proba(gappy), proba, rtol=1e-8)
    new = gappy.set_column(0, "color", pa.array(["violet"] * N))
    lacking = gappy.set_column(0, "color", pa.nulls(N, pa.string()))
    with pytest.warns(SufficeWarning, match=r"column 'color': 300 of 300 \(100%\).*'violet'"):
        unseen = found.predict_proba(new)
    assert_array_equal(unseen, found.predict_proba(lacking))


@BY_NAME
def test_values_are_those_of_the_first_fit_and_leave_with_their_rows(model: Any) -> None:
    rows, y = table(3, missing=0.1)
    blue = np.flatnonzero([c == "blue" for c in rows["color"].to_pylist()])
    others = np.setdiff1d(np.arange(N), blue)
    whole = model.unfitted().fit(rows, y)
    rest = model.unfitted().fit(rows.take(others), y[others])
    left = whole.forget(rows.take(blue), y[blue])
    assert left.statistic_ == rest.statistic_
    assert (
        left.terms_
        == rest.terms_
        == (*("color[red]", "color[(missing)]", "size", "old", "town[Ulm]", "town[(missing)]"),)
    )
    assert_array_equal(left.predict_proba(rows), rest.predict_proba(rows))
    again = rest.partial_fit(rows.take(blue), y[blue])
    assert again.statistic_ == model.unfitted().fit(rows, y).statistic_
    halves = [model.unfitted().fit(rows.slice(start, 150), y[start:][:150]) for start in (0, 150)]
    merged = halves[0].merge(halves[1])
    assert merged.statistic_ == model.unfitted().fit(rows, y).statistic_


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
    weights, intercept = linear_form(model).pair(2, 0)
    logs = model.predict_log_proba(rows)
    found = form_features(model, rows) @ weights + intercept
    assert_allclose(found, logs[:, 2] - logs[:, 0], atol=1e-6)
    named = [("color", "green"), ("color", "red"), "size", "old", ("town", "Ulm")]
    assert list(linear_form(model).features) == named


def test_a_class_of_one_value_is_not_certain_of_it() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    x = rng.normal(size=120) + 6 * y
    town = np.where(y == 1, "Ulm", rng.choice(["Bonn", "Ulm"], 120))  # the second shows one
    rows = pa.table({"town": town, "size": x})
    model = QuadraticDiscriminantAnalysis().fit(rows, y)
    ulm = (town == "Ulm").astype(float)
    for c in (0, 1):
        squares = np.cov(ulm[y == c], x[y == c], ddof=0)
        squares[0, 0] += ulm.var() / 60
        assert_allclose(model.covariance_[c], squares, rtol=1e-12, atol=1e-15)
    odd = pa.table({"town": ["Ulm", "Bonn"], "size": [0.0, 6.0]})
    assert_array_equal(model.predict(odd), [0, 0])  # by its size; a value the second never shows
    left_out = cross_val_predict(model, rows, y, cv="loo", method="predict_proba")
    rest = model.unfitted().fit(rows.slice(1), y[1:])
    assert_allclose(left_out[0], rest.predict_proba(rows.slice(0, 1))[0], rtol=1e-9)


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
    assert model.model_.parts[0].layout.encoding == "real"
    assert model.terms_ == ("size", "old")


def test_rows_of_the_model_have_the_colours_of_the_table() -> None:
    rows, y = table()
    model = QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(rows, y)
    drawn, _ = model.sample(2_000, random_state=0)
    assert set(np.unique(np.asarray(drawn["color"], str))) == set(COLORS)


def test_what_is_refused(tmp_path: Path) -> None:
    rows, y = table()
    model = LinearDiscriminantAnalysis().fit(rows, y)
    with pytest.raises(ParameterError, match="an interval rests on the posterior of numbers"):
        model.predict_proba_interval(rows)
    text = rows.append_column("note", pa.array([f"one {i} two three four" for i in range(N)]))
    with pytest.raises(SchemaError, match=r"'note' holds text.*takes numbers and categories"):
        model.unfitted().fit(text, y)


def test_a_row_is_left_out() -> None:
    rows, y = table()
    model = LinearDiscriminantAnalysis()
    found = cross_val_predict(model, rows, y, cv="loo", method="predict_proba")
    for i in (0, 7, N - 1):
        others = np.setdiff1d(np.arange(N), i)
        refitted = model.unfitted().fit(rows.take(others), y[others])
        assert_allclose(found[i], refitted.predict_proba(rows.slice(i, 1))[0], rtol=1e-9)


def test_what_a_file_tells_of_few_rows() -> None:
    rows, y = table()
    model = QuadraticDiscriminantAnalysis().fit(rows, y)
    joint: dict[Any, int] = {}
    for row, c in zip(rows.to_pylist(), y.tolist(), strict=True):
        key = c, f"{row['color']}, {row['town']}"
        joint[key] = joint.get(key, 0) + 1
    found = [one for one in audit(model, 20).findings if one.what == "rare combination"]
    assert {(one.label, one.value): one.rows for one in found} == pytest.approx(
        {key: n for key, n in joint.items() if n < 20}
    )


@pytest.mark.parametrize(
    ("column", "value", "error", "said"),
    [
        ("town", "Rome", DataError, "row 0: 'Rome'; a category must be one of"),
        ("size", 7e6, ForgetError, "other values than are to be forgotten"),
    ],
)
def test_rows_that_were_never_learnt_are_not_forgotten(
    column: str, value: Any, error: Any, said: str
) -> None:
    rows, y = table()
    place = rows.column_names.index(column)
    changed = rows.set_column(place, column, pa.array([value] * len(rows)))
    model = LinearDiscriminantAnalysis().fit(rows, y)
    with pytest.raises(error, match=f"column '{column}'.*{said}"):
        model.forget(changed.slice(0, 20), y[:20])


def test_a_number_too_large_is_named_by_column_and_row() -> None:
    rows, y = table()
    size = rows["size"].to_numpy().copy()
    size[7] = 1e200
    rows = rows.set_column(rows.column_names.index("size"), "size", pa.array(size))
    with pytest.raises(DataError, match=r"column 'size', row 7: 1e\+200; a number must be below"):
        LinearDiscriminantAnalysis().fit(rows, y)
