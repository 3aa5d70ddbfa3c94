"""Where the work is done, what is shown of it, and what is kept of it while it lasts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.engines.register import ENGINES
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.engines.engine import Engine
    from suffice.engines.progress import Report

__all__ = ["RUNNING", "Checkpoint", "Running", "refuse_threads"]

RUNNING = "Where and how it runs"

Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep what is summed in this file as it grows; when the work was interrupted or "
        "killed, the same command goes on from there.",
        rich_help_panel=RUNNING,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Running:
    """Which engine reads the rows, and whether its progress is shown."""

    engine: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(ENGINES),
            help="What reads the rows.",
            rich_help_panel=RUNNING,
            show_default="local",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="local, processes: how many.",
            rich_help_panel=RUNNING,
            show_default="all cores",
        ),
    ] = None
    master: Annotated[
        str | None,
        typer.Option(
            metavar="MASTER",
            help="spark: where to start a session, such as 'local[2,4]' or yarn.",
            rich_help_panel=RUNNING,
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="dask, spark: the cluster, such as tcp://host:8786 or sc://host:15002.",
            rich_help_panel=RUNNING,
        ),
    ] = None
    progress: Annotated[
        bool,
        typer.Option(
            "--progress/--no-progress",
            help="A bar for what takes longer than a second, where there is a terminal.",
            rich_help_panel=RUNNING,
        ),
    ] = True

    @contextmanager
    def reported(self, what: str) -> Iterator[Report | None]:
        """Show how far the work is, until the block ends; None where nothing shows it."""
        if not (self.progress and sys.stderr and sys.stderr.isatty()):
            yield None
            return
        from suffice.engines.progress_bar import bar

        with bar(what) as report:
            yield report

    @property
    def here(self) -> bool:
        """Whether nothing else than this process and its own choice of threads is asked for."""
        return self.engine is None and self.workers is None

    def chosen(
        self, report: Report | None, threads: int | None = None, checkpoint: Path | None = None
    ) -> Engine:
        """The engine that the options stand for.

        Parameters
        ----------
        report : callable, optional
            Shows progress.
        threads : int, optional
            Of the model; for the local engine, unless there are workers.
        checkpoint : Path, optional

        Raises
        ------
        ParameterError
            If there is no such engine, or an option belongs to another one.
        EngineError
            If it cannot be started.
        """
        from suffice.engines.choice import engine

        return engine(
            self.engine or "local",
            progress=report,
            checkpoint=checkpoint,
            **self._options(threads),
        )

    def _options(self, threads: int | None) -> dict[str, Any]:
        """What is given, in the words of the engine."""
        name = self.engine or "local"
        if name not in ENGINES:
            raise ParameterError(
                f"--engine {name!r}", f"the engines are {', '.join(map(repr, ENGINES))}"
            )
        names = ENGINES[name].options
        given = {"workers": self.workers, "master": self.master, "address": self.address}
        options = {}
        for option, value in given.items():
            if value is None:
                continue
            if option not in names:
                raise _foreign(option, name)
            options[names[option]] = value
        if name == "local" and threads is not None:
            options.setdefault("threads", threads)
        return options


def refuse_threads(running: Running, threads: int | None) -> None:
    """Refuse threads beside another engine, or beside a number of workers.

    Raises
    ------
    ParameterError
        Naming both options.
    """
    if threads is None or running.here:
        return
    other = f"--engine {running.engine}" if running.engine else f"--workers {running.workers}"
    raise ParameterError(
        f"--threads {threads} is given with {other}",
        "threads are the workers of the local engine",
        "use --workers alone",
    )


def _foreign(option: str, engine: str) -> ParameterError:
    owners = [name for name, entry in ENGINES.items() if option in entry.options]
    return ParameterError(
        f"--{option} is given for --engine {engine}",
        f"it belongs to --engine {', '.join(owners)}",
        "leave the option out, or choose another engine",
    )
