"""Parameters of an estimator by name: their defaults, and how an estimator is printed with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from inspect import signature
from typing import Any

__all__ = ["LONGEST_REPR", "defaults", "printed"]

LONGEST_LINE = 79  # of a printed estimator
LONGEST_REPR = 700  # characters that are no blanks; the middle of a longer one is left out
MANY_ELEMENTS = 30  # of a sequence that is printed


@cache
def defaults(cls: Any) -> dict[str, Any]:
    """The default of every parameter of a class, as its ``__init__`` gives it."""
    if cls.__init__ is object.__init__:
        return {}
    _, *given = signature(cls.__init__).parameters.values()
    return {parameter.name: parameter.default for parameter in given}


def printed(cls: Any, params: Mapping[str, Any], longest: int = LONGEST_REPR) -> str:
    """An estimator as it is printed: its class, and the parameters that are no defaults.

    Examples
    --------
    >>> class Ridge:
    ...     def __init__(self, alpha=1.0, tol=1e-4): ...
    >>> printed(Ridge, {"alpha": 2.0, "tol": 1e-4})
    'Ridge(alpha=2.0)'
    """
    usual = defaults(cls)
    changed = [
        f"{name}={_shown(value)}"
        for name, value in sorted(params.items())
        if value is not usual[name] and repr(value) != repr(usual[name])
    ]
    return _shortened(_wrapped(f"{cls.__name__}(", changed), longest)


def _shown(value: Any) -> str:
    """A value as it is printed; of a long sequence, the first elements."""
    if isinstance(value, list | tuple) and len(value) > MANY_ELEMENTS:
        opening, closing = "[]" if isinstance(value, list) else "()"
        return f"{opening}{', '.join(map(repr, value[:MANY_ELEMENTS]))}, ...{closing}"
    return repr(value)


def _wrapped(start: str, words: list[str]) -> str:
    """Words in brackets, on as many lines as they need."""
    lines, indent = [start], " " * len(start)
    for at, word in enumerate(words):
        ending = ")" if at == len(words) - 1 else ","
        blank = "" if lines[-1].endswith(("(", " ")) else " "
        if blank and len(lines[-1]) + 1 + len(word) + len(ending) > LONGEST_LINE:
            lines.append(indent)
            blank = ""
        lines[-1] += blank + word + ending
    return "\n".join(lines) if words else f"{start})"


def _shortened(text: str, longest: int) -> str:
    """A text of so many characters that are no blanks: the middle of a longer one is left out."""
    if len(re.sub(r"\s", "", text)) <= longest:
        return text
    half = longest // 2
    kept = re.compile(rf"(\s*\S){{{half}}}")
    first, last = kept.match(text), kept.match(text[::-1])
    if first is None or last is None:
        return text
    return f"{first.group()}...{text[len(text) - last.end() :]}"
