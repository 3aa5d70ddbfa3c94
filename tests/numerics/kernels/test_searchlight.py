"""The kernels of the searchlight: formulas, the same bits at every level, wrong arrays."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice.numerics import kernels

VOLUMES, VOXELS, FOLDS, CLASSES = 30, 131, 3, 6


def given(dtype: Any = np.float64) -> dict[str, Any]:
    """Sums of three runs of ten volumes, six classes, and neighbourhoods of all sizes up to 40."""
    rng = np.random.default_rng(0)
    x = rng.normal(10, 2, (VOLUMES, VOXELS)).astype(dtype)
    code = np.tile(np.arange(CLASSES), 5).astype(np.int32)
    run = np.repeat(np.arange(FOLDS), 10)
    block = (run * CLASSES + code).astype(np.int32)
    sums, squares = np.zeros((2, FOLDS * CLASSES, VOXELS), dtype)
    pivot = x[0].copy()
    kernels.searchlight.add_volumes(x, block, pivot, sums, squares)
    size = rng.integers(0, 40, 90)
    silent = np.zeros((FOLDS, VOXELS), np.uint8)
    silent[1, 5] = 1
    return {
        "x": x,
        "sums": sums,
        "squares": squares,
        "pivot": pivot,
        "label": np.tile(np.arange(CLASSES, dtype=np.int32), FOLDS),
        "count": np.bincount(block, minlength=len(sums)).astype(float),
        "trained": (np.repeat(np.arange(FOLDS), CLASSES) != np.arange(FOLDS)[:, None]).astype(
            np.uint8
        ),
        "silent": silent,
        "prior": np.array([0.0, 0.0, 0.0, 1e-9]),
        "indptr": np.concatenate([[0], np.cumsum(size)]),
        "indices": rng.integers(0, VOXELS, size.sum()).astype(np.int32),
        "folds": np.arange(FOLDS),
        "bounds": np.array([[0, 10], [10, 20], [20, 30]]),
    }


def predicted() -> Any:
    classes = np.full((VOLUMES, 90), -1, np.int16)
    kernels.searchlight.predict(**given(), classes=classes)
    return classes


def test_predictions_by_the_formula() -> None:
    a, classes = given(), predicted()
    code = np.tile(np.arange(CLASSES), 5)
    run = np.repeat(np.arange(FOLDS), 10)
    for fold in range(FOLDS):
        learnt, held_out = run != fold, run == fold
        score = np.empty((10, VOXELS, CLASSES))
        for c in range(CLASSES):
            x = a["x"][learnt & (code == c)]
            mean, variance = x.mean(axis=0), x.var(axis=0)
            z = a["x"][held_out] - mean
            score[:, :, c] = -0.5 * np.log(variance) - z * z / (2 * variance)
        score[:, a["silent"][fold].astype(bool)] = 0.0
        prior = np.log(np.bincount(code[learnt], minlength=CLASSES) / learnt.sum())
        for i in range(90):
            near = a["indices"][a["indptr"][i] : a["indptr"][i + 1]]
            expected = (score[:, near].sum(axis=1) + prior).argmax(axis=1)
            assert_array_equal(classes[held_out, i], expected)


def test_single_precision_counts_what_double_predicts() -> None:
    a = given(np.float32)
    truth = np.tile(np.arange(CLASSES, dtype=np.int32), 5)
    correct = np.zeros((FOLDS, 90), np.int32)
    kernels.searchlight.count(**a, truth=truth, correct=correct)
    right = predicted() == truth[:, None]
    expected = np.stack([right[first:last].sum(axis=0) for first, last in a["bounds"]])
    assert_array_equal(correct, expected)


def test_sums_about_a_pivot() -> None:
    a = given()
    block = np.repeat(np.arange(FOLDS), 10) * CLASSES + np.tile(np.arange(CLASSES), 5)
    for b in range(FOLDS * CLASSES):
        d = a["x"][block == b] - a["pivot"]
        assert_allclose(a["sums"][b], d.sum(axis=0), rtol=1e-12, atol=1e-12)
        assert_allclose(a["squares"][b], (d * d).sum(axis=0), rtol=1e-12)


def test_volumes_in_single_precision_are_summed_in_double() -> None:
    a = given(np.float32)
    wide = np.zeros((2, 1, VOXELS))
    kernels.searchlight.add_volumes(a["x"], np.zeros(30, np.int32), np.zeros(VOXELS), *wide)
    assert_array_equal(wide[0, 0], a["x"].astype(float).sum(axis=0))


def test_every_level_predicts_the_same_and_has_the_same_sums() -> None:
    program = "from tests.numerics.kernels.test_searchlight import digest; print(digest())"
    found = set()
    for level in ("v2", ""):
        environment = os.environ | {"SUFFICE_SIMD": level}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        if "does not have" not in done.stderr:
            assert done.returncode == 0, done.stderr
            found.add(done.stdout)
    assert len(found) == 1


def digest() -> str:
    """What the kernels make of the same numbers, in sixteen letters."""
    a = given()
    together = [predicted(), a["sums"], a["squares"]]
    return hashlib.sha256(b"".join(array.tobytes() for array in together)).hexdigest()[:16]


def test_indices_outside_the_voxels() -> None:
    a = given()
    a["indices"] = a["indices"].copy()
    a["indices"][7] = VOXELS
    with pytest.raises(ValueError, match="indices has a number out of range"):
        kernels.searchlight.predict(**a, classes=np.zeros((VOLUMES, 90), np.int16))


def test_a_block_outside_the_sums() -> None:
    a = given()
    block = np.full(VOLUMES, 18, np.int32)
    with pytest.raises(ValueError, match="block has a number out of range"):
        kernels.searchlight.add_volumes(a["x"], block, a["pivot"], a["sums"], a["squares"])
