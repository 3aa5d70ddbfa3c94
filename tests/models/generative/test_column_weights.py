"""Weights of columns: what they are, and what becomes of them when a model learns and forgets."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from tests.running import on

import suffice
from suffice import NaiveBayes, engine
from suffice.bayes import column_weights, quadratic_form
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.families import Density
from suffice.models.generative import weights as stage
from suffice.sums.row_sample import rank_hashes

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 400)
X = RNG.normal(size=(400, 2)) + Y[:, None]
REPEATED = np.hstack([X, X, X])


def table(n: int = 300, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    hue = np.where(rng.random(n) < 0.7, y, rng.integers(0, 3, n))
    size = rng.exponential(1.0 + 3 * y)
    note = [" ".join(rng.choice(["to", "be", "or", "not"][c : c + 3], 4)) for c in y]
    return pa.table(
        {
            "size": pa.array(size, mask=rng.random(n) < 0.1),
            "again": size * 2,
            "hue": pa.array(np.array(["red", "green", "blue"])[hue], mask=rng.random(n) < 0.1),
            "note": note,
            "kind": np.array(["no", "yes"])[y],
        }
    )


def log_losses(model: NaiveBayes, x: object, y: np.ndarray) -> np.ndarray:
    p = model.predict_log_proba(x)
    return -p[np.arange(len(y)), np.searchsorted(model.classes_, y)]


def test_weights_multiply_what_columns_say() -> None:
    model = NaiveBayes.textbook(calibration="weights").fit(table(), "kind")
    plain = NaiveBayes.textbook().fit(table(), "kind")
    new = table(50, 1).drop_columns(["kind"])
    weights = dict(
        zip(
            [name for part in model.model_.parts for name in part.layout.columns],
            model.calibration_.weights,
            strict=True,
        )
    )
    terms = plain.explain(new).contributions
    order = [weights[name] for name in plain.feature_names_in_]
    joint = np.log(plain.class_prior_) + np.einsum("j,njk->nk", order, terms)
    expected = joint - logsumexp(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(new), expected, atol=1e-12)
    weighted = model.explain(new).contributions
    np.testing.assert_allclose(weighted, np.array(order)[:, None] * terms, atol=1e-12)


def test_weights_maximise_the_penalised_likelihood_of_rows_left_out() -> None:
    """Ten folds by the remainders of hashes of ranks, fitted apart, and another minimiser."""
    model = NaiveBayes.textbook(calibration="weights").fit(REPEATED, Y)
    (sample,) = [batch.sample for batch in model.batches_]
    terms, codes = [], []
    hashes = rank_hashes(sample.batch)
    for fold in range(10):
        out = np.flatnonzero(hashes % np.uint64(10) == fold)
        x = sample.batch.blocks[0].values[out]
        kept = ~(REPEATED[:, None] == x[None]).all(axis=2).any(axis=1)
        rest = NaiveBayes.textbook(class_prior="uniform").fit(REPEATED[kept], Y[kept])
        terms.append(rest.explain(x).contributions)
        codes.append(sample.batch.codes[out])
    terms, codes = np.concatenate(terms), np.concatenate(codes)
    log_prior = np.log(np.bincount(Y) / len(Y))

    def penalised(x: np.ndarray) -> float:
        w, t = np.abs(x[:-1]), x[-1]
        joint = log_prior + np.einsum("j,njk->nk", w, terms)
        own = joint[np.arange(len(codes)), codes] - logsumexp(joint, axis=1)
        return -own.sum() + 5 * ((w - t) ** 2).sum() + 0.5 * (t - 1) ** 2

    found = model.calibration_
    assert found.rows == 400
    t = found.weights.mean()  # of its slope: d t − Σ w = (1 − t)/10
    best = minimize(
        penalised,
        np.full(7, 0.5),
        method="Nelder-Mead",
        options={"maxiter": 20_000, "xatol": 1e-7, "fatol": 1e-10},
    )
    np.testing.assert_allclose(found.weights, np.abs(best.x[:-1]), atol=2e-4)
    assert (found.weights < 0.6).all()
    assert abs(t - 1 / 3) < 0.1


def test_calibrated_probabilities_are_better_where_columns_repeat_each_other() -> None:
    new = RNG.normal(size=(2000, 2)) + np.resize(np.arange(3), 2000)[:, None]
    y, x = np.resize(np.arange(3), 2000), np.hstack([new, new, new])
    losses = {
        calibration: log_losses(
            NaiveBayes.textbook(calibration=calibration).fit(REPEATED, Y), x, y
        ).mean()
        for calibration in ("none", "temperature", "weights")
    }
    once = log_losses(NaiveBayes.textbook().fit(X, Y), new, y).mean()
    assert losses["none"] > once + 0.1
    assert abs(losses["temperature"] - once) < 0.01
    assert abs(losses["weights"] - once) < 0.01


def test_columns_of_noise_say_little_where_rows_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What all rows have chosen and weighed repeats what they said; log 2 is the best loss."""

    def asked() -> np.ndarray:
        """Log loss of new rows, and how many of the 90 % sets have their class; four tables."""
        y, new, found = np.arange(60) % 2, np.arange(1000) % 2, []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            model = NaiveBayes().fit(rng.normal(size=(60, 60)), y)
            x = rng.normal(size=(1000, 60))
            sets = model.predict_set(x, coverage=0.9)
            found.append([log_losses(model, x, new).mean(), sets[np.arange(1000), new].mean()])
        return np.mean(found, axis=0)

    loss, covered = asked()
    assert loss < 0.85
    assert covered > 0.8
    monkeypatch.setattr(stage, "ROWS_TO_A_COLUMN", 0)
    loss, covered = asked()
    assert loss > 1.0
    assert covered < 0.7


