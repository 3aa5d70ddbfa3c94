"""What engines outside this process share: what travels, and how statistics meet.

Everything travels as a `Message`: bytes, with the version of this library that wrote them. A worker
looks at the version before it looks at the bytes, and so does the caller. Workers return values and
nothing else, an exception being a value too; a split that a lost worker was busy with can be given
to another, and no row is counted twice. A worker that has no memory or no disk left says nothing of
its rows: it is one that is lost.
"""

from __future__ import annotations

import errno
import pickle
import traceback
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from suffice._version import __version__
from suffice.data.read_ahead import in_order
from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.errors import EngineError, SufficeError
from suffice.statistics.statistic import Statistic, tree_sum

__all__ = [
    "ATTEMPTS",
    "ExhaustedError",
    "Message",
    "RemoteEngine",
    "Task",
    "add",
    "deserialised",
    "lost",
    "perform",
    "serialised",
    "size_of",
]

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")
Reference = Any
"""What a cluster gives for a result that it holds: a future, an object reference."""

ATTEMPTS = 4  # workers that one split may lose
LARGE_SUM = 1 << 20  # bytes of a statistic; larger ones are added where they are
FAN_IN = 8  # statistics added at a time there, a power of two
NO_ROOM = (errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ExhaustedError(Exception):
    """A worker has no memory or no disk left; others may have."""


# What travels ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Message:
    """Bytes of a value, or of an exception, and the version of this library that wrote them."""

    version: str
    content: bytes  # a pickle
    raised: bool = False  # whether it is an exception, to be raised by who opens it

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + len(self.content)

    def value(self) -> Any:
        """Unpickle what it holds."""
        return pickle.loads(self.content)


@dataclass(frozen=True)
class Task:
    """A kernel, and the parameters that it takes with every split."""

    kernel: Callable[..., Any]  # a module-level function (split, params) → result
    params: Any
    dumps: Callable[[Any], bytes] = pickle.dumps  # how the result is pickled


def serialised(value: Any, dumps: Callable[[Any], bytes] = pickle.dumps) -> Message:
    """Make a message of a value.

    Examples
    --------
    >>> deserialised(serialised([1, 2]))
    [1, 2]
    """
    return Message(__version__, dumps(value))


def deserialised(message: Message) -> Any:
    """Take the value out of a message.

    Raises
    ------
    EngineError
        If another version of this library packed it.
    Exception
        If the message holds one.
    """
    if message.version != __version__:
        raise EngineError(
            f"suffice {message.version} and suffice {__version__} were to work together",
            "workers have the version of their caller",
            "install the same version everywhere",
        )
    value = message.value()
    if message.raised:
        raise value
    return value


# What workers do ---------------------------------------------------------------------------------


def perform(task: Message, split: Message, *here: Any) -> Message:
    """Run the kernel of a `Task` on a split, and return its result, or what it raised.

    What the kernel takes besides, and the worker has already, comes last.

    Raises
    ------
    ExhaustedError
        If there is no room on this worker.

    Examples
    --------
    >>> import operator
    >>> deserialised(perform(serialised(Task(operator.add, 2)), serialised(3)))
    5
    """
    try:
        job: Task = deserialised(task)
        return serialised(job.kernel(deserialised(split), job.params, *here), job.dumps)
    except Exception as error:
        return _failure(error)


def add(dumps: Callable[[Any], bytes], *statistics: Message) -> Message:
    """Add statistics in the order given.

    Raises
    ------
    ExhaustedError
        If there is no room on this worker.

    Examples
    --------
    >>> deserialised(add(pickle.dumps, serialised(1), serialised(2), serialised(3)))
    6
    """
    try:
        return serialised(tree_sum(map(deserialised, statistics)), dumps)
    except Exception as error:
        return _failure(error)


def size_of(message: Message) -> Message:
    """Return the number of bytes in a message; one that holds an exception is handed on.

    Examples
    --------
    >>> deserialised(size_of(Message(__version__, b"four")))
    4
    """
    return message if message.raised else serialised(len(message.content))


def _failure(error: Exception) -> Message:
    """Make a message of an exception, which is opened here first: not every one can be.

    Raises
    ------
    ExhaustedError
        If it says that there is no room.
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) in NO_ROOM:
        raise ExhaustedError(f"{type(error).__name__}: {error}") from error
    trace = "".join(traceback.format_exception(error))
    if not isinstance(error, SufficeError):
        error.add_note(f"It was raised on a worker:\n{trace}")
    try:
        content = pickle.dumps(error)
        pickle.loads(content)
    except Exception:
        stand_in = EngineError(f"a worker raised {type(error).__name__}: {error}")
        stand_in.add_note(trace)
        content = pickle.dumps(stand_in)
    return Message(__version__, content, raised=True)


def lost(attempts: int = ATTEMPTS) -> EngineError:
    """Return what to raise when a split has lost every worker that it was given to."""
    return EngineError(
        f"{attempts} workers died, one after the other, over the same rows",
        "a lost worker is replaced, but not without end",
        "look whether they run out of memory, and give them more of it or smaller splits",
    )


# Engines of clusters -----------------------------------------------------------------------------


class RemoteEngine(Engine):
    """An engine whose workers keep their results until they are asked for.

    A subclass says how to share a value, submit a function, fetch a result and let go of it.
    Small statistics are fetched and added here; large ones are added by the workers, eight
    neighbours at a time, and only their sum is fetched. The order is that of the splits.
    """

    dumps = staticmethod(pickle.dumps)  # how values are pickled

    @abstractmethod
    def _share(self, message: Message) -> Reference:
        """Give a message to all workers, once."""

    @abstractmethod
    def _submit(self, function: Callable[..., Message], *arguments: Any) -> Reference:
        """Have a worker call a function; references among the arguments stand for results."""

    def _begin(self, task: Reference, split: Split) -> Reference:
        """Have a worker perform a task on a split."""
        return self._submit(perform, task, serialised(split, self.dumps))

    @abstractmethod
    def _fetch(self, reference: Reference) -> Message:
        """Wait for a result and bring it here.

        Raises
        ------
        EngineError
            If it is lost for good.
        """

    @abstractmethod
    def _drop(self, references: Iterable[Reference]) -> None:
        """Let go of results that nobody will ask for, and of work not begun."""

    def map(
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; a few results per worker wait."""
        with closing(self._results(kernel, params, splits)) as results:
            for result in results:
                yield deserialised(self._fetch(result))

    def run(self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split]) -> S:
        """Return the sum of ``kernel(split, params)``, added in split order."""
        with closing(self._results(kernel, params, splits)) as results:
            first = next(results, None)
            if first is None:
                return tree_sum(())
            in_order = chain([first], results)
            large = (
                len(splits) > 1
                and deserialised(self._fetch(self._submit(size_of, first))) > LARGE_SUM
            )
            total: S = self._sum_there(in_order) if large else self._sum_here(in_order)
        return total

    def _results(
        self, kernel: Callable[[Any, Any], Any], params: Any, splits: Sequence[Split]
    ) -> Generator[Reference]:
        """Yield one reference per split, in their order, and submit no more than a few ahead."""
        task = self._share(serialised(Task(kernel, params, self.dumps), self.dumps))
        begin = partial(self._begin, task)
        return in_order(begin, splits, 2 * self.workers, deque.popleft, self._drop)

    def _sum_here(self, results: Iterable[Reference]) -> Any:
        return tree_sum(deserialised(self._fetch(result)) for result in results)

    def _sum_there(self, results: Iterable[Reference]) -> Any:
        """Add results on the workers, by a counter whose digits are sums of `FAN_IN`."""
        digits: list[tuple[int, Reference]] = []
        for result in results:
            deserialised(
                self._fetch(self._submit(size_of, result))
            )  # it is there, and no exception
            digits.append((0, result))
            while len(digits) >= FAN_IN and digits[-FAN_IN][0] == digits[-1][0]:
                level, neighbours = digits[-1][0], [total for _, total in digits[-FAN_IN:]]
                digits[-FAN_IN:] = [(level + 1, self._submit(add, self.dumps, *neighbours))]
        return deserialised(
            self._fetch(self._submit(add, self.dumps, *(total for _, total in digits)))
        )
