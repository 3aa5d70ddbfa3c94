"""Numbers are counted in the sample: all where it has all rows, else those far from 0."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice
from suffice import AODE, NaiveBayes
from suffice.bayes import next_question
from suffice.errors import SufficeWarning
from suffice.families import Density
from suffice.privacy import audit

FAR = 2.0**30  # so far that numbers of few bits are moved without rounding


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """One class lies around the other in the first column; the second is a year."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    around = np.round((rng.normal(size=n) + 4 * y * rng.choice([-1, 1], n)) * 16) / 16
    year = 2000.0 + rng.integers(0, 12, n) - 3 * y
    return np.c_[around, year, rng.normal(size=n) + y], y


def moved(x: np.ndarray, by: float = FAR) -> np.ndarray:
    return np.c_[x[:, 0] + by, x[:, 1:]]


X, Y = rows(600)
MOVED = moved(X)


def test_a_column_far_from_0_is_told_as_well_as_one_near_it() -> None:
    new, truth = rows(4000, 1)
    near, far = NaiveBayes().fit(X, Y), NaiveBayes().fit(MOVED, Y)
    assert set(far.model_.sampled.columns) == {"x0", "x1", "x2"}
    assert far.model_.family_names["x0"] in {"histogram", "kernel_density"}
    errors = 1 - near.score(new, truth), 1 - far.score(moved(new), truth)
    plain = NaiveBayes(calibration="none").fit(MOVED, Y)
    assert plain.model_.sampled is None
    assert plain.model_.family_names["x0"] == "density"
    without = 1 - plain.score(moved(new), truth)
    assert abs(errors[0] - errors[1]) < 0.01
    assert errors[1] < without - 0.05


def test_it_does_not_matter_how_far() -> None:
    once, twice = (NaiveBayes().fit(moved(X, by), Y).model_ for by in (FAR, 2 * FAR))
    (a,), (b,) = once.parameters, twice.parameters
    assert [one.shape for one in a.choices] == [one.shape for one in b.choices]
    np.testing.assert_allclose(a.log_density, b.log_density, atol=1e-12)


def test_counts_are_those_of_rows_of_the_sample() -> None:
    """Fewer than 4,096 rows: the sample holds all."""
    sampled = NaiveBayes().fit(MOVED, Y).model_.sampled
    units = 1 / 16, 1.0, X[:, 2].std()  # steps of numbers, where there are some
    for j, name in enumerate(sampled.columns):
        x = MOVED[:, int(name[1:])]
        median, above = np.sort(x)[299:301]  # the latter tells no number in full
        assert sampled.bins.origin[j] == (median if j < 2 else 0.5 * median + 0.5 * above)
        assert sampled.bins.unit[j] == pytest.approx(units[j], rel=1e-12)
        cells, counts = sampled.bins.column(j)
        assert counts.sum(axis=1).tolist() == np.bincount(Y).tolist()
        assert len(cells) == len(np.unique(x)) if j < 2 else len(cells) > 300


def test_of_many_rows_only_columns_far_from_0_are_counted_in_the_sample() -> None:
    x, y = rows(5_000)
    model = NaiveBayes().fit(moved(x), y).model_
    assert model.sampled.columns == ("x0", "x1")
    assert model.sampled.bins.total[:, 0].sum() == 4_096
    assert NaiveBayes().fit(x[:, [0, 2]], y).model_.sampled is None
    few = np.round(x[:, [0, 2]])  # rows that repeat, so that all are in the sample
    assert NaiveBayes().fit(few, y).model_.sampled.bins.total.sum() == 10_000


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_where_numbers_start_and_their_unit_change_nothing(model: type[NaiveBayes]) -> None:
    """Some lie midway between others, some are rare, and a class shows one alone."""
    x = np.c_[X, np.where(Y == 1, 0.3, np.random.default_rng(2).integers(0, 9, len(Y)) / 10)]
    expected = model().fit(x, Y).predict_log_proba(x)
    for scale, by in ((0.37, 0.0), (1e-9, 3.7), (1.8, 32.0), (1e7, -40.0)):
        other = scale * (x + by)
        found = model().fit(other, Y).predict_log_proba(other)
        np.testing.assert_allclose(found, expected, atol=1e-7)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(60, 300), st.integers(1, 4))
