"""Without an intercept the first category has a coefficient for every value, as in R and patsy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.export import to_json
from suffice.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge

smf = pytest.importorskip("statsmodels.formula.api")
sm = pytest.importorskip("statsmodels.api")

RNG, N = np.random.default_rng(0), 240
ROWS = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "g": RNG.choice(list("abc"), N),
        "h": RNG.choice(list("uvw"), N),
        "b": RNG.choice([True, False], N),
    }
)
ROWS["o"] = pd.Categorical(RNG.choice(["S", "M", "L"], N), ["S", "M", "L"], ordered=True)
LEVEL = ROWS["g"].map({"a": 10.0, "b": 12.0, "c": 13.0})
ROWS["y"] = LEVEL + ROWS["x"] + ROWS["b"] + RNG.normal(size=N)
ROWS["k"] = np.where(LEVEL + ROWS["x"] + RNG.normal(0.0, 2.0, N) > 12, "hi", "lo")
REFERENCES: list[dict[str, str] | None] = [None, {"g": "b"}, {"g": "c", "h": "w"}]
FORMULAS = ["0+g", "g-1", "-1+g+h", "0+g*h", "0+g:h", "0+x:g", "x*g-1", "0+o+x", "0+b+x", "0+b:x"]


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_first_category_keeps_every_value_and_others_are_differences(reference: Any) -> None:
    columns = ["x", "g", "h", "y"]
    model = LinearRegression(fit_intercept=False, reference=reference).fit(ROWS[columns], "y")
    found, known = model.summary(), smf.ols("y ~ 0 + C(g) + C(h) + x", ROWS).fit()
    at = [found.terms.index(f"g[{value}]") for value in "abc"]
    np.testing.assert_allclose(model.predict(ROWS[columns]), known.fittedvalues, rtol=1e-12)
    if reference is None:
        names = [f"C(g)[{value}]" for value in "abc"]
        assert model.terms_ == ("x", "g[a]", "g[b]", "g[c]", "h[v]", "h[w]")
        np.testing.assert_allclose(found.estimate[at], known.params[names], rtol=1e-12)
        np.testing.assert_allclose(found.standard_error[at], known.bse[names], rtol=1e-12)


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_without_an_intercept_have_the_terms_of_statsmodels(formula: str) -> None:
    model = LinearRegression(formula=formula).fit(ROWS, "y")
    known = smf.ols(f"y ~ {formula}", ROWS).fit()
    assert (len(model.terms_), model.intercept_) == (len(known.params), 0.0)
    np.testing.assert_allclose(model.predict(ROWS), known.fittedvalues, rtol=1e-11)
    asked = formula.replace("0+", "").replace("-1+", "").replace("-1", "")
    assert LinearRegression(formula=asked, fit_intercept=False).fit(ROWS, "y").terms_ == (
        model.terms_
    )


def test_true_and_false_are_categories_without_an_intercept() -> None:
    model = LinearRegression(fit_intercept=False).fit(ROWS[["b", "y"]], "y")
    assert model.terms_ == ("b[False]", "b[True]")
    np.testing.assert_allclose(model.coef_, ROWS.groupby("b")["y"].mean(), rtol=1e-12)


@pytest.mark.parametrize("reference", REFERENCES[:2])
@pytest.mark.parametrize("formula", [None, "0 + g + x"])
def test_logistic_regression_does_the_same(reference: Any, formula: str | None) -> None:
    columns = ["x", "g", "k"]
    options: dict[str, Any] = {"formula": formula, "fit_intercept": formula is not None}
    model = LogisticRegression(C=np.inf, reference=reference, **options).fit(ROWS[columns], "k")
    design = pd.get_dummies(ROWS["g"]).astype(float).assign(x=ROWS["x"])
    known = sm.Logit((ROWS["k"] == "lo").astype(int), design).fit(disp=0)
    np.testing.assert_allclose(
        model.predict_proba(ROWS[columns[:2]])[:, 1], known.predict(), atol=1e-8
    )
    errors = dict(zip(model.terms_, model.summary().standard_error[0], strict=True))
    expected = [known.bse[name] for name in "abcx"]
    np.testing.assert_allclose([*(errors[f"g[{v}]"] for v in "abc"), errors["x"]], expected, 1e-6)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(fit_intercept=False),
        Lasso(0.01, fit_intercept=False),
        ElasticNet(0.01, fit_intercept=False),
        LinearRegression(fit_intercept=False, solver="gradient"),
        LinearRegression(fit_intercept=False, incomplete="gaussian"),
        LogisticRegression(fit_intercept=False),
        LogisticRegression(fit_intercept=False, numbers="bins"),
    ],
    ids=str,
)
def test_no_answer_depends_on_the_reference(model: Any) -> None:
    target = "k" if isinstance(model, LogisticRegression) else "y"
    answers = []
    for reference in ("a", "c"):
        model.set_params(reference={"g": reference}).fit(ROWS[["g", "x", target]], target)
        answer = model.predict_proba if target == "k" else model.predict
        answers.append(answer(ROWS[["g", "x"]]))
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-7)


def test_numbers_in_bins_and_missing_cells_have_a_term_of_the_first_bin() -> None:
    rows = ROWS[["x", "g", "k"]].assign(x=ROWS["x"].where(RNG.random(N) > 0.1))
    model = LogisticRegression(C=100.0, fit_intercept=False, numbers="bins", incomplete="indicator")
    model.fit(rows, "k")
    assert model.terms_[0] == "x[>=-inf]"
    assert model.terms_[-3:] == ("x[(missing)]", "g[b]", "g[c]")
    with_b = LogisticRegression(C=100.0, numbers="bins", incomplete="indicator").fit(rows, "k")
    assert len(model.terms_) == len(with_b.terms_)
    close = np.abs(model.predict_proba(rows) - with_b.predict_proba(rows)).max()
    assert close < 0.05  # the same model but for the penalty


LEVELS = [
    ({"fit_intercept": False}, "g"),
    ({"fit_intercept": False}, "o"),
    ({"formula": "0 + g*h + x"}, "g"),
    ({"formula": "0 + o + x"}, "o"),
]


@pytest.mark.parametrize(("options", "name"), LEVELS)
def test_sums_keep_every_value(options: dict[str, Any], name: str, tmp_path: Path) -> None:
    rows = ROWS[[name, "h", "x", "y"]]
    gone = rows[name] == rows[name].iloc[0]
    whole = LinearRegression(**options).fit(rows, "y")
    left = LinearRegression(**options).fit(rows[~gone], "y")
    halves = [LinearRegression(**options).fit(part, "y") for part in (rows[:99], rows[99:])]
    stream = LinearRegression(**options).fit(rows[:99], "y").partial_fit(rows[99:], "y")
    assert (halves[0].merge(halves[1]).coef_ == whole.coef_).all()
    assert (stream.coef_ == whole.coef_).all()
    whole.save(tmp_path / "m.suffice")
    assert (suffice.load(tmp_path / "m.suffice").predict(rows) == whole.predict(rows)).all()
    whole.forget(rows[gone], "y")
    assert whole.terms_ == left.terms_
    assert (whole.coef_ == left.coef_).all()


@pytest.mark.parametrize("name", ["g", "o"])
def test_what_a_model_says_adds_up(name: str) -> None:
    rows = ROWS[[name, "x", "y"]]
    model = LinearRegression(fit_intercept=False).fit(rows, "y")
    np.testing.assert_allclose(model.explain(rows).predictions[:, 0], model.predict(rows))
    written = json.loads(to_json(model))
    term = written["terms"][0]
    cases = {v: adds for v, (adds,) in zip(term["values"], term["table"], strict=True)}
    start = written["outputs"][0]["start"]
    for value, adds in cases.items():
        row = pd.DataFrame({name: [value], "x": [0.0]})
        np.testing.assert_allclose(start + adds, model.predict(row)[0], rtol=1e-12)
    assert cases.keys() == set(rows[name])
    unseen = LinearRegression(fit_intercept=False, unseen="reference").fit(rows, "y")
    first = "a" if name == "g" else "S"
    new = pd.DataFrame({name: ["zz", first], "x": [0.0, 0.0]})
    assert len(set(unseen.predict(new).tolist())) == 1
