"""The tasks: what is done to which rows, and what is asked of the time and the memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Literal

import numpy as np

from benchmarks import rows
from benchmarks.rows import Rows
from benchmarks.timing import Call

__all__ = ["TASKS", "Target", "Task", "call"]

BATCHES = 10
MILLION = 1_000_000


@dataclass(frozen=True)
class Target:
    """A bound of a measured figure.

    ``ratio`` their time over ours, ``floors`` our time over the floor, ``fits`` our time over that
    of our `fit`, ``imports`` our time over theirs, ``seconds`` our time, ``memory`` our MB.
    """

    figure: Literal["ratio", "floors", "fits", "imports", "seconds", "memory"]
    bound: float

    def met(self, value: float) -> bool:
        return value >= self.bound if self.figure == "ratio" else value <= self.bound

    def __str__(self) -> str:
        return f"{self.figure} {'≥' if self.figure == 'ratio' else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Task:
    """A method of a class that both libraries have, and rows of any number for it."""

    name: str
    model: str
    method: str
    make: Callable[[int], Rows]
    n: int
    targets: tuple[Target, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the task learns, so that it reads the labels too."""
        return not self.method.startswith("predict")


def call(library: str, model: str, method: str, given: Rows) -> Call:
    """Return one call of a method of a class of ``suffice`` or ``sklearn``."""
    cls = getattr(import_module(f"{library}.naive_bayes"), model)
    if method.startswith("predict"):
        return partial(getattr(cls().fit(given.x, given.y), method), given.x)
    return partial(LEARNING[method], cls, given)


def _fit(cls: Any, given: Rows) -> Any:
    return cls().fit(given.x, given.y)


def _fit_in_batches(cls: Any, given: Rows) -> Any:
    model, n = cls(), len(given.y)
    for batch in range(BATCHES):
        part = slice(n * batch // BATCHES, n * (batch + 1) // BATCHES)
        model.partial_fit(given.x[part], given.y[part], given.classes)
    return model


def _fit_and_predict(cls: Any, given: Rows) -> Any:
    return cls().fit(given.x, given.y).predict(given.x)


LEARNING = {"fit": _fit, "partial_fit": _fit_in_batches, "fit + predict": _fit_and_predict}

MEMORY = Target("memory", 20)
float32 = partial(rows.normal, dtype=np.float32)
fortran = partial(rows.normal, order="F")
proba = Target("ratio", 25)

TASKS = (
    Task(
        "gaussian-fit",
        "GaussianNB",
        "fit",
        rows.normal,
        MILLION,
        (Target("ratio", 20), Target("floors", 3.5), MEMORY),
    ),
    Task("gaussian-fit-float32", "GaussianNB", "fit", float32, MILLION, (MEMORY,)),
    Task(
        "gaussian-fit-fortran",
        "GaussianNB",
        "fit",
        fortran,
        MILLION,
        (Target("ratio", 20), Target("floors", 3.5), MEMORY),
    ),
    Task("gaussian-proba", "GaussianNB", "predict_proba", rows.normal, MILLION, (proba,)),
    Task("gaussian-proba-float32", "GaussianNB", "predict_proba", float32, MILLION, (proba,)),
    Task("gaussian-proba-fortran", "GaussianNB", "predict_proba", fortran, MILLION, (proba,)),
    Task(
        "bernoulli-fit",
        "BernoulliNB",
        "fit",
        rows.booleans,
        MILLION,
        (Target("ratio", 100), MEMORY),
    ),
    Task(
        "bernoulli-predict",
        "BernoulliNB",
        "predict",
        rows.booleans,
        MILLION,
        (Target("ratio", 10),),
    ),
    Task(
        "categorical-fit",
        "CategoricalNB",
        "fit",
        rows.codes,
        MILLION,
        (Target("ratio", 20), MEMORY),
    ),
    Task(
        "categorical-predict",
        "CategoricalNB",
        "predict",
        rows.codes,
        MILLION,
        (Target("ratio", 20),),
    ),
    Task(
        "multinomial-fit",
        "MultinomialNB",
        "fit",
        rows.words,
        200_000,
        (Target("ratio", 3), MEMORY),
    ),
    Task(
        "multinomial-predict",
        "MultinomialNB",
        "predict",
        rows.words,
        200_000,
        (Target("ratio", 2),),
    ),
    Task(
        "gaussian-batches",
        "GaussianNB",
        "partial_fit",
        rows.normal,
        MILLION,
        (Target("fits", 1.3), MEMORY),
    ),
    Task(
        "iris",
        "GaussianNB",
        "fit + predict",
        lambda n: rows.iris(),
        150,
        (Target("ratio", 1),),
    ),
)
