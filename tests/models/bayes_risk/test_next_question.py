"""What to ask next, held against sums over all rows, and integrals on a fine grid."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from suffice import LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.bayes import column_information, next_question
from suffice.errors import DataError, ParameterError
from suffice.linear_model import LogisticRegression


def entropy(p: np.ndarray) -> float:
    return float(-(p * np.log2(np.where(p > 0, p, 1))).sum())


def by_name(model: Any, row: Any) -> dict[str, float]:
    found = next_question(model, row)
    return dict(zip(found.columns, found.bits.tolist(), strict=True))


def words(seed: int = 0) -> tuple[pa.Table, dict[str, list[Any]]]:
    """Return categories and outcomes that depend on the class, and the values of each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 200)
    values = {"a": ["p", "q", "r"], "b": [False, True], "c": ["u", "v"]}
    columns: dict[str, Any] = {}
    for j, (name, of_column) in enumerate(values.items()):
        shown = np.where(rng.random(200) < 0.6, (y + j) % len(of_column), 0)
        columns[name] = np.array(of_column)[shown]
    return pa.table({**columns, "kind": np.array(["x", "y", "z"])[y]}), values


@pytest.mark.parametrize("known", [{}, {"a": "q"}, {"b": True, "c": "u"}])
@pytest.mark.parametrize("calibration", ["none", "weights"])
def test_categories_are_summed(known: dict[str, Any], calibration: Any) -> None:
    table, values = words()
    model = NaiveBayes.textbook(calibration=calibration).fit(table, "kind")
    plain = NaiveBayes.textbook().fit(table, "kind")
    found = next_question(model, known)
    empty, schema = dict.fromkeys(values), table.schema.remove(3)
    (now,) = model.predict_proba(pa.Table.from_pylist([empty | known], schema))
    assert_allclose(found.entropy, entropy(now), rtol=1e-10)
    assert set(found.columns) == set(values) - set(known)
    for name, bits in zip(found.columns, found.bits, strict=True):
        rows = [empty | known | {name: value} for value in values[name]]
        after = model.predict_proba(pa.Table.from_pylist(rows, schema))
        # P(v | x) = Σ_c P(c | x) p(v | c), by the families without weights
        alone = [empty | {name: value} for value in values[name]]
        joint = np.exp(plain.predict_joint_log_proba(pa.Table.from_pylist(alone, schema)))
        weight = (joint / plain.model_.prior) @ now
        weight /= weight.sum()
        expected = entropy(now) - sum(w * entropy(p) for w, p in zip(weight, after, strict=True))
        assert_allclose(bits, max(expected, 0.0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimation", ["bayes", "mle"])
@pytest.mark.parametrize("numbers", ["gaussian", "density"])
def test_numbers_are_integrated(numbers: Any, estimation: Any) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    X = np.column_stack([rng.normal(y, 1.0), rng.exponential(1.0 + y)])
    model = NaiveBayes.textbook(numbers=numbers, estimation=estimation).fit(X, y)
    told = column_information(model).bits
    found = by_name(model, [[np.nan, np.nan]])
    for j in range(2):
        expected = told[j]
        if np.isnan(expected):
            in_bins = model.model_.parameters[0].chosen(j) != "gaussian"
            ends = (X[:, j].min(), X[:, j].max()) if in_bins else (-60.0, 60.0)
            expected = integral(model, 2, j, ends)
        assert_allclose(found[f"x{j}"], expected, atol=2e-3)


def integral(
    model: Any, d: int, j: int, ends: tuple[float, float] = (-60.0, 60.0), **known: float
) -> float:
    """I(C; X_j | known) on a fine grid, by the model's own joint densities."""
    line = np.linspace(*ends, 200_001)
    rows = np.full((len(line), d), np.nan)
    for name, value in known.items():
        rows[:, int(name[1:])] = value
    before = np.exp(model.predict_joint_log_proba(rows[:1])[0])
    rows[:, j] = line
    joint = np.exp(model.predict_joint_log_proba(rows)) / before.sum() * (line[1] - line[0])
    joint /= joint.sum()
    p, total = before / before.sum(), joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint, p * total, out=np.ones_like(joint), where=joint > 0)
    return float((joint * np.log2(ratio)).sum())


@pytest.mark.parametrize(
    "make",
    [
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        lambda: NaiveBayes.textbook("multivariate_gaussian"),
    ],
)
def test_columns_that_depend_on_each_other_are_not_asked(make: Any) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 90)
    model = make().fit(rng.normal(size=(90, 3)) + y[:, None], y)
    with pytest.raises(ParameterError, match=f"^{type(model).__name__} "):
        next_question(model, np.full((1, 3), np.nan))


def test_texts_and_known_cells_are_not_asked_for() -> None:
    texts = [f"some words about {word} number {i}" for i, word in enumerate(["cats", "dogs"] * 20)]
    table = pa.table({"text": texts, "size": np.arange(40.0) % 7, "kind": ["a", "b"] * 20})
    model = NaiveBayes.textbook({"text": "multinomial"}).fit(table, "kind")
    assert next_question(model, {"text": "cats"}).columns == ("size",)
    assert next_question(model, {"text": "cats", "size": 3.0}).columns == ()
    assert np.isnan(by_name(model, {"size": 3.0})["text"])
    assert repr(next_question(model, {"size": 3.0})).splitlines()[-1].split() == ["text", "-"]


def test_what_is_refused() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(ParameterError, match=r"^LogisticRegression "):
        next_question(LogisticRegression().fit(X, y), [[1.0]])
    with pytest.raises(DataError, match="there are 2 rows"):
        next_question(NaiveBayes.textbook().fit(X, y), [[1.0], [2.0]])
