"""The engine that reads rows: the one a table lives in, or that `set_engine` chose."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.engines.engine import CHOSEN, Engine
from suffice.engines.local import LocalEngine
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.engines.progress import Report

HERE = LocalEngine()


class EngineClass(NamedTuple):
    """The place of the class of an engine, whose library is loaded when it is asked for."""

    module: str  # of `suffice.engines`
    name: str
    option: str | None = None  # set by ``--engine NAME=``; "": nothing is; None: not in commands


ENGINES = {
    "local": EngineClass("local", "LocalEngine", "threads"),
    "processes": EngineClass("executor", "ProcessesEngine", "processes"),
    "dask": EngineClass("dask", "DaskEngine", "address"),
    "spark": EngineClass("spark", "SparkEngine"),
}
OF_EXECUTOR = EngineClass("executor", "ExecutorEngine")


def engine(
    name: str | Executor | Engine = "local",
    *,
    progress: Report | bool | None = False,
    checkpoint: str | PathLike[str] | None = None,
    **options: Any,
) -> Engine:
    """Make an engine by its name, or of an executor.

    Parameters
    ----------
    name : {"local", "processes", "dask", "spark"}, concurrent.futures.Executor or Engine
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
    made = _made(name, options)
    if progress is not None and progress is not False:
        from suffice.engines.progress import WatchedEngine

        made = WatchedEngine(made, progress)
    if checkpoint is not None:
        from suffice.engines.checkpoint import CheckpointedEngine

        made = CheckpointedEngine(made, checkpoint)
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
    ...     engine_of()
    LocalEngine(threads=1)
    """
    is_default = chosen is None and not options
    made = None if is_default else engine("local" if chosen is None else chosen, **options)
    until_end = ExitStack()
    until_end.callback(CHOSEN.reset, CHOSEN.set(made))
    return until_end


def engine_of(home: str | None = None) -> Engine:
    """Return the engine that reads a table: its home, if it lives in an engine."""
    return engine(home) if home is not None else CHOSEN.get() or HERE


def is_here() -> bool:
    """Return whether rows are read in this process."""
    return isinstance(engine_of(), LocalEngine)


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
    found = OF_EXECUTOR if of_executor else ENGINES.get(str(name))
    if found is None:
        known = ", ".join(map(repr, ENGINES))
        raise ParameterError(f"engine={name!r}", f"an engine is one of {known}, or an executor")
    try:
        module = import_module(f"suffice.engines.{found.module}")
    except ModuleNotFoundError as error:
        raise ParameterError(
            f"engine={name!r} needs {error.name}",
            "it is not installed",
            f"pip install 'suffice[{name}]'",
        ) from error
    try:
        made: Engine = getattr(module, found.name)(*((name,) if of_executor else ()), **options)
    except TypeError as error:
        raise ParameterError(
            f"engine {name!r}: {error}", "every engine has options of its own", "leave it out"
        ) from None
    return made
