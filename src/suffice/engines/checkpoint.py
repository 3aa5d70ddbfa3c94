"""An engine that another process can go on from: what is summed so far is in a file.

A fit is a series of sums over the rows, and every sum is a function of a kernel, its parameters
and the splits. The file keeps the finished sums of a fit and the begun one, each under the
checksum of what it is of. Who takes the file up runs the same fit again: a finished sum is read
instead of the rows, the begun one goes on with the first split that is not in it, and as its terms
are added in the order they would have had, the result has the bits of a fit that never stopped.

An iterative fit needs nothing of its own. The sums of a pass decide on the coefficients of the
next, so finished passes lead to the coefficients at which the last one stopped.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np

from suffice._version import __version__
from suffice.data.source import Split
from suffice.data.split_size import file_of
from suffice.engines.checksum import checksum
from suffice.engines.engine import EngineView
from suffice.engines.fit_context import current_fit
from suffice.engines.progress_engine import WatchedEngine
from suffice.errors import EngineError, ModelFileError, ParameterError, SufficeError
from suffice.hints import fits
from suffice.persist import read_model, write_model
from suffice.rules import NONNEGATIVE, rule
from suffice.statistics.register import STATISTICS
from suffice.statistics.statistic import Statistic, TreeSum

__all__ = ["CheckpointedEngine"]

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")

KIND = "checkpoint"
SHARE = 0.05  # of the time, at most, that goes into writing
ANEW = "give another name, or delete the file to start from the beginning"


@dataclass(frozen=True)
class CheckpointedEngine(EngineView):
    """An engine whose fits can be taken up again after the process has ended.

    Only what is learnt is kept, and only sums: predictions and evaluations start anew, and so do
    the steps of ``solver="sgd"`` and ``"minibatch"``. The parts are the splits of the table: the
    row groups of a Parquet file, the record batches of an Arrow file, a whole file of text.

    Parameters
    ----------
    engine : Engine
        Where the rows are summed.
    path : str or path
        The file. It is removed when the fit has succeeded.
    every : float
        Seconds from one writing of the file to the next, at least; writing takes a twentieth of
        the time, at most.

    Raises
    ------
    ParameterError
        If ``path`` is no path, or ``every`` is not a number, 0 or more. At the fit: if the file is
        of other work, or the rows are not in files, where another process will find them.
    ModelFileError
        At the fit: if the file is damaged, is no checkpoint, or cannot be written.

    Examples
    --------
    >>> from suffice.engines.local import LocalEngine
    >>> CheckpointedEngine(LocalEngine(2), "fit.checkpoint").workers
    2
    """

    path: str | os.PathLike[str]
    every: float = 30.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise ParameterError(f"checkpoint={self.path!r}", "it is the path of a file")
        number = isinstance(self.every, int | float) and not isinstance(self.every, bool)
        if not (number and self.every >= 0):
            raise ParameterError(f"every={self.every!r}", "it is a number of seconds, 0 or more")

    def map(
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; nothing of it is kept."""
        return self.engine.map(kernel, params, splits)

    def run(self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split]) -> S:
        """Return the sum of ``kernel(split, params)``; within a fit it is kept as it grows."""
        fit_context = current_fit()
        if fit_context is None:
            return self.engine.run(kernel, params, splits)
        of = _checksum(kernel, params, splits)
        journal = fit_context.keep(
            (Journal, self.path), lambda: Journal(Path(self.path), self.every)
        )
        sum_: GrowingSum[S] = journal.next(of)
        kept = sum_.done > 0
        with closing(self._terms(kernel, params, splits, sum_.done)) as terms:
            for term in terms:
                with self._adding(kept):
                    sum_.add(term)
                journal.write_when_due()
        with self._adding(kept):
            return sum_.total()

    @contextmanager
    def _adding(self, kept: bool) -> Iterator[None]:
        """Refuse sums of the file, if there are some, that those of the rows cannot be added to.

        Raises
        ------
        ModelFileError
            If it is so: its digest holds, so it was not damaged, but forged.
        """
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if not kept or isinstance(error, SufficeError):
                raise
            raise ModelFileError(
                f"{self.path} holds sums that cannot be added to those of the rows",
                "it was to be a checkpoint to go on from",
                ANEW,
            ) from error

    def _terms(
        self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split], done: int
    ) -> Generator[S, None, None]:
        if isinstance(self.engine, WatchedEngine):
            yield from self.engine.map(kernel, params, splits[done:], splits[:done])
        else:
            yield from self.engine.map(kernel, params, splits[done:])


