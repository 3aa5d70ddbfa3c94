"""Small bars of shares, on terminals that can show them; plain text elsewhere has none."""

from __future__ import annotations

import math
import sys

__all__ = ["bar", "barred", "draws_bars"]

NUMBER = 8  # characters of a number
EIGHTHS = "▏▎▍▌▋▊▉█"


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
