"""Reproducible logistic regression: one file for the same rows, whoever sums them and where."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from suffice.numerics import kernels

from .test_processors import LEVELS, instructions_of_numpy

PROGRAM = Path(__file__).parent / "logistic_models.py"


@cache
def digests(threads: int, seed: int, **environment: str) -> dict[str, Any]:
    """Return what the program prints in a process of its own."""
    command = [sys.executable, str(PROGRAM), str(threads), str(seed)]
    changed = os.environ | environment
    run = subprocess.run(command, env=changed, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_levels_threads_and_orders_give_the_same_files(level: str) -> None:
    best = digests(2, 0, SUFFICE_SIMD="")
    if best["level"] not in LEVELS or LEVELS.index(best["level"]) < LEVELS.index(level):
        pytest.skip(f"this processor has no {level}")
    found = digests(1, LEVELS.index(level), SUFFICE_SIMD=level)
    assert found["level"] == level
    assert found["digests"] == best["digests"]


@pytest.mark.skipif(kernels.level() == "base", reason="the names are those of x86 processors")
def test_loops_of_numpy_and_blas_do_not_matter() -> None:
    lesser = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}
    if names := instructions_of_numpy():
        lesser["NPY_DISABLE_CPU_FEATURES"] = names
    assert (
        digests(2, 5, SUFFICE_SIMD="", **lesser)["digests"]
        == (digests(2, 0, SUFFICE_SIMD="")["digests"])
    )
