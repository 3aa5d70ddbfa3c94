"""Which engine reads rows: the one that a table lives in, or that `set_engine` chose for all."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from suffice.engines.engine import Engine
from suffice.engines.local import LocalEngine
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.engines.progress import Report

__all__ = ["Choice", "engine", "engine_of", "is_here", "set_engine"]

Choice = str | Engine | Executor | None

HERE = LocalEngine()
# Classes by name, and their modules: their libraries are loaded when they are asked for.
ENGINES = {
    "local": ("local", "LocalEngine"),
    "processes": ("executor", "ProcessesEngine"),
    "dask": ("dask", "DaskEngine"),
    "spark": ("spark", "SparkEngine"),
}
OF_EXECUTOR = "executor", "ExecutorEngine"
_everywhere: Engine | None = None


def engine(
    name: str | Executor = "local",
    *,
    progress: Report | bool | None = False,
    checkpoint: str | PathLike[str] | None = None,
    **options: Any,
) -> Engine:
    """Make an engine by its name, or of an executor.

    Parameters
    ----------
    name : {"local", "processes", "dask", "spark"} or concurrent.futures.Executor
        Threads or processes of this machine, the workers of a cluster, or those of an executor
        (`suffice.engines.executor.ExecutorEngine`). "spark" reads Spark DataFrames only.
    progress : bool or callable
        True shows a bar on a terminal; a callable is given how far the work is
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
    of_executor = isinstance(name, Executor)
    found = OF_EXECUTOR if of_executor else ENGINES.get(str(name))
    if found is None:
        raise _unknown(name)
    module_name, class_name = found
    given = (name,) if of_executor else ()
    try:
        module = import_module(f"suffice.engines.{module_name}")
    except ModuleNotFoundError as error:
        raise ParameterError(
            f"engine={name!r} needs {error.name}",
            "it is not installed",
            f"pip install 'suffice[{name}]'",
        ) from error
    try:
        made: Engine = getattr(module, class_name)(*given, **options)
    except TypeError as error:
        raise ParameterError(
            f"engine {name!r}: {error}", "every engine has options of its own", "leave it out"
        ) from None
    if progress is not None and progress is not False:
        from suffice.engines.progress import WatchedEngine

        made = WatchedEngine(made, progress)
    if checkpoint is not None:
        from suffice.engines.checkpoint import CheckpointedEngine

        made = CheckpointedEngine(made, checkpoint)
    return made


def set_engine(chosen: Choice = None, **options: Any) -> AbstractContextManager[None]:
    """Choose the engine that reads all rows; without arguments, local threads.

    In a ``with`` statement, until its end. A frame of Dask or Spark is read where it lives.

    Parameters
    ----------
    chosen : str, Executor or Engine, optional
        What `engine` takes, or an engine.
    **options
        Those of the engine of that name, or of the local one.

    Raises
    ------
    ParameterError
        As `engine` does; or if ``chosen`` is no engine, or options are given beside one.

    Examples
    --------
    >>> with set_engine("local", threads=1):
    ...     engine_of()
    LocalEngine(threads=1)
    """
    global _everywhere
    before = _everywhere
    if isinstance(chosen, str | Executor) or (chosen is None and options):
        _everywhere = engine("local" if chosen is None else chosen, **options)
        return _until_end(before)
    if options:
        raise ParameterError(
            f"{next(iter(options))}= is given with {chosen!r}",
            "an engine holds its options already",
            "give them where it is made: suffice.engine(name, ...)",
        )
    _everywhere = chosen if chosen is None else _required(chosen)
    return _until_end(before)


@contextmanager
def _until_end(before: Engine | None) -> Iterator[None]:
    """Choose the engine of before again when the block ends."""
    global _everywhere
    try:
        yield
    finally:
        _everywhere = before


def engine_of(home: str | None = None) -> Engine:
    """Return the engine that reads a table: its home, if it lives in an engine.

    Raises
    ------
    ParameterError
        As `engine` does.

    Examples
    --------
    >>> engine_of()
    LocalEngine(threads=None)
    """
    if home is not None:
        return engine(home)
    return HERE if _everywhere is None else _everywhere


def is_here() -> bool:
    """Whether rows are read in this process."""
    return isinstance(engine_of(), LocalEngine)


def _required(chosen: Any) -> Engine:
    if isinstance(chosen, Executor):
        return engine(chosen)
    # A class has the members of an engine too.
    if isinstance(chosen, type) or not isinstance(chosen, Engine):
        raise _unknown(chosen)
    return chosen


def _unknown(chosen: object) -> ParameterError:
    return ParameterError(
        f"engine={chosen!r}",
        f"an engine is one of {', '.join(map(repr, ENGINES))}, or an executor",
    )
