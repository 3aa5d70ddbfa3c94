"""A task: what both libraries do to which rows, and what is asked of the time and the memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Literal, Protocol

from benchmarks.measure.timing import Call
from benchmarks.rows import Rows

__all__ = ["MEMORY", "MILLION", "Library", "Method", "Target", "Task", "Work"]

BATCHES = 10
MILLION = 1_000_000

Library = Literal["suffice", "sklearn"]


@dataclass(frozen=True)
class Target:
    """A bound of a measured figure.

    ``ratio`` their time over ours, ``theirs`` our time over theirs, ``floors`` our time over the
    floor, ``fits`` our time over that of our `fit`, ``seconds`` our time, ``memory`` our MB,
    ``more`` MB over those of a smaller file.
    """

    figure: Literal["ratio", "theirs", "floors", "fits", "seconds", "memory", "more"]
    bound: float

    def met(self, value: float) -> bool:
        return value >= self.bound if self.figure == "ratio" else value <= self.bound

    def verdict(self, value: float) -> str:
        """The target with the figure measured, and whether it is met."""
        return f"{self}: {value:.3g} {'pass' if self.met(value) else 'short'}"

    def __str__(self) -> str:
        return f"{self.figure} {'≥' if self.figure == 'ratio' else '≤'} {self.bound:g}"


MEMORY = Target("memory", 20)


class Work(Protocol):
    """Something that both libraries can do; its text names it."""

    @property
    def learns(self) -> bool:
        """Whether the labels are read too."""
        ...

    def call(self, library: Library, given: Rows) -> Call:
        """Return one call."""
        ...


@dataclass(frozen=True)
class Method:
    """A method of a class that both libraries have in modules of the same name."""

    model: str
    name: str
    module: str = "naive_bayes"
    ours: Mapping[str, Any] = field(default_factory=dict)  # options of the class
    theirs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def learns(self) -> bool:
        return not self.name.startswith("predict")

    def call(self, library: Library, given: Rows) -> Call:
        cls = getattr(import_module(f"{library}.{self.module}"), self.model)
        new = partial(cls, **(self.ours if library == "suffice" else self.theirs))
        if self.learns:
            return partial(LEARNING[self.name], new, given)
        return partial(getattr(new().fit(given.x, given.y), self.name), given.x)

    def __str__(self) -> str:
        options = " / ".join(map(str, (*self.ours.values(), *self.theirs.values())))
        return f"{self.model}.{self.name}{f', {options}' * bool(options)}"


@dataclass(frozen=True)
class Task:
    """Work, and rows of any number for it."""

    name: str
    work: Work
    make: Callable[[int], Rows]
    n: int
    targets: tuple[Target, ...] = ()


def _fit(new: Any, given: Rows) -> Any:
    return new().fit(given.x, given.y)


def _fit_in_batches(new: Any, given: Rows) -> Any:
    model, n = new(), len(given.y)
    for batch in range(BATCHES):
        part = slice(n * batch // BATCHES, n * (batch + 1) // BATCHES)
        model.partial_fit(given.x[part], given.y[part], given.classes)
    return model


def _fit_and_predict(new: Any, given: Rows) -> Any:
    return new().fit(given.x, given.y).predict(given.x)


LEARNING = {"fit": _fit, "partial_fit": _fit_in_batches, "fit + predict": _fit_and_predict}
