"""A few rows of numbers are answered at once: the same answers as among many, from any thread."""

import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.running import processes

from suffice import LinearDiscriminantAnalysis, set_engine
from suffice.errors import DataError, SufficeWarning
from suffice.models.generative.classifier import FEW_ROWS, is_few
from suffice.naive_bayes import GaussianNB, NaiveBayes
from suffice.numerics.logspace import cell_scores
from suffice.sums.block import BadCell, RealBlock

RNG = np.random.default_rng(11)
CODES = np.arange(600) % 3
ROWS = RNG.normal(size=(600, 6)) * [1, 1e-3, 1e3, 1, 1, 1] + 1e6 * np.eye(6)[0] + CODES[:, None]
HOLES = np.where(RNG.random(ROWS.shape) < 0.1, np.nan, ROWS)
MODELS = [
    GaussianNB(),
    NaiveBayes.textbook(),
    NaiveBayes.textbook(estimation="map"),
    LinearDiscriminantAnalysis(),
]
METHODS = ["predict_proba", "predict_joint_log_proba"]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("method", METHODS)
def test_few_rows_have_the_bits_that_they_have_among_many(model, method) -> None:
    fit = model.fit(HOLES, CODES)
    answer = getattr(fit, method)
    assert len(HOLES) > FEW_ROWS
    among_many = answer(HOLES)
    for size in (1, 2, 7, FEW_ROWS):
        alone = np.concatenate([answer(HOLES[i : i + size]) for i in range(0, 600, size)])
        assert alone.tobytes() == np.ascontiguousarray(among_many).tobytes()
    backwards = answer(HOLES[:50:-1][:9])
    assert np.ascontiguousarray(backwards).tobytes() == among_many[:50:-1][:9].tobytes()


def test_other_arrays_are_answered_alike() -> None:
    model = GaussianNB().fit(ROWS, CODES)
    expected = model.predict_proba(ROWS[:4])
    for rows in (ROWS[:4].tolist(), np.asfortranarray(ROWS[:4]), np.ma.array(ROWS[:4])):
        assert np.array_equal(model.predict_proba(rows), expected)


def test_bad_cells_and_widths_are_named() -> None:
    model = GaussianNB().fit(ROWS, CODES)
    bad = ROWS[:3].copy()
    bad[1, 2] = np.inf
    with pytest.raises(DataError, match="column 'x2', row 1: inf"):
        model.predict_proba(bad)
    with pytest.raises(ValueError, match="X has 5 features, but GaussianNB is expecting 6"):
        model.predict_proba(ROWS[:1, :5])
    with pytest.raises(DataError, match="there is no row"):
        model.predict_proba(ROWS[:0])


def test_impossible_rows_are_answered_by_the_prior_with_a_warning() -> None:
    model = GaussianNB(var_smoothing=2.0**-100).fit(
        [[0.0], [1e-9], [1.0], [1.0 + 1e-9]], [0, 0, 1, 1]
    )
    with pytest.warns(SufficeWarning, match="1 of 1 row is impossible under every class"):
        assert model.predict_proba(np.array([[1e150]])).tolist() == [[0.5, 0.5]]


def test_another_engine_is_asked() -> None:
    model = GaussianNB().fit(ROWS, CODES)
    assert is_few(model, ROWS[:1])
    with set_engine(processes()):
        assert not is_few(model, ROWS[:1])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_threads_that_ask_one_model_get_the_same_answers(model) -> None:
    expected = np.ascontiguousarray(model.fit(ROWS, CODES).predict_proba(ROWS)).tobytes()
    fresh = model.fit(ROWS, CODES)  # nothing is estimated yet
    with ThreadPoolExecutor(8) as pool:
        for answers in pool.map(lambda _: _one_by_one(fresh), range(8)):
            assert answers == expected


def _one_by_one(model) -> bytes:
    return np.concatenate([model.predict_proba(ROWS[[i]]) for i in range(len(ROWS))]).tobytes()


def _answer_in_child(model, pipe) -> None:
    pipe.send_bytes(_one_by_one(model))
    pipe.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_forked_process_answers_as_its_parent(model) -> None:
    fit = model.fit(ROWS, CODES)
    expected = _one_by_one(fit)  # as a web server that is loaded before it forks
    context = get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_answer_in_child, args=(fit, theirs))
    child.start()
    theirs.close()
    answers = mine.recv_bytes()
    child.join()
    assert answers == expected


def _weighted(columns: int = 9, rows: int = 700) -> tuple[NaiveBayes, NDArray[np.float64]]:
    """A model of histograms and kernel densities whose weights differ."""
    rng = np.random.default_rng(columns)
    y = rng.integers(0, 3, rows)
    x = rng.normal(size=(rows, columns)) + 0.4 * y[:, None]
    x[:, ::2] = np.exp(2 * x[:, ::2]) * np.where(y == 1, -1, 1)[:, None]
    x[:, 1] = 1e9 + x[:, 3]  # far from 0, and it repeats another
    x[rng.random(x.shape) < 0.1] = np.nan
    return NaiveBayes().fit(x, y), x


def test_a_row_has_the_same_bits_alone_where_columns_have_weights() -> None:
    model, x = _weighted()
    assert len({choice.shape for choice in model.model_.parameters[0].choices}) > 1
    assert len(set(model.model_.weighted[0]._weights.tolist())) > 1
    many = model.predict_log_proba(x)
    for i in range(40):
        assert model.predict_log_proba(x[i : i + 1]).tolist() == many[i : i + 1].tolist()


def test_a_number_too_large_is_refused_in_its_column() -> None:
    x, y = RNG.normal(size=(200, 5)), np.arange(200) % 2
    model, column = NaiveBayes(numbers="gaussian").fit(x, y), 3
    (parameters,) = model.model_.parameters
    x[2, column] = 1e200
    for rows in (x[:5], x):
        with pytest.raises(DataError, match=f"x{column}"):
            model.predict_proba(rows)
    with pytest.raises(BadCell) as caught:
        parameters.add_contributions(RealBlock(x[:5]), cell_scores(5, x.shape[1], 2))
    assert caught.value.column == column
