"""Rows without a label that join by expectation-maximisation, beside steps written out by hand."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import suffice
from suffice import AODE, NaiveBayes
from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import ParameterError, SufficeWarning
from suffice.model_selection import evaluate_folds
from suffice.models.generative import expected_labels

LABELS = np.array(["low", "mid", "high"])


def table(n: int = 240, labelled: int = 40, seed: int = 0, k: int = 2) -> pa.Table:
    """Numbers, categories, integers and texts with missing cells; most labels are missing."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(k), np.arange(k), rng.integers(0, k, n - 2 * k)]
    hue = np.where(rng.random(n) < 0.7, y, rng.integers(0, 3, n))
    note = [" ".join(rng.choice(["to", "be", "or", "not", "that"][c : c + 3], 4)) for c in y]
    return pa.table(
        {
            "size": pa.array(rng.normal(size=n) + 2 * y, mask=rng.random(n) < 0.1),
            "age": pa.array(rng.normal(size=n) - y, mask=rng.random(n) < 0.1),
            "hue": pa.array(np.array(["red", "green", "blue"])[hue], mask=rng.random(n) < 0.1),
            "rooms": rng.integers(0, 3, n) + y,
            "note": note,
            "kind": pa.array(LABELS[y], mask=np.arange(n) >= labelled),
            "weight": np.round(rng.random(n) * 3, 1),
        }
    )


def by_hand(x: Any, y: Any, w: Any, steps: int, alpha: float) -> tuple[Any, ...]:
    """Steps for two numbers and a category: P(c), means, variances, shares, and L of each."""
    k, known = 1 + int(y.max()), y >= 0
    r = np.where(known[:, None], y[:, None] == np.arange(k), 0.0)
    path = []
    for _ in range(steps + 1):
        told = r * w[:, None]
        prior = told.sum(axis=0) / told.sum()
        seen = ~np.isnan(x[:, :2])
        n = np.einsum("ic,ij->cj", told, seen)
        filled = np.where(seen, x[:, :2], 0.0)
        mean = told.T @ filled / n
        apart = np.where(seen[:, None], x[:, None, :2] - mean, 0.0) ** 2
        variance = np.einsum("ic,icj->cj", told, apart) / n
        values = np.arange(3)
        counts = told.T @ (x[:, 2:] == values) + alpha
        shares = counts / counts.sum(axis=1, keepdims=True)
        logs = -0.5 * (np.log(2 * np.pi * variance) + apart / variance)
        logs = np.where(seen[:, None], logs, 0.0).sum(axis=2) + np.log(prior)
        shown = ~np.isnan(x[:, 2])
        logs[shown] += np.log(shares[:, x[shown, 2].astype(int)]).T
        every = logsumexp(logs, axis=1)
        path.append(float(w @ np.where(known, (logs * r).sum(axis=1), every)))
        if len(path) <= steps:
            r = np.where(known[:, None], r, np.exp(logs - every[:, None]))
    return prior, mean, variance, shares, path[1:]


