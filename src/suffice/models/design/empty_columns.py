"""What to say of a column without a value."""

from __future__ import annotations

from collections.abc import Collection

from suffice.errors import DataError
from suffice.phrases import Option, Phrase, PythonOnly

__all__ = ["without_value"]


def without_value(column: str, targets: Collection[str] = ()) -> DataError:
    """The error of a column of which no cell is there; it may be a target."""
    if column in targets:
        return DataError(
            f"the target {column!r} has no value",
            "a model learns from rows whose target is known",
            "check the column",
        )
    return DataError(
        f"column {column!r} has no value",
        "what depends on it cannot be estimated",
        Phrase("leave it out", PythonOnly("", Phrase(": ", Option.of("ignore", [column])))),
    )
