"""Errors and warnings of the library in the words of the command line."""

from __future__ import annotations

import re
from typing import Any

import typer

__all__ = ["CommandError", "sentence", "warn"]

# Typer brings a copy of Click of its own, or imports Click, by version.
CommandError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

_LEAVE_OUT = "--ignore leaves columns out"

_OPTIONS = [
    (re.compile(python), option)
    for python, option in (
        (r"CsvFormat\(quote=None\)", "--quote none"),
        (r'CsvFormat\(encoding="([^"]*)"\)', r"--encoding \1"),
        (r"CsvFormat\(delimiter='(.)'\)", r"--separator '\1'"),
        (r"CsvFormat\(names=\.\.\.\)", "--columns"),
        (r"CsvFormat\(missing=\.\.\.\)", "--missing"),
        (r"CsvFormat\(skip_bad_rows=\.\.\.\)", "--skip-bad-rows"),
        (r"skip_bad_rows=(\S+)", r"--skip-bad-rows \1"),
        (r"\bquote=None\b", "--quote none"),
        (r"\bdelimiter=", "--separator "),
        (r"\bencoding=", "--encoding "),
        (r"\bquote=", "--quote "),
        (r'for a tab write "\\t"', "for a tab write tab"),
        (r"or None for no quoting", "or none for no quoting"),
        (r"^names holds", "--columns holds"),
        (r"\bestimation=", "--estimation "),
        (r"\bclass_prior=", "--class-prior "),
        (r"\balpha='(gcv|loo)'", r"--penalty \1"),
        (r"\balpha=", "--alpha "),
        (r"\bpenalty='(\w+)'", r"--penalty \1"),
        (r"\bC=(?:np\.)?", "--C "),
        (r"\bmissing='(\w+)'", r"--incomplete \1"),
        (r"\blevel=", "--level "),
        (r"(refit\(columns=\.\.\.\) leaves columns out, )?dependent='error' refuses", _LEAVE_OUT),
        (r"; raise max_iter or tol, or use solver='newton'", ""),
        (r"\bddof=", "--ddof "),
        (r"\bunseen=", "--unseen "),
        (r"\bthreads=", "--threads "),
        (r", or None for all cores", ""),
        (r", a mapping or one number per class", ""),
        (r", or learn from batches with partial_fit", ""),
        (r"fit both with the same `families`", "fit both with the same options"),
        (r"NaiveBayes\(families=\{column: 'categorical'\}\)", "--categorical"),
        (r", or declare another type for the column", ""),
    )
]


def sentence(error: Any) -> str:
    """Say in one line what is wrong; Python's spelling of an option becomes the command's.

    Examples
    --------
    >>> sentence(KeyboardInterrupt())
    'interrupted.'
    """
    return " ".join([_said(error), *getattr(error, "__notes__", ())])


def _said(error: Any) -> str:
    if isinstance(error, CommandError):
        return _ended(error.format_message())
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return _ended(f"{named}{error.strerror or error}")
    if isinstance(error, KeyboardInterrupt):
        return _ended(str(error) or "interrupted")
    return _spelt(str(error))


def warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as a line on stderr."""
    typer.echo(f"warning: {_spelt(str(message))}", err=True)


def _spelt(text: str) -> str:
    for python, option in _OPTIONS:
        text = python.sub(option, text)
    return _ended(text)


def _ended(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith(".") else f"{line}."
