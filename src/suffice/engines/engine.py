"""The protocol of engines, the engine of this process, and the choice of one.

An engine maps a kernel over parts, and adds the statistics in part order. It holds settings only,
and a fit may need several passes: `FitContext` holds what has to last until the fit ends, such as
clusters that it started, temporary files, the checkpoint.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from numbers import Integral
from os import PathLike
from typing import (
    Any,
    Generic,
    Protocol,
    TypeVar,
    cast,
    runtime_checkable,
)

from suffice.data.read_ahead import in_order
from suffice.data.schema import Layout
from suffice.data.source import Part, PartThrough, Source, each_batch
from suffice.errors import ParameterError, library
from suffice.numerics import kernels
from suffice.sums.base import Statistic, tree_sum
from suffice.sums.batch import BATCH_ROWS, Batch

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


@runtime_checkable
class Engine(Protocol):
    """Runs kernels over parts, anywhere.

    A kernel is a module-level function (part, params) → result, which workers are told by its name.
    An engine holds settings only: it can be compared and sent elsewhere.
    """

    @property
    def workers(self) -> int:
        """Number of parts worked on at a time."""
        ...

    @property
    def in_process(self) -> bool:
        """Return whether kernels see the memory of the caller."""
        return False

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        """Yield ``kernel(part, params)`` in part order; a bounded number of results waits."""
        ...

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        """Return the sum of ``kernel(part, params)``, added in part order."""
        return tree_sum(self.map(kernel, params, parts))


@dataclass(frozen=True)
class EngineView(Engine):
    """An engine around another, which works where and as that one does."""

    engine: Engine

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        return self.engine.map(kernel, params, parts)

    @property
    def workers(self) -> int:
        return self.engine.workers

    @property
    def in_process(self) -> bool:
        return self.engine.in_process


CHOSEN: ContextVar[Engine | None] = ContextVar("engine", default=None)
"""The engine that `suffice.set_engine` chose in this thread."""


# What lasts while a fit does ---------------------------------------------------------------------


class FitContext(ExitStack):
    """Resources that engines keep while a piece of work lasts."""

    @cached_property
    def _kept(self) -> dict[Hashable, Any]:
        return {}

    def keep(self, key: Hashable, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return what is kept under a key: entered the first time, left at the end of the work."""
        if key not in self._kept:
            self._kept[key] = self.enter_context(make())
        return cast(T, self._kept[key])


_current: ContextVar[FitContext | None] = ContextVar("fit_context", default=None)


@contextmanager
def fit_context(learner: Any = None) -> Iterator[FitContext]:
    """Begin a piece of work, or join the one that has begun; the outermost block ends it.

    A learner whose work fails half-way is again what it was before.

    Examples
    --------
    >>> with fit_context() as fit, fit_context() as part_of_it:
    ...     fit is part_of_it is current_fit()
    True
    >>> current_fit() is None
    True
    """
    before = None if learner is None else vars(learner).copy()
    try:
        with FitContext() as begun:
            joined = _current.get()
            if joined is None:
                begun.callback(_current.reset, _current.set(begun))
            yield joined or begun
    except BaseException:
        if before is not None:
            learner.__dict__ = before
        raise


def current_fit() -> FitContext | None:
    """Return the piece of work that has begun, if one has."""
    return _current.get()


# Batches -----------------------------------------------------------------------------------------


def map_batches(
    engine: Engine,
    function: Callable[[Batch], R],
    source: Source,
    layout: Layout,
    rows: int = BATCH_ROWS,
) -> Iterator[R]:
    """Yield ``function(batch)`` of every batch, in order.

    One worker in this process reads a batch when its result is asked for. Others answer whole
    parts, of which a bounded number waits. The function is given so many rows at most, and has to
    pickle if workers are other processes.
    """
    lazily = engine.in_process and engine.workers == 1
    parts = source.parts(layout, engine.workers)
    task = layout, function, rows, lazily
    return chain.from_iterable(engine.map(_answers, task, parts))


