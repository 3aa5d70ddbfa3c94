"""Numbers and tables for people, JSON for programs."""

from __future__ import annotations

import errno
import glob
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from suffice.atomic import atomic_writer
from suffice.cli.signals import READER_GONE, write_no_more
from suffice.cli.wrapping import wrapped
from suffice.errors import ParameterError
from suffice.numerics import in_print
from suffice.numerics.in_print import number, percent
from suffice.phrases import amount, rows_in_print

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = [
    "CommandLine",
    "amount",
    "bar",
    "barred",
    "decibans",
    "deliver",
    "draws_bars",
    "grid",
    "percent",
    "plain",
    "print_all",
    "refuse_overwriting",
    "refuse_result",
    "rows_in_print",
    "short",
    "standard_output",
]

LONGEST_CELL = 60
NUMBER = 8  # characters of a number
EIGHTHS = "▏▎▍▌▋▊▉█"


def decibans(value: float) -> str:
    """Write evidence with its sign.

    Examples
    --------
    >>> decibans(3.0103), decibans(float("-inf")), decibans(0.0)
    ('+3.01', '-∞', '0.00')
    """
    if not math.isfinite(value):
        return {math.inf: "+∞", -math.inf: "-∞"}.get(value, "-")
    return "0.00" if round(value, 2) == 0 else f"{value:+,.2f}"


def short(value: Any) -> str:
    """Write a cell or a parameter in little space.

    Examples
    --------
    >>> short(0.123456), short(1234567.8), short("Private"), short(None), short(" ")
    ('0.1235', '1,234,568', 'Private', 'missing', '(empty)')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    if isinstance(value, float):
        return number(value)
    text = str(value)
    if not text.strip():
        return "(empty)"
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}..."


def draws_bars() -> bool:
    """Whether standard output is a terminal that can show the characters of bars."""
    from rich.console import Console

    console = Console()
    if sys.stdout is None or not sys.stdout.isatty() or console.is_dumb_terminal:
        return False
    try:
        EIGHTHS.encode(console.encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def bar(share: float, width: int = 12) -> str:
    """A share of 1 as a bar of so many characters, to an eighth of one.

    Examples
    --------
    >>> bar(0.5, 4), bar(0.28125, 4), bar(0.0), bar(float("nan"))
    ('██', '█▏', '', '')
    """
    if math.isnan(share):
        return ""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return EIGHTHS[-1] * whole + (EIGHTHS[rest - 1] if rest else "")


def barred(text: str, share: float, width: int) -> str:
    """A number with a bar before it, so that numbers stay at the right of their column.

    Examples
    --------
    >>> barred("0.5", 0.5, 4)
    '██        0.5'
    """
    return f"{bar(share, width):<{width}} {text:>{NUMBER}}"


def grid(*columns: str, title: str | None = None, numbers: bool = True) -> Table:
    """A table whose first column is text and whose other columns are numbers, unless told."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for position, column in enumerate(columns):
        right = numbers and position > 0
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    return table


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Give standard output to a block that only writes to it; what goes wrong there names it.

    Raises
    ------
    typer.Exit
        With 141 if it is a pipe that nobody reads any more: no error, and nothing more to do.
    OSError
        If it is closed, or what it leads to is full.
    """
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        yield sys.stdout
    except OSError as error:
        write_no_more(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(READER_GONE) from None
        raise OSError(error.errno, error.strerror or str(error), "standard output") from None


class CommandLine(str):
    """A command to be typed again: a line that is never broken."""

    __slots__ = ()


def print_all(parts: Iterable[RenderableType | in_print.Table]) -> None:
    """Print to stdout, as wide as the terminal; brackets in the user's names are no markup."""
    from rich.console import Console
    from rich.table import Table

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise

    console = Plain(markup=False, emoji=False, highlight=False)

    def say(text: str, style: Any = None) -> None:
        whole = isinstance(text, CommandLine)
        line = text if whole else wrapped(text, console.width)
        console.print(line, style=style, soft_wrap=True)

    for part in parts:
        with standard_output():
            if isinstance(part, str):
                say(part)
            elif isinstance(part, in_print.Table):
                _print_table(_by_rich(part), console, say)
                for note in part.notes:
                    say(f"  {note}")
            elif isinstance(part, Table):
                _print_table(part, console, say)
            else:
                console.print(part)


def _by_rich(table: in_print.Table) -> Table:
    """A result's table as Rich has it."""
    found = grid(*table.header, title=table.title or None)
    for j, column in enumerate(found.columns):
        column.justify = "left" if j in table.left else "right"
    for row in table.rows:
        found.add_row(*row)
    return found


def _print_table(table: Table, console: Console, say: Callable[..., None]) -> None:
    """Print a table, the title and the caption above and below all of its parts."""
    from suffice.cli.output.fitted_tables import fitted

    title, caption = table.title, table.caption
    table.title = table.caption = None
    if title is not None:
        say(str(title), table.title_style)
    for part in fitted(table, console.width):
        console.print(part)
    if caption is not None:
        say(str(caption), "dim")


def deliver(
    facts: Mapping[str, Any],
    rendered: Callable[[], Iterable[RenderableType | in_print.Table]],
    as_json: bool,
    output: Path | None,
) -> None:
    """Hand over a result: as JSON in a file, as JSON, or as tables."""
    text = json.dumps(plain(facts), indent=2, ensure_ascii=False, allow_nan=False)
    if output is not None:
        with atomic_writer(output, "w") as file:
            file.write(text + "\n")
    elif as_json:
        with standard_output():
            typer.echo(text)
    else:
        print_all(rendered())


def plain(value: Any) -> Any:
    """What JSON can hold: infinity and NaN become null, dates become text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def refuse_overwriting(
    output: Path | None, inputs: Sequence[str | Path], option: str = "--output"
) -> None:
    """Refuse to replace a file that is being read, or a folder.

    Raises
    ------
    ParameterError
        If the output is one of the inputs, a glob or a folder of inputs among them.
    IsADirectoryError
        If it is a folder.
    """
    if output is None:
        return
    if output.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
    if output.exists() and any(_is_among(output.resolve(), str(path)) for path in inputs):
        raise ParameterError(
            f"{option} {output} is one of the files to be read",
            "it would be replaced",
            "choose another name",
        )


def _is_among(file: Path, path: str) -> bool:
    """Whether a path, the glob of paths or the folder leads to a file."""
    named = {Path(one).resolve() for one in (path, *glob.iglob(path, recursive=True))}
    return not named.isdisjoint((file, *file.parents))


def refuse_result(
    output: Path | None, inputs: Sequence[str | Path], option: str = "--output"
) -> None:
    """Refuse to replace what is read, a folder, or any model file: a result is no model.

    Raises
    ------
    ParameterError, IsADirectoryError
        As `refuse_overwriting` does; or if the output is a model file.
    """
    from suffice.persist import is_model_file

    refuse_overwriting(output, inputs, option)
    if output is not None and is_model_file(output):
        raise ParameterError(
            f"{option} {output} is a model file", "it would be lost", "choose another name"
        )
