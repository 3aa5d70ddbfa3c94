"""What to say of a column without a value."""

from __future__ import annotations

from suffice.errors import DataError
from suffice.phrases import Option, Phrase, PythonOnly

__all__ = ["without_value"]


def without_value(column: str) -> DataError:
    """The error of a column of which no cell is there."""
    return DataError(
        f"column {column!r} has no value",
        "what depends on it cannot be estimated",
        Phrase("leave it out", PythonOnly("", Phrase(": ", Option.of("ignore", [column])))),
    )