def _answers(part: Part, task: tuple[Layout, Callable[[Batch], Any], int, bool]) -> Iterable[Any]:
    """Kernel that answers every batch of a part: when it is asked for, or all of them now."""
    layout, function, rows, lazily = task
    found = each_batch(part, layout, function, rows)
    return found if lazily else list(found)


# The engine of this process -----------------------------------------------------------------------

AVAILABLE_CORES = (
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)
WAITING = 2  # results for each thread, behind the one that is asked for


@dataclass(frozen=True)
class LocalEngine(Engine):
    """Threads of this process. Kernels release the global lock, so threads run side by side.

    Parameters
    ----------
    threads : int, optional
        Default: the cores that this process may use.
    """

    threads: int | None = None
    in_process = True  # threads share the memory of the caller

    def __post_init__(self) -> None:
        require_workers("threads", self.threads)

    @cached_property
    def workers(self) -> int:
        return self.threads or AVAILABLE_CORES

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        """Yield ``kernel(part, params)`` in part order; at most two results per thread wait.

        The caller's thread is one of the workers: it works while the next result is not there.
        """
        workers = min(self.workers, len(parts))
        if workers <= 1:
            for part in parts:
                yield kernel(part, params)
            return
        pool, stop = threads(workers - 1), kernels.interrupts.Stop()
        chosen = CHOSEN.get()  # a kernel may fit a model, in a thread that chose no engine

        def waited_for(batch: Batch) -> Batch:
            if stop.is_set():
                raise CancelledError
            return batch

        def called(part: Part) -> R:
            before = CHOSEN.set(chosen)
            try:
                given: Any = PartThrough(part, waited_for) if hasattr(part, "batches") else part
                return kernel(given, params)
            finally:
                CHOSEN.reset(before)

        def begin(part: Part) -> _Task[R]:
            return _Task(pool, partial(called, part), stop)

        def drop(tasks: Iterable[_Task[R]]) -> None:
            stop.set()
            futures = [task.future for task in tasks]
            for future in futures:
                future.cancel()
            wait(futures)  # they see the memory of the caller

        yield from in_order(begin, parts, WAITING * workers, _first, drop)

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        if len(parts) == 1:
            return kernel(parts[0], params)
        return super().run(kernel, params, parts)


@cache
def threads(number: int) -> ThreadPoolExecutor:
    """Return threads that are started once, as that takes as long as 10,000 rows."""
    return ThreadPoolExecutor(number, thread_name_prefix="suffice")


if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads.
    os.register_at_fork(after_in_child=threads.cache_clear)


def side_by_side(function: Callable[[Any], R], arguments: Sequence[Any]) -> Iterator[R]:
    """Yield what `map` does, by as many threads as the engine has in this process."""
    engine = engine_for()
    if not isinstance(engine, LocalEngine):
        engine = LocalEngine(engine.workers if engine.in_process else 1)
    return engine.map(lambda argument, _: function(argument), None, arguments)


def require_workers(option: str, number: int | None) -> None:
    """Refuse a number of workers that is less than 1, or is none."""
    if number is None:
        return
    whole = isinstance(number, Integral) and not isinstance(number, bool)
    if not (whole and number >= 1):
        raise ParameterError(
            f"{option}={number!r}",
            "it is a whole number, 1 or more, or None for all cores",
        )


class _Task(Generic[R]):
    """A call that a pool makes, or the caller where no thread has begun it."""

    def __init__(
        self, pool: ThreadPoolExecutor, call: Callable[[], R], stop: kernels.interrupts.Stop
    ) -> None:
        self.call = call
        self.future: Future[R] = pool.submit(stop.call, call)

    def taken_over(self) -> bool:
        """Make the call here, unless it has begun."""
        if not self.future.cancel():
            return False
        done = Future[R]()
        try:
            done.set_result(self.call())
        except Exception as error:
            done.set_exception(error)  # it is raised when its turn comes
        self.future = done
        return True


def _first(pending: deque[_Task[R]]) -> R:
    """Remove the first task and return its result; until it is there, work on those that wait."""
    waiting = iter(list(pending))
    while not pending[0].future.done():
        if not any(task.taken_over() for task in waiting):
            break
    return pending.popleft().future.result()


# The choice of an engine ------------------------------------------------------------------------

