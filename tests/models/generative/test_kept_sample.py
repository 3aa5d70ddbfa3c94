"""The sample in a model file: there where it is asked for, and a loaded model goes on with it."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import suffice
from suffice import AODE, NaiveBayes
from suffice.discriminant_analysis import RegularizedDiscriminantAnalysis
from suffice.errors import ParameterError, SufficeWarning
from suffice.privacy import audit
from suffice.rules import build
from suffice.statistics.kept_rows import KeptCategories, KeptEvents, KeptNumbers, KeptRows
from suffice.tree import Encoder

N = 240
LABELS = np.array(["no", "yes"])[np.random.default_rng(0).integers(0, 2, N)]


def mixed() -> pa.Table:
    """Every kind of column, with empty cells, words that come late, and a column far from 0."""
    rng, y = np.random.default_rng(1), LABELS == "yes"
    empty = rng.random((N, 3)) < 0.1
    words = np.array(["to", "be", "or", "not", "that", "is"])
    hues = np.array(["red", "green", "blue"])
    return pa.table(
        {
            "size": pa.array(rng.exponential(1 + 2 * y), mask=empty[:, 0]),
            "year": 2000.0 + rng.normal(size=N) + y,
            "visits": rng.poisson(2 + y),
            "hue": pa.array(hues[rng.integers(0, 3, N)], mask=empty[:, 1]),
            "old": pa.array(rng.random(N) < 0.3 + 0.4 * y, mask=empty[:, 2]),
            "note": [f"{' '.join(rng.choice(words[2 * c :], 4))} w{i}" for i, c in enumerate(y)],
        }
    )


def numbers() -> np.ndarray:
    rng = np.random.default_rng(2)
    return rng.normal(size=(N, 4)).astype(np.float32) + (LABELS == "yes")[:, None]


def integers() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 4, (N, 3)) + (LABELS == "yes")[:, None]


def sparse() -> csr_array:
    return csr_array(np.random.default_rng(4).poisson(0.5 + (LABELS == "yes")[:, None], (N, 7)))


Case = tuple[Callable[[], Any], Any]
CASES: dict[str, Case] = {
    "mixed": (lambda: NaiveBayes(keep_sample=True), mixed()),
    "one temperature": (lambda: NaiveBayes(keep_sample=True, calibration="temperature"), numbers()),
    "pairs": (
        lambda: AODE(keep_sample=True, bins={"hue": ["red", "blue"], "size": [1.0]}),
        mixed().select(["size", "hue", "year"]),
    ),
    "integers": (lambda: NaiveBayes("categorical", keep_sample=True), integers()),
    "counts": (lambda: NaiveBayes("multinomial", keep_sample=True), sparse()),
    "discriminants": (
        lambda: RegularizedDiscriminantAnalysis(keep_sample=True),
        mixed().select(["size", "year", "hue"]).drop_null().combine_chunks(),
    ),
}


def part(rows: Any, start: int, stop: int) -> Any:
    return rows[start:stop]


def again(model: Any, path: Path) -> Any:
    model.save(path)
    return suffice.load(path)


@pytest.mark.filterwarnings("ignore:.*are in no pairs:suffice.errors.SufficeWarning")
@pytest.mark.filterwarnings("ignore:pairs of columns are counted:suffice.errors.SufficeWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_goes_on_as_in_one_process(name: str, tmp_path: Path) -> None:
    make, rows = CASES[name]
    n = rows.shape[0]
    y, first = LABELS[:n], n * 2 // 3
    learnt = make().fit(part(rows, 0, first), y[:first])
    loaded = again(learnt, tmp_path / "model")
    other = make().fit(part(rows, first, n), y[first:])
    both = again(other, tmp_path / "other")
    gone = part(rows, 10, 40), y[10:40]
    for go_on in (
        lambda model, _: model.partial_fit(part(rows, first, n), y[first:]),
        lambda model, more: model.merge(more),
        lambda model, _: model.forget(*gone),
        lambda model, _: model.calibrate(part(rows, 0, 100), y[:100]),
    ):
        expected, found = go_on(deepcopy(learnt), other), go_on(deepcopy(loaded), both)
        assert not found.calibration_.stale
        np.testing.assert_array_equal(found.calibration_.weights, expected.calibration_.weights)
        np.testing.assert_array_equal(found.predict_proba(rows), expected.predict_proba(rows))
        # What it holds then is written and read again.
        twice = again(found, tmp_path / "twice")
        np.testing.assert_array_equal(twice.predict_proba(rows), found.predict_proba(rows))


def test_batches_of_a_window_keep_their_samples(tmp_path: Path) -> None:
    def stream() -> NaiveBayes:
        model = NaiveBayes(keep_sample=True, window=2)
        for start in (0, 80):
            model.partial_fit(mixed()[start : start + 80], LABELS[start : start + 80])
        return model

    learnt, loaded = stream(), again(stream(), tmp_path / "model")
    for model in (learnt, loaded):
        model.partial_fit(mixed()[160:], LABELS[160:])
    np.testing.assert_array_equal(loaded.predict_proba(mixed()), learnt.predict_proba(mixed()))
    assert not loaded.calibration_.stale


def test_no_row_is_in_a_file_that_was_not_asked_for_it(tmp_path: Path) -> None:
    rows, size = mixed(), 123456.789012345
    rows = rows.set_column(0, "size", pa.array(np.append(rows["size"].to_numpy()[:-1], size)))
    paths = {kept: tmp_path / f"{kept}" for kept in (False, True)}
    for kept, path in paths.items():
        NaiveBayes(keep_sample=kept).fit(rows, LABELS).save(path)
    raw = {kept: path.read_bytes() for kept, path in paths.items()}
    assert np.float64(size).tobytes() in raw[True]
    assert np.float64(size).tobytes() not in raw[False]
    assert b"KeptRows" in raw[True]
    assert b"Kept" not in raw[False]
    with pytest.warns(SufficeWarning, match="earlier rows"):
        stale = suffice.load(paths[False]).partial_fit(rows, LABELS)
    assert stale.calibration_.stale
    again(suffice.load(paths[True]).set_params(keep_sample=False), paths[True])
    assert b"Kept" not in paths[True].read_bytes()


def written(model: Any) -> tuple[str, list[bytes]]:
    """The sample as a file has it."""
    encoder = Encoder(type(model).saved_types)
    tree = encoder.encode(model._entries()["samples"], ())
    return json.dumps(tree), [array.tobytes() for array in encoder.arrays.values()]


def test_the_sample_in_a_file_depends_on_its_rows_alone() -> None:
    rows, y = mixed(), LABELS
    order = np.random.default_rng(5).permutation(N)
    one = NaiveBayes(keep_sample=True).fit(rows, y)
    other = NaiveBayes(keep_sample=True)
    for places in np.array_split(order, 3):
        other.partial_fit(rows.take(places), y[places])
    assert written(one) == written(other)
    less, rest = one.forget(rows[:1], y[:1]), NaiveBayes(keep_sample=True).fit(rows[1:], y[1:])
    assert "w0" not in str(less._kept)
    assert written(less) == written(rest)


def test_an_audit_says_that_a_file_holds_rows(tmp_path: Path) -> None:
    model = again(NaiveBayes(keep_sample=True).fit(mixed(), LABELS), tmp_path / "model")
    (first, *_) = audit(model, 2).lines()
    assert first == ("whole rows", "(all columns)", "1", "1", "240 of 240 rows of a sample")
    without = NaiveBayes().fit(mixed(), LABELS)
    assert all(one.what != "whole rows" for one in audit(without, 2).findings)


def test_a_row_that_many_show_tells_of_no_single_one() -> None:
    rows = {"hue": ["red", "red", "blue", "blue"] * 10}
    model = NaiveBayes(keep_sample=True).fit(rows, ["no", "yes", "no", "yes"] * 10)
    assert all(one.what != "whole rows" for one in audit(model, 10).findings)
    assert sum(one.what == "whole rows" for one in audit(model, 11).findings) == 1


def test_without_weights_there_is_no_sample_to_keep(tmp_path: Path) -> None:
    NaiveBayes.textbook(keep_sample=True).fit(mixed(), LABELS).save(tmp_path / "model")
    assert b"Kept" not in (tmp_path / "model").read_bytes()
    with pytest.raises(ParameterError, match="keep_sample='yes'; it is True or False"):
        NaiveBayes(keep_sample="yes").fit(mixed(), LABELS)


HASHES = np.array([3, 5], np.uint64)
ROWS = {
    "size": 4,
    "cut": 2**64 - 1,
    "hashes": HASHES,
    "weights": np.ones(2),
    "classes": suffice.statistics.vocabulary.Vocabulary(("a", "b")),
    "codes": np.array([0, 1]),
    "cells": (KeptNumbers(np.array([[1.0], [np.nan]])),),
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"hashes": HASHES[::-1].copy()}, "in the order of distinct hashes"),
        ({"cut": 4}, "in the order of distinct hashes"),
        ({"size": 1}, "at most so many"),
        ({"cut": -1}, "cut is from 0"),
        ({"weights": np.array([1.0, 0.0])}, "weights is finite, above 0"),
        ({"codes": np.array([0, 2])}, "codes is from 0 to k - 1"),
        ({"codes": np.array([0])}, "the shape"),
    ],
)
def test_rows_that_a_file_cannot_hold(changed: dict[str, Any], said: str) -> None:
    assert build(KeptRows, ROWS).sample.rows == 2
    with pytest.raises(ParameterError, match=said):
        build(KeptRows, ROWS | changed)


def test_cells_that_a_file_cannot_hold() -> None:
    words = suffice.statistics.vocabulary.Vocabulary(("a", "b"))
    with pytest.raises(ParameterError, match="finite, or missing"):
        build(KeptNumbers, {"values": np.array([[np.inf]])})
    with pytest.raises(ParameterError, match="stands for a value"):
        build(KeptCategories, {"codes": np.array([[2]]), "vocabularies": (words,)})
    events = {
        "data": np.ones(3),
        "indices": np.array([0, 1, 1]),
        "starts": np.array([0, 2, 3]),
        "words": words,
        "width": 2,
        "present": np.ones(2, np.bool_),
    }
    assert build(KeptEvents, events).block().rows == 2
    for changed, said in (
        ({"indices": np.array([1, 1, 1])}, "distinct words"),
        ({"indices": np.array([0, 2, 1])}, "from 0 to width - 1"),
        ({"starts": np.array([0, 4, 3])}, "distinct words"),
        ({"starts": np.array([0, 3])}, "distinct words"),
        ({"width": 3}, "words have a place each"),
        ({"data": np.array([1.0, np.inf, 1.0])}, "a count is finite"),
    ):
        with pytest.raises(ParameterError, match=said):
            build(KeptEvents, events | changed)


def test_rows_of_other_columns_are_refused(tmp_path: Path) -> None:
    model = NaiveBayes(keep_sample=True).fit(numbers(), LABELS)
    (kept,) = model._kept
    entries = model._entries()
    for wrong in (
        replace(kept, cells=(KeptNumbers(np.zeros((N, 3))),)),
        replace(kept, cells=(*kept.cells, *kept.cells)),
        replace(kept, classes=suffice.statistics.vocabulary.Vocabulary(("no", "zebra"))),
    ):
        with pytest.raises(ParameterError, match="rows that are kept are of the columns"):
            NaiveBayes.restored(entries | {"samples": (wrong,)})
    with pytest.raises(ParameterError, match="rows that are kept are of the columns"):
        NaiveBayes.restored(entries | {"samples": (kept, kept)})