def test_the_same_rows_give_the_same_bits(seed: int, n: int, parts: int) -> None:
    """In whatever order they come, in however many parts, and when others were forgotten."""
    rng = np.random.default_rng(seed)
    x, y = rows(n, seed)
    x = moved(x)
    expected = NaiveBayes().fit(x, y).predict_log_proba(x)
    streamed = NaiveBayes()
    for part in np.array_split(rng.permutation(n), parts):
        streamed.partial_fit(x[part], y[part], classes=[0, 1])
    assert np.array_equal(streamed.predict_log_proba(x), expected)
    more, labels = rows(20, seed + 1)
    merged = NaiveBayes().fit(x, y).merge(NaiveBayes().fit(more, labels)).forget(more, labels)
    np.testing.assert_allclose(merged.predict_log_proba(x), expected, atol=1e-9)


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_a_file_holds_the_counts(model: type[NaiveBayes], tmp_path: Path) -> None:
    fitted = model().fit(MOVED, Y)
    fitted.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(MOVED), fitted.predict_proba(MOVED))
    again = tmp_path / "again"
    loaded.save(again)
    assert again.read_bytes() == (tmp_path / "model").read_bytes()


def test_a_loaded_model_has_estimated_its_densities_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    NaiveBayes().fit(MOVED, Y).save(tmp_path / "model")
    calls, estimate = [], Density.estimate_by

    def counted(self: Density, statistic: Any, apply: Any) -> Any:
        calls.append(statistic)
        return estimate(self, statistic, apply)

    monkeypatch.setattr(Density, "estimate_by", counted)
    model = suffice.load(tmp_path / "model")
    assert model.model_.sampled is not None
    next_question(model, {})
    assert len(calls) == 1


def test_what_a_loaded_model_keeps_and_drops(tmp_path: Path) -> None:
    NaiveBayes().fit(MOVED, Y).save(tmp_path / "model")
    learning = suffice.load(tmp_path / "model")
    counted = learning.model_.sampled.bins.total.sum(axis=0)
    learning.partial_fit(MOVED[:9], [2] * 9)
    assert learning.model_.sampled.classes.values == (0, 1, 2)
    assert (learning.model_.sampled.bins.total.sum(axis=0) == counted[:2] + 9).all()
    assert np.isfinite(learning.predict_log_proba(MOVED)).all()
    forgetting = suffice.load(tmp_path / "model")
    with pytest.warns(SufficeWarning, match="are those of earlier rows"):
        forgetting.forget(MOVED[:9], Y[:9])
    assert forgetting.model_.sampled is None
    assert forgetting.model_.family_names["x0"] == "density"
    forgetting.calibrate(MOVED[9:], Y[9:])
    anew = NaiveBayes().fit(MOVED[9:], Y[9:])
    expected = anew.predict_log_proba(MOVED)
    np.testing.assert_allclose(forgetting.predict_log_proba(MOVED), expected, atol=1e-9)


def test_pairs_are_cut_between_numbers_far_from_0() -> None:
    model = AODE().fit(MOVED, Y)
    near = AODE().fit(X, Y)
    assert len(model.bins_["x0"]) == len(near.bins_["x0"]) > 1
    np.testing.assert_allclose(model.bins_["x0"] - FAR, near.bins_["x0"], atol=0.1)


def test_intervals_rest_on_the_rows_of_the_sample() -> None:
    model = NaiveBayes().fit(MOVED, Y)
    low, high = np.moveaxis(model.predict_proba_interval(MOVED), 2, 0)
    p = model.predict_proba(MOVED)
    assert ((low <= p) & (p <= high)).all()
    assert (high - low).mean() < 0.3


def test_an_audit_finds_the_cells() -> None:
    x = MOVED.copy()
    x[5, 0] = FAR + 999
    found = audit(NaiveBayes().fit(x, Y), 2).findings
    values = [one.value for one in found if one.what == "rare value" and one.column == "x0"]
    ends = [tuple(map(float, value.split()[1::2])) for value in values if "from" in value]
    assert any(low <= FAR + 999 <= high and high - low < 4 for low, high in ends)


def test_a_loaded_model_that_learns_counts_numbers_near_0_in_all_rows(tmp_path: Path) -> None:
    NaiveBayes().fit(MOVED, Y).save(tmp_path / "model")
    learning = suffice.load(tmp_path / "model")
    assert learning.model_.sampled.columns == ("x0", "x1", "x2")
    learning.partial_fit(MOVED[:9], Y[:9])
    assert learning.model_.sampled.columns == ("x0", "x1")
    (bins,) = [block.bins for block in learning.model_.family_sums.blocks]
    assert bins.origin.tolist()[2] == 0
    assert bins.total[:, 2].sum() == 609