HERE = LocalEngine()


# The class of an engine is imported when it is asked for, with its library.
ENGINES = {
    "local": ("engine", "LocalEngine"),
    "dask": ("dask", "DaskEngine"),
    "spark": ("spark", "SparkEngine"),
}


def engine(
    name: str | Executor | Engine = "local",
    *,
    progress: Callable[[Any], object] | bool | None = False,
    checkpoint: str | PathLike[str] | None = None,
    **options: Any,
) -> Engine:
    """Make an engine by its name, or of an executor.

    Parameters
    ----------
    name : {"local", "dask", "spark"}, concurrent.futures.Executor or Engine
        Threads of this process, the workers of a cluster, or those of an executor, as of processes
        (`suffice.engines.executor.ExecutorEngine`). "spark" reads Spark DataFrames only.
    progress : bool or callable
        True shows a bar on a terminal or in a notebook; a callable is given how far the work is
        (`suffice.engines.progress.WatchedEngine`).
    checkpoint : path, optional
        A file from which a fit that was ended goes on
        (`suffice.engines.checkpoint.CheckpointedEngine`).
    **options
        Those of the engine: see its class.

    Returns
    -------
    Engine

    Raises
    ------
    ParameterError
        If there is no engine of that name, its library is not installed, or an option is wrong.

    Examples
    --------
    >>> engine("local", threads=2)
    LocalEngine(threads=2)
    """
    made = _made(name, options)
    if progress is not None and progress is not False:
        made = _loaded("progress", "WatchedEngine")(made, progress)
    if checkpoint is not None:
        made = _loaded("checkpoint", "CheckpointedEngine")(made, checkpoint)
    return made


def set_engine(
    chosen: str | Executor | Engine | None = None, **options: Any
) -> AbstractContextManager[Any]:
    """Choose the engine that reads all rows; without arguments, local threads.

    In a ``with`` statement, until its end. The choice holds in this thread, or this task of
    asyncio: threads of a server do not change each other's engine, and each makes its own choice.
    A frame of Dask or Spark is read where it lives.

    Parameters
    ----------
    chosen : str, Executor or Engine, optional
        What `engine` takes.
    **options
        Those of the engine of that name, or of the local one.

    Raises
    ------
    ParameterError
        As `engine` does.

    Examples
    --------
    >>> with set_engine("local", threads=1):
    ...     engine_for()
    LocalEngine(threads=1)
    """
    is_default = chosen is None and not options
    made = None if is_default else engine("local" if chosen is None else chosen, **options)
    until_end = ExitStack()
    until_end.callback(CHOSEN.reset, CHOSEN.set(made))
    return until_end


def engine_for(rows: Any = None) -> Engine:
    """Return the engine that reads rows: the one that they live in, or that was chosen."""
    home = None if rows is None else rows.engine
    return engine(home) if home is not None else CHOSEN.get() or HERE


def is_here() -> bool:
    """Return whether rows are read in this process."""
    return isinstance(engine_for(), LocalEngine)


def _loaded(module: str, name: str, fact: str = "", install: str = "") -> Any:
    return getattr(library(f"suffice.engines.{module}", fact, install), name)


def _made(name: Any, options: dict[str, Any]) -> Engine:
    # A class has the members of an engine too.
    if isinstance(name, Engine) and not isinstance(name, type):
        if options:
            raise ParameterError(
                f"{next(iter(options))}= is given with {name!r}",
                "an engine holds its options already",
                "give them where it is made: suffice.engine(name, ...)",
            )
        return name
    of_executor = isinstance(name, Executor)
    found = ("executor", "ExecutorEngine") if of_executor else ENGINES.get(str(name))
    if found is None:
        known = ", ".join(map(repr, ENGINES))
        raise ParameterError(f"engine={name!r}", f"an engine is one of {known}, or an executor")
    kind = _loaded(*found, f"engine={name!r}", f"pip install 'suffice[{name}]'")
    try:
        made: Engine = kind(*((name,) if of_executor else ()), **options)
    except TypeError as error:
        raise ParameterError(
            f"engine {name!r}: {error}", "every engine has options of its own", "leave it out"
        ) from None
    return made
