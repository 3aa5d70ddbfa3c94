"""Gaussian naive Bayes of other libraries, where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.measure.task import Method
from benchmarks.measure.timing import Call, medians
from benchmarks.rows import Rows

__all__ = ["PEERS", "Compared", "compare"]

OURS = Method("GaussianNB", "fit")
R_PROGRAM = """
suppressMessages(library(e1071))
given <- commandArgs(TRUE)
n <- as.integer(given[2]); d <- as.integer(given[3])
x <- matrix(readBin(file.path(given[1], "x"), "double", n * d), n, d)
y <- factor(readBin(file.path(given[1], "y"), "integer", n))
for (run in 1:5) cat(system.time(naiveBayes(x, y))[["elapsed"]], "\\n")
"""


class AbsentError(Exception):
    """A peer is not installed."""


@dataclass(frozen=True)
class Compared:
    """Seconds of our fit and of a peer's on the same rows, or why there are none."""

    peer: str
    rows: str
    ours: float | None = None
    theirs: float | None = None
    absent: str | None = None


def _river(given: Rows) -> Call:
    cls = _import("river.naive_bayes").GaussianNB
    table = [dict(enumerate(row)) for row in given.x.tolist()]
    labels = given.y.tolist()

    def learn() -> object:
        model = cls()
        for row, label in zip(table, labels, strict=True):
            model.learn_one(row, label)
        return model

    return learn


def _pomegranate(given: Rows) -> Call:
    distributions = _import("pomegranate.distributions")
    cls = _import("pomegranate.bayes_classifier").BayesClassifier
    k = len(given.classes)

    def fit() -> object:
        parts = [distributions.Normal(covariance_type="diag") for _ in range(k)]
        return cls(parts).fit(x, given.y)

    x = given.x.astype(np.float32)
    return fit


def _mixed_naive_bayes(given: Rows) -> Call:
    cls = _import("mixed_naive_bayes").MixedNB
    return lambda: cls().fit(given.x, given.y)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise AbsentError(str(error)) from error


def _interleaved(fit: Callable[[Rows], Call], given: Rows) -> dict[str, float]:
    return medians(
        {"ours": OURS.call("suffice", given), "theirs": fit(given)},
    )


def _e1071(given: Rows) -> dict[str, float]:
    """R runs by itself, beside nothing; its own clock counts the fit alone."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        raise AbsentError("Rscript is not on the path")
    with TemporaryDirectory() as folder:
        given.x.ravel(order="F").tofile(Path(folder, "x"))
        given.y.astype(np.int32).tofile(Path(folder, "y"))
        n, d = given.x.shape
        done = subprocess.run(
            [rscript, "-e", R_PROGRAM, folder, str(n), str(d)], capture_output=True, text=True
        )
    if done.returncode:
        raise AbsentError(done.stderr.strip().splitlines()[-1])
    ours = medians({"ours": OURS.call("suffice", given)})
    return ours | {"theirs": median(float(line) for line in done.stdout.split())}


PEERS: dict[str, Callable[[Rows], dict[str, float]]] = {
    "river": partial(_interleaved, _river),
    "pomegranate": partial(_interleaved, _pomegranate),
    "mixed-naive-bayes": partial(_interleaved, _mixed_naive_bayes),
    "e1071": _e1071,
}


def compare(peer: str, given: Rows) -> Compared:
    """Time a fit of a peer beside ours."""
    try:
        seconds = PEERS[peer](given)
        return Compared(peer, given.shape, seconds["ours"], seconds["theirs"])
    except AbsentError as error:
        return Compared(peer, given.shape, absent=str(error))
