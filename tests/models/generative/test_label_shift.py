"""The class prior of rows without labels: closed forms, other optimisers, known priors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2
from tests.running import on

import suffice
from suffice import LinearDiscriminantAnalysis, NaiveBayes, engine
from suffice.bayes import adjust_prior, label_shift
from suffice.errors import ParameterError, SufficeWarning
from suffice.naive_bayes import BernoulliNB, ComplementNB, GaussianNB

CENTRES = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.5]])


def draw(n: int, prior: list[float], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=prior)
    return CENTRES[y] + rng.normal(size=(n, 2)), y


def coin(ones: int, zeros: int) -> tuple[BernoulliNB, np.ndarray]:
    """A model with P(1 | a) = 0.8 and P(1 | b) = 0.3, and rows of one column."""
    x = np.repeat([1, 0, 1, 0], [8, 2, 3, 7])[:, None]
    model = BernoulliNB(alpha=0).fit(x, np.repeat(["a", "b"], 10))
    return model, np.repeat([1, 0], [ones, zeros])[:, None]


def rises(found: Any) -> bool:
    return bool((np.diff(found.log_likelihood) >= -1e-14 * found.rows).all())


# -- closed forms


@pytest.mark.parametrize(
    ("ones", "exact"),
    [(40, 0.2), (55, 0.5), (70, 0.8), (60, 0.6)],  # 100 (0.8π + 0.3(1 − π)) = ones
)
def test_two_classes_and_one_coin(ones: int, exact: float) -> None:
    model, rows = coin(ones, 100 - ones)
    found = label_shift(model, rows, tol=1e-12)
    assert found.prior == pytest.approx([exact, 1 - exact], abs=1e-9)
    assert found.converged
    assert rises(found)
    share, before = ones / 100, 0.55  # of ones, and P(1) under the prior ½
    gain = 100 * (share * np.log(share / before) + (1 - share) * np.log((1 - share) / (1 - before)))
    assert found.log_likelihood[-1] == pytest.approx(gain, abs=1e-10)
    assert found.p_value == pytest.approx(chi2.sf(2 * gain, 1), rel=1e-8)


@pytest.mark.parametrize(("ones", "exact"), [(90, 1.0), (10, 0.0)])
def test_the_largest_likelihood_may_be_at_the_edge(ones: int, exact: float) -> None:
    model, rows = coin(ones, 100 - ones)
    found = label_shift(model, rows, tol=1e-9)
    assert found.converged
    assert found.gap <= 1e-9
    assert found.prior[0] == pytest.approx(exact, abs=1e-8)


def test_the_prior_of_the_training_rows_stays() -> None:
    model, rows = coin(55, 45)
    found = label_shift(model, rows)
    assert found.log_likelihood == (0.0,)
    assert found.prior.tolist() == [0.5, 0.5]
    assert found.p_value == 1.0


def test_one_step_is_that_of_the_paper() -> None:
    # Saerens et al., eqs. 2.8 and 2.9, written out.
    x, y = draw(300, [0.4, 0.3, 0.3], 0)
    model = GaussianNB().fit(x, y)
    rows, _ = draw(200, [0.1, 0.1, 0.8], 1)
    posterior, prior = model.predict_proba(rows), model.class_prior_
    current = prior
    for _ in range(2000):
        joint = current / prior * posterior
        current = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
    found = label_shift(model, rows, tol=1e-12)
    assert found.prior == pytest.approx(current, abs=1e-9)


def test_another_optimiser_finds_the_same_prior() -> None:
    x, y = draw(500, [0.5, 0.25, 0.25], 2)
    model = LinearDiscriminantAnalysis().fit(x, y)
    rows, _ = draw(400, [0.2, 0.5, 0.3], 3)
    ratios = model.predict_proba(rows) / model.class_prior_

    def loss(logits: np.ndarray) -> float:
        prior = np.exp(np.append(logits, 0.0))
        return -float(np.log(ratios @ (prior / prior.sum())).mean())

    best = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-10})
    expected = np.exp(np.append(best.x, 0.0))
    found = label_shift(model, rows, tol=1e-10)
    assert found.prior == pytest.approx(expected / expected.sum(), abs=1e-6)
    assert found.log_likelihood[-1] == pytest.approx(-400 * best.fun, abs=1e-8)


@pytest.mark.parametrize("prior", [[0.7, 0.2, 0.1], [0.05, 0.05, 0.9], [0.5, 0.5, 0.0]])
def test_a_known_prior_is_found(prior: list[float]) -> None:
    x, y = draw(20_000, [1 / 3] * 3, 4)
    rows, truth = draw(20_000, prior, 5)
    model = GaussianNB().fit(x, y)
    found = label_shift(model, rows)
    assert found.converged
    assert rises(found)
    assert found.prior == pytest.approx(prior, abs=0.015)
    assert found.p_value < 1e-10
    adjusted = adjust_prior(model, rows)
    assert adjusted.score(rows, truth) > model.score(rows, truth)


# -- the adjusted model


@pytest.mark.parametrize("make", [GaussianNB, LinearDiscriminantAnalysis, NaiveBayes])
def test_the_prior_is_an_option_of_the_new_model(make: Any, tmp_path: Path) -> None:
    x, y = draw(300, [0.4, 0.3, 0.3], 6)
    labels = np.array(["x", "y", "z"])[y]
    rows, _ = draw(200, [0.8, 0.1, 0.1], 7)
    model = make().fit(x, labels)
    before = model.class_prior_
    adjusted = adjust_prior(model, rows)
    assert type(adjusted) is make
    found = label_shift(model, rows).prior
    np.testing.assert_array_equal(adjusted.class_prior_, found)
    np.testing.assert_array_equal(model.class_prior_, before)
    joint = model.predict_joint_log_proba(rows) - np.log(before) + np.log(found)
    np.testing.assert_allclose(adjusted.predict_joint_log_proba(rows), joint, rtol=1e-12)

    adjusted.save(tmp_path / "m")
    loaded = suffice.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.class_prior_, found)
    adjusted.partial_fit(x, labels)
    np.testing.assert_array_equal(adjusted.class_prior_, found)


# -- where and how the rows are read


def test_classes_that_look_alike_share_a_prior() -> None:
    x = np.array([[1], [0]] * 20)
    model = BernoulliNB().fit(np.vstack([x, x, 0 * x]), np.repeat(["a", "b", "c"], 40))
    found = label_shift(model, np.repeat([[1], [0]], [45, 55], axis=0))
    assert found.converged
    assert found.prior.sum() == pytest.approx(1.0)


def test_the_order_of_rows_is_nothing() -> None:
    x, y = draw(300, [0.4, 0.3, 0.3], 10)
    rows, _ = draw(999, [0.1, 0.6, 0.3], 11)
    found = [
        label_shift(on(engine("local", threads=t), GaussianNB()).fit(x, y), v)
        for t, v in ((1, rows), (2, rows[::-1]))
    ]
    np.testing.assert_allclose(found[0].prior, found[1].prior, rtol=1e-12)


def test_missing_cells_and_tables() -> None:
    table = pa.table({"v": [1.0, 2.0, None, 8.0, 9.0, 9.5], "kind": list("aaabbb")})
    model = NaiveBayes.textbook().fit(table, "kind")
    found = label_shift(model, pa.table({"v": [8.5, 9.0, None, 8.8, 1.5]}))
    assert found.classes == ("a", "b")
    assert found.rows == 5
    assert found.prior[1] > 0.6


def test_a_row_that_is_impossible_says_nothing() -> None:
    x = np.array([[1, 0], [1, 0], [0, 0], [1, 0]])
    model = BernoulliNB(alpha=0).fit(x, list("aabb"))
    possible = np.array([[1, 0], [0, 0], [1, 0]])
    strange = np.vstack([possible, [[0, 1], [1, 1]]])
    found = [label_shift(model, rows, tol=1e-10).prior for rows in (possible, strange)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_a_class_without_a_prior_keeps_none() -> None:
    x, y = draw(300, [0.4, 0.3, 0.3], 12)
    model = GaussianNB(priors=[0.5, 0.5, 0.0]).fit(x, y)
    found = label_shift(model, draw(100, [0.1, 0.1, 0.8], 13)[0])
    assert found.prior[2] == 0.0
    assert found.prior.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(("make", "option"), [(GaussianNB, "priors"), (NaiveBayes, "class_prior")])
def test_an_adjusted_prior_does_not_know_a_new_class(make: Any, option: str) -> None:
    x, y = draw(60, [0.5, 0.5, 0.0], 18)
    model = adjust_prior(make().fit(x, y), x)
    with pytest.raises(ParameterError) as caught:
        model.partial_fit(x[:3], [2, 2, 2])
    assert f"{option} has no entry for the class 2" in str(caught.value)


# -- in print, and what cannot be


def test_too_few_steps_are_a_warning() -> None:
    x, y = draw(300, [0.4, 0.3, 0.3], 14)
    model = GaussianNB().fit(x * 0.1, y)
    rows = draw(300, [0.1, 0.1, 0.8], 15)[0] * 0.1
    for steps, said in ((1, "1 step"), (3, "3 steps"), (2, "2 steps")):
        with pytest.warns(SufficeWarning, match=f"has not come to rest in {said}:") as caught:
            found = label_shift(model, rows, max_iter=steps, tol=1e-9)
        assert len(caught) == 1
        assert len(found.log_likelihood) == 1 + steps
    assert not found.converged
    assert rises(found)
    assert "not at rest, up to" in str(found)
    rest = label_shift(model, rows, tol=1e-9)
    assert rest.log_likelihood[-1] - found.log_likelihood[-1] <= found.gap


def test_scores_have_no_prior() -> None:
    model = ComplementNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    with pytest.raises(ParameterError, match="gives scores; a class prior goes with probabilities"):
        adjust_prior(model, [[1, 0]])