@pytest.mark.parametrize("calibration", ["temperature", "weights"])
def test_weights_do_not_depend_on_order_batches_and_threads(calibration: str) -> None:
    rows = table(900)
    order = np.random.default_rng(1).permutation(900)
    one = NaiveBayes(calibration=calibration, numbers="density").fit(rows, "kind")
    other = on(engine("local", threads=2), NaiveBayes(calibration=calibration, numbers="density"))
    shuffled = rows.select(["hue", "note", "again", "size", "kind"])
    merged = NaiveBayes(calibration=calibration, numbers="density").fit(rows[:333], "kind")
    merged.merge(NaiveBayes(calibration=calibration, numbers="density").fit(rows[333:], "kind"))
    parts = NaiveBayes(calibration=calibration, numbers="density")
    for start in range(0, 900, 300):
        parts.partial_fit(rows[start : start + 300], "kind")
    new = table(40, 2).drop_columns(["kind"])
    expected = one.predict_log_proba(new)
    for model in (other.fit(rows.take(order), "kind"), merged, parts):
        assert np.array_equal(model.predict_log_proba(new), expected)
        assert not model.calibration_.stale
    found = other.fit(shuffled, "kind").predict_log_proba(new)  # sums over columns in another order
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_rows_that_are_forgotten_leave_the_sample() -> None:
    rows = table(900)
    model = NaiveBayes.textbook(calibration="weights").fit(rows, "kind").forget(rows[600:], "kind")
    anew = NaiveBayes.textbook(calibration="weights").fit(rows[:600], "kind")
    new = table(40, 2).drop_columns(["kind"])
    np.testing.assert_allclose(model.predict_log_proba(new), anew.predict_log_proba(new), atol=1e-5)


def test_a_file_holds_weights_and_no_row(tmp_path) -> None:
    secret = 123456.789012345
    x = REPEATED.copy()
    x[7, 3] = secret
    model = NaiveBayes.textbook(calibration="weights").fit(x, Y)
    path = tmp_path / "model.suffice"
    model.save(path)
    assert np.float64(secret).tobytes() not in path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = suffice.load(path)
    assert not again.calibration_.stale
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    with pytest.warns(SufficeWarning, match="are those of earlier rows"):
        again.forget(x[:50], Y[:50])
    assert again.calibration_.stale
    np.testing.assert_array_equal(again.calibration_.weights, model.calibration_.weights)
    again.calibrate(x[50:], Y[50:])
    assert not again.calibration_.stale


@pytest.mark.parametrize("calibration", ["temperature", "weights"])
def test_weights_follow_the_rows_that_join_a_loaded_model(tmp_path, calibration: str) -> None:
    rows = table(2000)
    model = NaiveBayes(calibration=calibration).fit(rows[:1000], "kind")
    model.save(tmp_path / "model")
    one, half = (suffice.load(tmp_path / "model") for _ in range(2))
    before, every = model.calibration_, NaiveBayes(calibration=calibration).fit(rows, "kind")
    found = one.partial_fit(rows[1000:1001], "kind").calibration_
    assert not found.stale
    assert found.rows == 1001
    assert 0 < np.abs(found.weights - before.weights).max() < 0.01
    found = half.partial_fit(rows[1000:], "kind").calibration_
    apart, left = (np.abs(one.weights - every.calibration_.weights) for one in (before, found))
    assert left.max() < apart.max()
    assert found.after < found.before
    assert found.label_doubts.rows == 2000
    held_out = table(2000, 3)
    losses = [m.evaluate(held_out, "kind").log_loss for m in (half, every)]
    assert abs(losses[0] - losses[1]) < 0.002