def _checksum(kernel: Any, params: Any, splits: Sequence[Split]) -> str:
    """What a sum is of.

    Raises
    ------
    ParameterError
        If a split is not of a file.
    """
    if not all(map(file_of, splits)):
        raise ParameterError(
            "a checkpoint is asked for of rows that are not in files",
            "another process, which goes on, has to find them as they were",
            "write them to a Parquet file, or leave the checkpoint out",
        )
    return checksum(__version__, kernel, params, list(splits))


@dataclass(frozen=True)
class Kept:
    """A sum as the file has it."""

    of: str  # the checksum
    done: Annotated[int, NONNEGATIVE]  # how many splits are in it, the first ones
    # The stack of a `TreeSum`.
    levels: tuple[int, ...]
    statistics: tuple[Any, ...]

    @rule("every sum has a level, each below the one before")
    def _is_stack(self) -> bool:
        falling = all(a > b for a, b in pairwise(self.levels))
        return falling and len(self.levels) == len(self.statistics)


class GrowingSum(TreeSum[S]):
    """A sum that knows what it is of, and how much of it is done."""

    def __init__(self, kept: Kept) -> None:
        super().__init__(zip(kept.levels, kept.statistics, strict=True), kept.done)
        self.of = kept.of

    def total(self) -> S:
        """Return the sum of all terms, and forget how it came about."""
        total = super().total()
        self._state = [(0, total)], self.done
        return total

    def kept(self) -> Kept:
        """What to write of it: nothing of a sum of a kind that files do not hold."""
        stack, done = self._state
        if not all(isinstance(statistic, HOLDABLE) for _, statistic in stack):
            return Kept(self.of, 0, (), ())
        levels = tuple(level for level, _ in stack)
        return Kept(self.of, done, levels, tuple(statistic for _, statistic in stack))


TYPES = {cls.__name__: cls for cls in (*STATISTICS, Kept)}
HOLDABLE = (*STATISTICS, np.ndarray, np.generic, int, float)


class Journal(AbstractContextManager["Journal"]):
    """The sums of one fit, in the order in which it asks for them, in memory and in a file.

    The file is there while the fit lasts, and after it if it failed.

    Raises
    ------
    ModelFileError
        If the file is there and is no checkpoint, or cannot be written.
    """

    def __init__(self, path: Path, every: float) -> None:
        self._path, self._every = path, every
        self._sums: list[GrowingSum[Any]] = [GrowingSum(kept) for kept in _read(path)]
        self._at = -1
        # Who cannot write the file should know before the work, not after a part of it.
        self.write()

    def next(self, of: str) -> GrowingSum[Any]:
        """Return the sum that the fit asks for next, as far as it is done.

        Raises
        ------
        ParameterError
            If the first sum in the file is of something else.
        """
        self._at += 1
        if self._at < len(self._sums) and self._sums[self._at].of != of:
            if not self._at:
                raise ParameterError(
                    f"{self._path} is the checkpoint of other work",
                    "the files, their columns and the options are those of the fit that wrote it",
                    ANEW,
                )
            del self._sums[self._at :]
        if self._at == len(self._sums):
            self._sums.append(GrowingSum(Kept(of, 0, (), ())))
        return self._sums[self._at]

    def write_when_due(self) -> None:
        """Write the file if the last time is long enough ago."""
        if time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        """Write the file."""
        begun = time.monotonic()
        write_model(self._path, KIND, [sum_.kept() for sum_ in self._sums], types=TYPES)
        ended = time.monotonic()
        self._due = ended + max(self._every, (ended - begun) / SHARE)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or not any(sum_.done for sum_ in self._sums):
            self._path.unlink(missing_ok=True)
            return
        self.write()
        if isinstance(error, EngineError) or not isinstance(error, SufficeError):
            error.add_note(
                f"What is summed so far is kept in {self._path}: run the same again to go on."
            )


def _read(path: Path) -> list[Kept]:
    """The sums in a file, none if it is not there.

    Raises
    ------
    ModelFileError
        If it is damaged, or no checkpoint.
    """
    if not path.exists():
        return []
    try:
        kind, sums = read_model(path, types=TYPES)
    except ModelFileError as error:
        raise ModelFileError(error.fact, "it was to be a checkpoint to go on from", ANEW) from None
    if kind != KIND or not fits(list[Kept])(sums):
        raise ModelFileError(
            f"{path} holds a {kind}, no checkpoint", "it would be replaced", "give another name"
        )
    kept: list[Kept] = sums
    return kept