@pytest.mark.parametrize(("estimation", "alpha"), [("mle", 0.0), ("mle", 1.0)])
def test_parameters_are_those_of_steps_written_out(estimation: str, alpha: float) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 60)
    x = np.c_[rng.normal(size=(60, 2)) + 1.5 * y[:, None], np.where(y, 1, rng.integers(0, 3, 60))]
    x[:6, 2] = [0, 1, 2] * 2
    y[:6] = [0, 0, 0, 1, 1, 1]
    x[6:][rng.random((54, 3)) < 0.15] = np.nan
    w = np.round(rng.random(60) + 0.2, 2)
    codes = np.where(np.arange(60) < 20, y, -1)
    families: dict[str, Any] = {
        "hue": suffice.families.Categorical(alpha, "bayes" if alpha else "mle"),
    }
    rows = {
        "a": x[:, 0],
        "b": x[:, 1],
        "hue": pa.array(
            ["rgb"[0 if np.isnan(v) else int(v)] for v in x[:, 2]], mask=np.isnan(x[:, 2])
        ),
    }
    labels = pa.array(codes.astype(str), mask=codes < 0)
    model = NaiveBayes.textbook(
        families, estimation=estimation, variance_floor=1e-12, unlabelled="em"
    ).fit(pa.table(rows), labels, w)
    found = model.em_.log_likelihood
    prior, mean, variance, shares, path = by_hand(x, codes, w, len(found), alpha)
    np.testing.assert_allclose(model.class_prior_, prior, rtol=1e-8)
    described = {
        name: parameters.describe(j)
        for part, parameters in zip(model.parts_, model.model_.parameters, strict=True)
        for j, name in enumerate(part.layout.columns)
    }
    for j, name in enumerate(("a", "b")):
        np.testing.assert_allclose(described[name]["mean"], mean[:, j], rtol=1e-8)
        deviation = described[name]["sd"]
        np.testing.assert_allclose(np.square(deviation), variance[:, j], rtol=1e-8)
    np.testing.assert_allclose(
        [described["hue"][v] for v in "rgb"], shares.T, rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(found, path, rtol=1e-10)
    assert model.em_.rows == pytest.approx(w[20:].sum(), rel=1e-12)
    assert model.em_.converged


def log_likelihood(model: Any, rows: pa.Table) -> float:
    """Σ log P(x, y) of labelled rows and Σ log P(x) of others, as predictions have them."""
    joint = model.predict_joint_log_proba(rows.drop_columns(["kind"]))
    labels = rows["kind"].to_pylist()
    places = {label: c for c, label in enumerate(model.classes_)}
    return float(
        sum(
            logsumexp(one) if label is None else one[places[label]]
            for one, label in zip(joint, labels, strict=True)
        )
    )


def models() -> list[Any]:
    return [
        NaiveBayes.textbook(estimation="mle", alpha=0.0, unlabelled="em"),
        NaiveBayes.textbook(unlabelled="em"),
        NaiveBayes.textbook(estimation="map", unlabelled="em", class_prior="uniform"),
        NaiveBayes.textbook(alpha="evidence", class_weight="balanced", unlabelled="em"),
        NaiveBayes(unlabelled="em"),
        NaiveBayes(numbers="histogram", calibration="temperature", unlabelled="em"),
        NaiveBayes(numbers="kernel_density", calibration="none", unlabelled="em"),
        LinearDiscriminantAnalysis(unlabelled="em"),
        QuadraticDiscriminantAnalysis(shrinkage=0.1, unlabelled="em"),
    ]


@pytest.mark.parametrize("model", models(), ids=str)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 3), labelled=st.integers(12, 40))
def test_the_likelihood_never_falls(model: Any, seed: int, k: int, labelled: int) -> None:
    rows = table(120, labelled, seed, k).drop_columns(["weight"])
    if isinstance(model, LinearDiscriminantAnalysis | QuadraticDiscriminantAnalysis):
        rows = rows.drop_columns(["note"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model.unfitted().fit(rows, "kind")
    path = fitted.em_.log_likelihood
    assert (np.diff(path) >= 0).all()
    assert np.isfinite(path).all()
    assert fitted.em_.rows == 120 - labelled
    assert fitted.statistic_.rows == pytest.approx(120, abs=1e-9)
    p = fitted.predict_proba(rows.drop_columns(["kind"]))
    assert np.isfinite(p).all()


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes.textbook(estimation="mle", alpha=0.0, unlabelled="em"),
        NaiveBayes.textbook(unlabelled="em"),
        LinearDiscriminantAnalysis(unlabelled="em"),
        QuadraticDiscriminantAnalysis(unlabelled="em"),
    ],
    ids=str,
)
def test_the_likelihood_is_that_of_predictions(model: Any) -> None:
    rows = table(labelled=60).drop_columns(["weight"])
    if not isinstance(model, NaiveBayes):
        rows = rows.select(["size", "age", "kind"])
        rows = pa.table(
            {
                name: column.fill_null(0.5) if name != "kind" else column
                for name, column in zip(rows.column_names, rows.columns, strict=True)
            }
        )
    model = model.unfitted().fit(rows, "kind")
    assert model.em_.log_likelihood[-1] == pytest.approx(log_likelihood(model, rows), rel=1e-12)