def test_weights_that_many_columns_share_stay_when_a_loaded_model_learns(tmp_path) -> None:
    y = RNG.integers(0, 2, 60)
    x = RNG.normal(size=(60, 300)) + y[:, None]
    NaiveBayes.textbook(calibration="weights").fit(x[:50], y[:50]).save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    before = again.calibration_.weights
    with pytest.warns(SufficeWarning, match="weights of the columns are those of earlier rows"):
        again.partial_fit(x[50:], y[50:])
    assert again.calibration_.stale
    np.testing.assert_array_equal(again.calibration_.weights, before)


def test_weights_from_rows_that_were_not_learnt() -> None:
    model = NaiveBayes.textbook(calibration="weights").fit(REPEATED[:200], Y[:200])
    model.calibrate(REPEATED[200:], Y[200:], learnt=False)
    assert model.calibration_.rows == 200
    held_out = log_losses(
        NaiveBayes.textbook().fit(REPEATED[:200], Y[:200]), REPEATED[200:], Y[200:]
    )
    assert model.calibration_.before == pytest.approx(held_out.mean(), abs=0.05)
    with pytest.raises(ParameterError, match="set calibration='weights'"):
        NaiveBayes.textbook().fit(X, Y).calibrate(X, Y)


def test_a_row_without_a_cell_gets_the_prior() -> None:
    model = NaiveBayes(calibration="weights", numbers="density").fit(REPEATED, Y)
    nothing = np.full((1, 6), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], np.bincount(Y) / 400, atol=1e-12)


def test_an_impossible_cell_of_weight_zero_is_possible() -> None:
    rows = {"noise": list("abac"), "tells": list("xxyy")}
    model = NaiveBayes.textbook(alpha=0.0, calibration="weights").fit(rows, [0, 0, 1, 1])
    new = {"noise": ["c"], "tells": ["x"]}
    with pytest.warns(SufficeWarning, match="impossible"):
        model.predict_proba(new)
    known = replace(model.calibration_, weights=np.array([0.0, 1.0]))
    model.model_ = replace(model.model_, calibration=known)
    assert model.predict_proba(new).tolist() == [[1.0, 0.0]]


def test_weights_are_refused_where_they_cannot_be() -> None:
    with pytest.raises(ParameterError, match="calibration='platt'"):
        NaiveBayes.textbook(calibration="platt").fit(X, Y)
    with pytest.raises(ParameterError, match="numbers='normal'"):
        NaiveBayes.textbook(numbers="normal").fit(X, Y)


def test_a_family_chooses_by_what_all_rows_show() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    sides = y * rng.choice([-3, 3], 600)
    x = np.c_[rng.normal(size=600) + sides, 1e8 + rng.normal(size=600) + y]
    model = NaiveBayes.textbook(numbers="density").fit(x, y)
    apart = (
        NaiveBayes.textbook(numbers="density").fit(x[:100], y[:100]).partial_fit(x[100:], y[100:])
    )
    choices = model.model_.parameters[0].choices
    assert choices == apart.model_.parameters[0].choices
    assert choices[0].shape
    assert not choices[1].shape
    assert not choices[1].losses
    assert isinstance(model.model_.parts[0].family, Density)


def test_sets_cover_as_often_as_they_say() -> None:
    """Forty models of 200 rows, 200 new rows each: by chance a share is off by 0.005."""
    inside: dict[float, list[float]] = {0.8: [], 0.95: []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 400)
        x = rng.standard_t(3, size=(400, 2)) + y[:, None]
        twice = np.hstack([x, x])
        model = NaiveBayes.textbook(calibration="weights").fit(twice[:200], y[:200])
        for coverage, found in inside.items():
            sets = model.predict_set(twice[200:], coverage=coverage)
            found.append(sets[np.arange(200), y[200:]].mean())
            assert sets.sum(axis=1).mean() < 3 * coverage
    for coverage, found in inside.items():
        assert abs(np.mean(found) - coverage) < 0.015


