"""Weights of classes as ``suffice fit`` takes them."""

from __future__ import annotations

from typing import Any

from suffice.errors import ParameterError

__all__ = ["class_weight_of"]


def class_weight_of(given: str) -> Any:
    """Weights by label, or "balanced".

    Examples
    --------
    >>> class_weight_of("spam=5,ham=1"), class_weight_of("0=1,1=2.5"), class_weight_of("balanced")
    ({'spam': 5.0, 'ham': 1.0}, {0: 1.0, 1: 2.5}, 'balanced')

    Raises
    ------
    ParameterError
        If it is neither.
    """
    if given == "balanced":
        return given
    pairs = [part.rpartition("=") for part in given.split(",")]
    try:
        if all(label for label, _, _ in pairs):
            return {_label(label.strip()): float(number) for label, _, number in pairs}
    except ValueError:
        pass
    raise ParameterError(
        f"--class-weight {given!r}",
        "it is 'balanced', or labels with numbers",
        "write it as in spam=5,ham=1",
    )


def _label(text: str) -> Any:
    """A label as tables have it: true, false, a whole number, or the text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if str(int(text)) == text else text
    except ValueError:
        return text