def test_a_gaussian_of_each_class_is_a_mixture_of_gaussians() -> None:
    """Weights, means and covariances solve the equations of the maximum of the likelihood."""
    rng = np.random.default_rng(8)
    y = np.r_[0, 1, 2, rng.integers(0, 3, 397)]
    x = rng.normal(size=(400, 2)) + 2.5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    known = np.arange(400) < 60
    model = QuadraticDiscriminantAnalysis(unlabelled="em", store_covariance=True)
    model.fit(x, pa.array(y, mask=~known))
    logs = np.stack(
        [
            np.log(prior) + multivariate_normal(mean, covariance).logpdf(x)
            for prior, mean, covariance in zip(
                model.priors_, model.means_, model.covariance_, strict=True
            )
        ],
        axis=1,
    )
    r = np.where(known[:, None], y[:, None] == np.arange(3), 0.0)
    r[~known] = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))[~known]
    np.testing.assert_allclose(model.priors_, r.mean(axis=0), rtol=1e-2)
    np.testing.assert_allclose(model.means_, (r.T @ x) / r.sum(axis=0)[:, None], atol=2e-2)
    told = logsumexp(logs[~known], axis=1).sum() + logs[known, y[known]].sum()
    assert model.em_.log_likelihood[-1] == pytest.approx(told, rel=1e-9)


def test_without_such_rows_nothing_changes() -> None:
    rows = table(100, 100).drop_columns(["weight"])
    plain, joined = NaiveBayes().fit(rows, "kind"), NaiveBayes(unlabelled="em").fit(rows, "kind")
    assert joined.statistic_ == plain.statistic_
    assert joined.em_.rows == 0
    new = rows.drop_columns(["kind"])
    assert (joined.predict_proba(new) == plain.predict_proba(new)).all()
    joined.forget(rows.slice(0, 10), "kind").merge(plain)
    assert plain.em_ is None


def same(one: Any, other: Any, rows: pa.Table) -> None:
    assert one.statistic_ == other.statistic_
    assert (one.em_.log_likelihood == other.em_.log_likelihood).all()
    assert (one.predict_proba(rows) == other.predict_proba(rows)).all()


@pytest.mark.parametrize("make", [NaiveBayes, NaiveBayes.textbook])
def test_order_parts_and_threads_change_no_bit(make: Any, tmp_path: Path) -> None:
    rows = table().select(["size", "age", "hue", "note", "kind"])
    new = rows.drop_columns(["kind"])
    model = make(unlabelled="em").fit(rows, "kind")
    order = np.random.default_rng(1).permutation(len(rows))
    same(make(unlabelled="em", threads=1).fit(rows.take(order), "kind"), model, new)
    same(make(unlabelled="em").fit(rows.to_reader(50), "kind"), model, new)
    for part in range(3):
        pa.csv.write_csv(rows.slice(80 * part, 80), tmp_path / f"{part}.csv")
    files = make(unlabelled="em", engine="processes")
    same(files.fit(str(tmp_path / "*.csv"), "kind"), model, new)


def test_weights_are_repetition_and_absence() -> None:
    rows = table(80, 20)
    weight = np.r_[np.ones(20), np.tile([2.0, 0.0, 1.0], 20)]
    twice = rows.take(np.repeat(np.arange(80), weight.astype(int)))
    make = lambda: NaiveBayes.textbook(estimation="mle", unlabelled="em")  # noqa: E731
    weighed = make().fit(rows.drop_columns(["weight"]), "kind", weight)
    repeated = make().fit(twice.drop_columns(["weight"]), "kind")
    assert weighed.em_.rows == repeated.em_.rows == 60
    new = rows.drop_columns(["weight", "kind"])
    np.testing.assert_allclose(
        weighed.predict_proba(new), repeated.predict_proba(new), rtol=1e-9, atol=1e-12
    )


def test_what_only_rows_without_a_label_show_is_learnt() -> None:
    kind = pa.array(["a", "a", "b", "b"] + [None] * 36)
    rows = {"hue": list("rrgg") + list("rrg") * 8 + list("vvvvvvvvvvvv")}
    model = NaiveBayes.textbook(unseen="error", unlabelled="em").fit(rows, kind)
    assert np.isfinite(model.predict_proba({"hue": ["v"]})).all()