def test_sets_of_a_sure_model_cover_as_often_as_they_say() -> None:
    """The most probable class is right for 98 of 100 rows: some sets are empty, if they may be."""
    inside, held = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 1200)
        x = rng.normal(size=(1200, 1)) + 4 * y[:, None]
        model = NaiveBayes.textbook(calibration="weights").fit(x[:600], y[:600])
        sets = model.predict_set(x[600:], coverage=0.8)
        inside.append(sets[np.arange(600), y[600:]].mean())
        assert 0.1 < (sets.sum(axis=1) == 0).mean() < 0.3
        filled = model.predict_set(x[600:], coverage=0.8, allow_empty=False)
        held.append(filled[np.arange(600), y[600:]].mean())
        best = model.predict_proba(x[600:]).argmax(axis=1)
        assert np.array_equal(filled, sets | (np.arange(2) == best[:, None]))
    assert abs(np.mean(inside) - 0.8) < 0.015
    assert np.mean(held) > 0.96


def test_sets_of_few_rows_leave_no_class_out() -> None:
    few = NaiveBayes.textbook(calibration="weights").fit(X[:4], [0, 1, 0, 1])
    assert few.predict_set(X, coverage=0.95).all()
    with pytest.raises(ParameterError, match="coverage is above 0 and below 1"):
        few.predict_set(X, coverage=1.0)
    with pytest.raises(ParameterError, match="set calibration='weights'"):
        NaiveBayes.textbook().fit(X, Y).predict_set(X)


def test_what_is_of_families_alone_is_refused() -> None:
    model = NaiveBayes.textbook(calibration="weights", estimation="mle").fit(X, Y)
    with pytest.raises(ParameterError, match="a form would leave them out"):
        quadratic_form(model)


def test_weights_by_name() -> None:
    rows = table(300)
    model = NaiveBayes().fit(rows, "kind")
    assert set(column_weights(model)) == {"size", "again", "hue", "note"}
    for part, weights in zip(model.model_.parts, model.model_.part_weights, strict=True):
        each = np.broadcast_to(weights, len(part.layout.columns)).tolist()
        assert [column_weights(model)[name] for name in part.layout.columns] == each
    assert set(column_weights(NaiveBayes.textbook().fit(rows, "kind")).values()) == {1.0}


KINDS = {"note": "multinomial", "hue": "categorical"}  # whatever the first rows suggest


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1), st.integers(100, 400), st.integers(1, 4))
def test_the_same_rows_give_the_same_bits(seed: int, n: int, parts: int) -> None:
    """In whatever order they come, and in however many parts."""
    rng = np.random.default_rng(seed)
    rows = table(n, seed).append_column("far", pa.array(1e6 + rng.normal(size=n)))
    model = NaiveBayes(KINDS).fit(rows, "kind")
    asked = rows.drop_columns(["kind"])
    expected = model.predict_log_proba(asked)
    assert np.isfinite(expected).all()
    shuffled = NaiveBayes(KINDS).fit(rows.take(rng.permutation(n)), "kind")
    assert np.array_equal(shuffled.predict_log_proba(asked), expected)
    assert column_weights(shuffled) == column_weights(model)
    streamed = NaiveBayes(KINDS)
    for rest in np.array_split(rng.permutation(n), parts):
        streamed.partial_fit(rows.take(rest), "kind", classes=["no", "yes"])
    assert np.array_equal(streamed.predict_log_proba(asked), expected)


@pytest.mark.parametrize("rows", [1, 5_000])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_a_cell_that_is_no_number_is_refused_in_a_column_of_weight_zero(
    rows: int, bad: float
) -> None:
    rng = np.random.default_rng(22)
    y = rng.integers(0, 2, 400)
    a = rng.normal(size=400) + 2 * y
    x = np.c_[a, a + 1e-3 * rng.normal(size=400), rng.normal(size=400) + 0.2 * a]
    model = NaiveBayes(calibration="weights").fit(x, y)
    assert model.calibration_ is not None
    assert model.calibration_.weights[2] == 0
    more = np.tile(x[:1], (rows, 1))
    more[-1, 2] = bad
    for answer in (model.predict, model.predict_proba, model.explain):
        with pytest.raises(DataError, match=rf"column 'x2', row {rows - 1}: {re.escape(str(bad))}"):
            answer(more)
