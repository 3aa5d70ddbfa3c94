"""Comparisons of statistics: divergences against other libraries, integrals and exact numbers."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, chi2_contingency, norm

from suffice import LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.errors import ParameterError, SchemaError, SufficeWarning
from suffice.families import JointTable
from suffice.linear_model import LinearRegression, Ridge
from suffice.naive_bayes import GaussianNB, MultinomialNB
from suffice.sums.comparison import (
    ColumnComparison,
    Comparison,
    Divergence,
    of_fractions,
    of_gaussians,
)

A, B = np.array([30.0, 12.0, 0.0, 58.0]), np.array([10.0, 22.0, 9.0, 19.0])


def gaussians(n: float, mean: float, sd: float, m: float, mean2: float, sd2: float) -> Divergence:
    weights = np.array(n), np.array(m)
    found = of_gaussians(weights, (np.array(sd**2), np.array(sd2**2)), np.array(mean - mean2)).at()
    assert found is not None
    return found


def shares(a: Any, b: Any) -> Divergence:
    found = of_fractions(np.asarray(a, np.float64), np.asarray(b, np.float64)).at()
    assert found is not None
    return found


# -- shares


def test_shares_against_scipy() -> None:
    found = shares(A, B)
    ratio = chi2_contingency([A, B], correction=False, lambda_="log-likelihood")
    assert found.p_value == pytest.approx(ratio.pvalue, rel=1e-10)
    smooth = [(x + 0.5) / (x.sum() + 2) for x in (A, B)]
    psi = ((smooth[0] - smooth[1]) * np.log(smooth[0] / smooth[1])).sum()
    assert found.psi == pytest.approx(psi, rel=1e-14)


def test_shares_that_have_nothing_in_common() -> None:
    found = shares([50, 0], [0, 50])
    assert found.hellinger == 1.0
    assert np.isfinite(found.psi)
    assert found.p_value == pytest.approx(chi2.sf(200 * np.log(2), 1), rel=1e-12)


def test_few_rows_are_not_tested() -> None:
    assert shares([4, 5], [100, 100]).p_value is None
    assert shares([5, 5], [100, 100]).p_value is not None


# -- numbers


@pytest.mark.parametrize("other", [(0.3, 1.0), (2.0, 3.0), (-1.0, 0.2)])
def test_gaussians_against_integrals(other: tuple[float, float]) -> None:
    found = gaussians(100, 0.0, 1.0, 100, *other)
    p, q = norm(0, 1), norm(*other)
    edges = -30.0, 30.0
    overlap, _ = quad(lambda x: np.sqrt(p.pdf(x) * q.pdf(x)), *edges, epsabs=1e-13, limit=200)
    assert found.hellinger == pytest.approx(np.sqrt(1 - overlap), rel=1e-9)

    def jeffreys(x: float) -> float:
        return float((p.pdf(x) - q.pdf(x)) * (p.logpdf(x) - q.logpdf(x)))

    assert found.psi == pytest.approx(quad(jeffreys, *edges, limit=200)[0], rel=1e-8)


def test_the_test_of_gaussians_is_that_of_their_likelihoods() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=40), rng.normal(0.5, 1.3, size=30)
    parts = [norm(v.mean(), v.std()).logpdf(v).sum() for v in (x, y)]
    both = np.concatenate([x, y])
    ratio = 2 * (sum(parts) - norm(both.mean(), both.std()).logpdf(both).sum())
    found = gaussians(40, x.mean(), x.std(), 30, y.mean(), y.std())
    assert found.p_value == pytest.approx(chi2.sf(ratio, 2), rel=1e-10)
    assert gaussians(19, x.mean(), x.std(), 30, y.mean(), y.std()).p_value is None


def test_numbers_without_spread() -> None:
    same = gaussians(50, 3.0, 0.0, 50, 3.0, 0.0)
    assert same == Divergence(0.0, 0.0, None)
    for other in (gaussians(50, 3.0, 0.0, 50, 4.0, 0.0), gaussians(50, 3.0, 0.0, 50, 3.0, 1.0)):
        assert other == Divergence(1.0, np.inf, None)


# -- tables


def table(seed: int, n: int = 300, shift: float = 0.0, reds: float = 0.5) -> pa.Table:
    rng = np.random.default_rng(seed)
    size = rng.normal(shift, 1, n)
    size[rng.random(n) < 0.1] = np.nan
    return pa.table(
        {
            "size": pa.array(size, from_pandas=True),
            "color": np.where(rng.random(n) < reds, "red", "blue"),
            "old": rng.random(n) < 0.4,
            "note": [" ".join(rng.choice(["to", "be", "or"], 4)) for _ in range(n)],
            "kind": rng.choice(["a", "b"], n),
        }
    )


FAMILIES = {"note": "multinomial"}


def holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p)
    upto = np.maximum.accumulate(np.minimum(p[order] * np.arange(len(p), 0, -1), 1))
    return upto[np.argsort(order)]


def by_name(found: Comparison) -> dict[str, ColumnComparison]:
    return {column.column: column for column in found.columns}


def test_what_moved_comes_first() -> None:
    a = NaiveBayes.textbook(FAMILIES).fit(table(0), "kind")
    b = NaiveBayes.textbook(FAMILIES).fit(table(1, shift=3.0, reds=0.1), "kind")
    found = a.compare(b)
    assert [column.column for column in found.columns[:2]] == ["size", "color"]
    distances = [column.distance for column in found.columns]
    assert distances == sorted(distances, reverse=True)
    assert found.rows == (300.0, 300.0)
    lines = str(found).splitlines()
    assert lines[0] == found.verdict
    assert lines[1].split() == ["Hellinger", "PSI", "p", "missing", "within", "class"]
    assert [line.split()[0] for line in lines[2:5]] == ["(labels)", "size", "color"]


def test_a_verdict_and_adjusted_tests() -> None:
    first, second = table(0), table(1, shift=3.0, reds=0.1)
    a, b = (NaiveBayes.textbook(FAMILIES).fit(t, "kind") for t in (first, second))
    found = a.compare(b)
    tests = [found.labels, *(column.overall for column in found.columns)]
    tests = [one for one in tests if one is not None and one.p_value is not None]
    assert len(tests) == 4  # words are not tested
    expected = holm(np.array([one.p_value for one in tests]))
    assert [one.p_adjusted for one in tests] == pytest.approx(expected)
    size = f"{found.columns[0].distance:.2f}"
    said = f"2 of 4 columns changed (p < 0.05 by Holm); the most: size, Hellinger {size}, a large"
    assert found.verdict == f"{said} shift."
    assert found.above(0.3) == ("size", "color")
    alike = a.compare(NaiveBayes.textbook(FAMILIES).fit(table(2), "kind"))
    assert alike.verdict.startswith("No change is found (least p ")
    assert a.compare(a).verdict == "Nothing has changed."


def test_missing_cells_are_a_value() -> None:
    rows = {"u": ["a", "b", "c", None] * 25, "kind": ["k", "l"] * 50}
    other = rows | {"u": ["a", "d", None, None] * 25}
    codes = [[v if v is not None else "none" for v in t["u"]] for t in (rows, other)]
    found = [NaiveBayes().fit(t, "kind") for t in (rows, other)]
    (column,) = found[0].compare(found[1]).columns
    counts = [[v.count(c) for c in ("a", "b", "c", "d", "none")] for v in codes]
    assert column.overall is not None
    assert column.overall.hellinger == pytest.approx(shares(*counts).hellinger, rel=1e-12)
    assert column.overall.p_value == pytest.approx(shares(*counts).p_value, rel=1e-10)
    assert (column.missing, column.overall.psi > 0.5) == ((0.25, 0.5), True)


def test_identifiers_are_not_compared() -> None:
    rows = {"id": [f"n{i}" for i in range(90)], "u": ["a", "b", "b"] * 30, "kind": ["k", "l"] * 45}
    other = rows | {"id": [f"m{i}" for i in range(90)]}
    with pytest.warns(SufficeWarning, match="tells one row from another"):
        models = [NaiveBayes().fit(t, "kind") for t in (rows, other)]
    found = models[0].compare(models[1])
    assert ([column.column for column in found.columns], found.left_out) == (["u"], ("id",))


def test_a_table_against_itself() -> None:
    model = NaiveBayes.textbook(FAMILIES).fit(table(0), "kind")
    found = model.compare(model)
    assert found.labels == Divergence(0.0, 0.0, 1.0)
    for column in found.columns:
        assert column.overall is not None
        assert column.overall.hellinger == column.overall.psi == 0.0
        assert column.missing[0] == column.missing[1]


def test_divergences_are_those_of_the_rows() -> None:
    tables = table(0), table(1, shift=0.4)
    a, b = (NaiveBayes.textbook(FAMILIES).fit(t, "kind") for t in tables)
    found = by_name(a.compare(b))
    sizes = [t["size"].drop_null().to_numpy() for t in tables]
    moments = [part for x in sizes for part in (len(x), x.mean(), x.std())]
    overall, exact = found["size"].overall, gaussians(*moments)
    assert overall is not None
    assert overall.p_value is not None
    there = [np.array([len(x), 300 - len(x)]) for x in sizes]
    o, o2 = (x[0] / 300 for x in there)
    apart, shift = shares(*there), (o + o2) / 2 * exact.psi
    overlap = np.sqrt((1 - o) * (1 - o2)) + np.sqrt(o * o2) * (1 - exact.hellinger**2)
    assert overall.hellinger == pytest.approx(np.sqrt(1 - overlap), rel=1e-12)
    assert overall.psi == pytest.approx(apart.psi + shift, rel=1e-12)
    assert exact.p_value is not None
    assert apart.p_value is not None
    ratio = chi2.isf(exact.p_value, 2) + chi2.isf(apart.p_value, 1)
    assert overall.p_value == pytest.approx(chi2.sf(ratio, 3), rel=1e-8)
    assert found["size"].missing == tuple(1 - len(x) / 300 for x in sizes)

    reds = [np.array([(t["color"].to_numpy() == c).sum() for c in ("blue", "red")]) for t in tables]
    assert found["color"].overall == shares(*reds)
    within = [
        np.array([((t["color"].to_numpy() == c) & (t["kind"].to_numpy() == "b")).sum() for c in v])
        for t in tables
        for v in [("blue", "red")]
    ]
    assert found["color"].within[1] == shares(*within)


def test_a_column_that_one_side_never_shows() -> None:
    whole = table(0)
    blank = whole.set_column(0, "size", pa.array([None] * 300, pa.float64()))
    a, b = (NaiveBayes.textbook(FAMILIES).fit(t, "kind") for t in (whole, whole))
    b = NaiveBayes.textbook({**FAMILIES, "size": "gaussian"}).fit(blank, "kind")
    found = a.compare(b).columns[0]
    gone = whole["size"].null_count
    assert found.column == "size"
    assert found.overall == shares([300 - gone, gone], [0, 300])
    assert found.missing[1] == 1.0


def test_columns_of_counts_are_shares_of_all_counts() -> None:
    x, y = np.array([[4.0, 1, 0], [2, 2, 5]]), np.array([[1.0, 1, 1], [9, 0, 3]])
    found = MultinomialNB().fit(x, [0, 1]).compare(MultinomialNB().fit(y, [0, 1]))
    first = by_name(found)["x0"].overall
    exact = shares([6, 8], [10, 5])
    assert first is not None
    assert (first.hellinger, first.psi) == (exact.hellinger, exact.psi)


def test_a_joint_table_is_also_compared_as_a_whole() -> None:
    # Each column alone is the same in both; together they are as different as can be.
    first = pa.table(
        {"u": ["a", "b"] * 40, "v": ["a", "b"] * 40, "kind": ["k", "k", "l", "l"] * 20}
    )
    second = first.set_column(1, "v", pa.array(["b", "a"] * 40))
    family = {("u", "v"): JointTable()}
    found = (
        NaiveBayes.textbook(family)
        .fit(first, "kind")
        .compare(NaiveBayes.textbook(family).fit(second, "kind"))
    )
    assert [(c.column, c.distance) for c in found.columns] == [("u, v", 1.0), ("u", 0), ("v", 0)]


@pytest.mark.parametrize("make", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_covariances_are_compared_column_by_column(make: Any) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 120, 2)) * [1, 5] + [0, 100]
    y[:, 1] += 3
    x[::7, 0] = np.nan
    labels = np.resize([0, 1, 1], 120)
    found, naive = (
        by_name(m.fit(x, labels).compare(type(m)().fit(y, labels))) for m in (make(), GaussianNB())
    )
    for name in ("x0", "x1"):
        mine, theirs = found[name].overall, naive[name].overall
        assert mine is not None
        assert theirs is not None
        assert mine.hellinger == pytest.approx(theirs.hellinger, rel=1e-10)
        assert mine.psi == pytest.approx(theirs.psi, rel=1e-10)
        assert found[name].missing == pytest.approx(naive[name].missing, abs=1e-15)


# -- regressions


def test_regressions_compare_columns_and_targets() -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, 90, 3)) * [1, 5, 1e-3] + [0, 100, 1e3]
    x[:, 2] += 1e-3
    w = rng.integers(1, 4, 90)
    a = Ridge().fit(x[:, :2], x[:, 2], sample_weight=w)
    b = LinearRegression().fit(y[:, :2], y[:, 2])
    found = a.compare(b)
    assert (found.classes, found.labels) == ((), None)
    assert found.rows == (w.sum(), 90.0)
    for j, name in enumerate(("x0", "x1", "y")):
        mean = np.average(x[:, j], weights=w)
        sd = np.sqrt(np.average((x[:, j] - mean) ** 2, weights=w))
        exact = gaussians(w.sum(), mean, sd, 90, y[:, j].mean(), y[:, j].std())
        overall = by_name(found)[name].overall
        assert overall is not None
        assert overall.hellinger == pytest.approx(exact.hellinger, rel=1e-9)
        assert overall.psi == pytest.approx(exact.psi, rel=1e-9)
        assert overall.p_value == pytest.approx(exact.p_value, rel=1e-7)
        assert (by_name(found)[name].within, by_name(found)[name].missing) == ((), (0.0, 0.0))
    distances = [column.distance for column in found.columns]
    assert distances == sorted(distances, reverse=True)
    lines = [line.split() for line in str(found).splitlines()]
    assert lines[1] == ["Hellinger", "PSI", "p", "missing"]
    assert [line[0] for line in lines[2:-2]] == [column.column for column in found.columns]


def test_categories_of_regressions_are_shares() -> None:
    rng = np.random.default_rng(4)
    tables = [
        t.drop(["note"]).append_column("y", pa.array(rng.normal(j, 2, 300)))
        for j, t in enumerate((table(0), table(1, reds=0.1)))
    ]
    green = pa.array([*["green"] * 30, *tables[1]["color"].to_pylist()[30:]])
    tables[1] = tables[1].set_column(1, "color", green)
    weights = rng.random(300), np.ones(300)
    lines, naive = (
        [model().fit(t, y, sample_weight=w) for t, w in zip(tables, weights, strict=True)]
        for model, y in (
            (lambda: Ridge(incomplete="gaussian", categorical=["old"]), "y"),
            (NaiveBayes, "kind"),
        )
    )
    shown, expected = (by_name(a.compare(b)) for a, b in (lines, naive))
    assert set(shown) == {*expected, "kind"}
    for name, other in expected.items():
        mine, theirs = shown[name].overall, other.overall
        assert mine is not None
        assert theirs is not None
        measures = (np.array(astuple(found), np.float64) for found in (mine, theirs))
        np.testing.assert_allclose(*measures, rtol=1e-9, err_msg=name)
        assert shown[name].missing == pytest.approx(other.missing, abs=1e-15)
    sides = zip(tables, weights, strict=True)
    counts = [[w[t["kind"].to_numpy() == c].sum() for c in "ab"] for t, w in sides]
    kinds = shown["kind"].overall
    assert kinds is not None
    assert kinds.hellinger == pytest.approx(shares(*counts).hellinger, rel=1e-12)


def test_other_regressions_are_refused() -> None:
    x, y = np.arange(8.0).reshape(4, 2) ** 2, np.arange(4.0)
    model = LinearRegression().fit(x, y)
    cases = {
        LinearRegression().fit(x[:, :1], y): "'x1' is among the columns of this model only",
        LinearRegression().fit({"x0": y, "x1": y**2, "z": y}, "z"): (
            "'y' is among the targets of this model only"
        ),
        LinearRegression(categorical=["x0"]).fit({"x0": y // 2, "x1": y**2, "y": y}, "y"): (
            "'x0' is among the categories of the other only"
        ),
        LinearRegression().fit({"x1": y, "x0": y**2, "y": y}, "y"): (
            "their columns are in different orders"
        ),
    }
    for other, fact in cases.items():
        with pytest.raises(SchemaError) as caught:
            model.compare(other)
        assert f"the models differ: {fact}" in str(caught.value)
    with pytest.raises(ParameterError, match="only fitted linear models can be compared"):
        model.compare(GaussianNB())


# -- without names, and refusals


def test_other_columns_are_refused() -> None:
    a = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    b = GaussianNB().fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    with pytest.raises(SchemaError, match="column 'x1' is in the other only; only models of the"):
        a.compare(b)
    with pytest.raises(SchemaError) as caught:
        a.statistic_.compare(b.statistic_, [["x0"]])
    assert "are Moments(1), those of the other Moments(2)" in str(caught.value)
    for other in ("b", LinearRegression()):
        with pytest.raises(ParameterError, match="is no generative classifier; only fitted gen"):
            a.compare(other)
    with pytest.raises(ParameterError) as wrong:
        a.statistic_.compare(5, [["x0"]])  # type: ignore[arg-type]
    assert "5 is no statistic of a labelled table" in str(wrong.value)
