"""Where the work is done, what is shown of it, and what is kept of it while it lasts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.engines.progress import Report

__all__ = ["RUNNING", "Checkpoint", "Running", "reported"]

RUNNING = "Where and how it runs"
# What stands behind the name of an engine: an option of its class.
ENGINES = {"local": "threads", "processes": "processes", "dask": "address"}

Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep what is summed in this file as it grows; when the work was interrupted or "
        "killed, the same command goes on from there.",
        rich_help_panel=RUNNING,
    ),
]


@contextmanager
def reported(what: str) -> Iterator[Report | None]:
    """Show how far the work is, until the block ends; None where no terminal shows it."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield None
        return
    from suffice.engines.progress import bar

    with bar(what) as report:
        yield report


@dataclass(frozen=True, kw_only=True)
class Running:
    """Which engine reads the rows."""

    engine: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(ENGINES),
            help="What reads the rows. Where it is, or how many workers it has, stands behind: "
            "processes=4, dask=tcp://host:8786.",
            rich_help_panel=RUNNING,
            show_default="local",
        ),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Threads of this process.",
            rich_help_panel=RUNNING,
            show_default="all cores",
        ),
    ] = None

    def chosen(
        self, report: Report | None, threads: int | None = None, checkpoint: Path | None = None
    ) -> AbstractContextManager[None]:
        """Choose the engine that the options stand for, until a block ends.

        Parameters
        ----------
        report : callable, optional
            Shows progress.
        threads : int, optional
            Of the local engine, unless the user says.
        checkpoint : Path, optional

        Raises
        ------
        ParameterError
            If there is no such engine, or an option belongs to another one.
        EngineError
            If it cannot be started.
        """
        from suffice.engines.choice import engine, set_engine

        name, _, where = (self.engine or "local").partition("=")
        if name not in ENGINES:
            raise ParameterError(
                f"--engine {name!r}", f"the engines are {', '.join(map(repr, ENGINES))}"
            )
        options: dict[str, Any] = self._place(name, where) if where else {}
        if name == "local":
            number = threads if self.threads is None else self.threads
            options = {"threads": number} | options
        elif self.threads is not None:
            raise ParameterError(
                f"--threads {self.threads} is given with --engine {self.engine}",
                "threads are the workers of the local engine",
                "leave one of them out",
            )
        return set_engine(engine(name, progress=report, checkpoint=checkpoint, **options))

    def _place(self, name: str, where: str) -> dict[str, Any]:
        """Return what stands behind the name of an engine, in the words of that engine."""
        option = ENGINES[name]
        if option == "address":
            return {option: where}
        if not where.isdecimal() or int(where) < 1:
            fact = f"--engine {self.engine}"
            raise ParameterError(fact, f"behind {name}= stands a number of workers, 1 or more")
        return {option: int(where)}
