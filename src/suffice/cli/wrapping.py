"""Prose in lines as wide as a terminal: broken at blanks, never inside a word or before a "%"."""

from __future__ import annotations

import os
import re
from typing import TextIO

__all__ = ["for_stream", "wrapped"]

DEFAULT_WIDTH = 80  # of a terminal that does not know
WORD = re.compile(r"\S+(?: %\S*)?")


def wrapped(text: str, width: int) -> str:
    """The same words in lines of at most so many cells, all indented as their first one is.

    A word that is wider has a line of its own.

    Examples
    --------
    >>> print(wrapped("  one of them takes 17 % of all", 18))
      one of them
      takes 17 % of
      all
    """
    return "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    from rich.cells import cell_len

    if cell_len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip(" "))]
    lines: list[str] = []
    for word in WORD.findall(line):
        longer = f"{lines[-1]} {word}" if lines else ""
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(indent + word)
    return "\n".join(lines)


def for_stream(text: str, stream: TextIO | None) -> str:
    """The text in lines as wide as the terminal that a stream leads to; as it is for a program."""
    if stream is None or not stream.isatty():
        return text
    given = os.environ.get("COLUMNS", "")
    width = int(given) if given.isdigit() else os.get_terminal_size(stream.fileno()).columns
    return wrapped(text, width or DEFAULT_WIDTH)