def test_a_file_keeps_what_was_expected(tmp_path: Path) -> None:
    rows = table().drop_columns(["weight"])
    new = rows.drop_columns(["kind"])
    for make in (NaiveBayes, LinearDiscriminantAnalysis):
        known = rows if make is NaiveBayes else rows.drop_columns(["note"])
        model = make(unlabelled="em").fit(known, "kind")
        model.save(tmp_path / "model.suffice")
        loaded = suffice.load(tmp_path / "model.suffice")
        asked = new if make is NaiveBayes else new.drop_columns(["note"])
        same(loaded, model, asked)
        assert loaded.em_.converged is model.em_.converged
        with pytest.raises(ParameterError, match="forget, with unlabelled='em'"):
            loaded.forget(known, "kind")


def test_texts_gain_from_texts_without_a_label() -> None:
    """Words that no labelled text has are learnt from the company that they keep."""
    rng = np.random.default_rng(2)
    words = np.array([f"word{i}" for i in range(200)])
    y = np.r_[0, 1, rng.integers(0, 2, 598)]
    notes = [" ".join(rng.choice(words[100 * c : 100 * c + 100], 12)) + " the" for c in y]
    labels = pa.array(y, mask=np.arange(600) >= 6)
    known = NaiveBayes.textbook({"note": "multinomial"})
    joined = NaiveBayes.textbook({"note": "multinomial"}, unlabelled="em")
    assert known.fit({"note": notes}, labels).score({"note": notes}, y) < 0.98
    assert joined.fit({"note": notes}, labels).score({"note": notes}, y) == 1.0


def test_folds_learn_from_all_rows_without_a_label() -> None:
    rows = table(300, 30, seed=5).drop_columns(["weight", "note"])
    only = rows.slice(0, 30)
    joined = NaiveBayes.textbook(unlabelled="em")
    with_others, without = (
        evaluate_folds(joined, one, "kind", cv=3).mean("log loss") for one in (rows, only)
    )
    plain = evaluate_folds(NaiveBayes.textbook(), rows, "kind", cv=3).mean("log loss")
    assert without == pytest.approx(plain, rel=1e-12)
    assert with_others != pytest.approx(plain, rel=1e-3)


def test_steps_that_do_not_come_to_rest_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_labels, "MOST_STEPS", 2)
    rows = table().drop_columns(["weight"])
    with pytest.warns(SufficeWarning, match="has not come to rest in 2 steps: the labels expected"):
        model = NaiveBayes.textbook(unlabelled="em").fit(rows, "kind")
    assert (len(model.em_.log_likelihood), model.em_.converged) == (2, False)


def test_what_parts_cannot_say_is_refused() -> None:
    rows = table().drop_columns(["weight"])
    plain, joined = NaiveBayes().fit(rows, "kind"), NaiveBayes(unlabelled="em").fit(rows, "kind")
    rule = "do not add up to those of the whole; fit all rows together"
    for asked in (
        lambda: NaiveBayes(unlabelled="em").partial_fit(rows, "kind"),
        lambda: joined.partial_fit(rows, "kind"),
        lambda: joined.set_params(unlabelled="drop").partial_fit(rows, "kind"),
        lambda: joined.forget(rows, "kind"),
        lambda: joined.merge(plain),
        lambda: plain.merge(joined),
    ):
        with pytest.raises(ParameterError, match=rule):
            asked()
    with pytest.raises(ParameterError, match="leave-one-out of NaiveBayes"):
        evaluate_folds(NaiveBayes.textbook(unlabelled="em"), rows, "kind", cv="loo")
    with pytest.raises(ParameterError, match="unlabelled='EM'; unlabelled is 'drop' or 'em'"):
        NaiveBayes(unlabelled="EM").fit(rows, "kind")
    with pytest.raises(ParameterError, match="has no likelihood that could grow; fit NaiveBayes"):
        AODE(unlabelled="em").fit(rows, "kind")
    with pytest.raises(ParameterError, match="set shrinkage='auto', or give a number"):
        LinearDiscriminantAnalysis(unlabelled="em", shrinkage="loo").fit(rows, "kind")


def test_what_was_found_prints_in_words() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2)) + np.repeat([[0.0], [3.0]], 20, axis=0)
    y = np.array([0, None] * 10 + [1, None] * 10, object)
    found = repr(NaiveBayes.textbook(unlabelled="em").fit(x, y).em_)
    assert found.startswith("20 rows without a label, expected in ")
    assert "array" not in found
    assert repr(NaiveBayes(unlabelled="em").fit(x[::2], y[::2]).em_) == "no row without a label"
