"""Parameters of an estimator by name: their defaults, and how an estimator is printed with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import Any, TypeVar

__all__ = ["LONGEST_REPR", "accepts", "defaults", "effective", "printed"]

C = TypeVar("C", bound=type[Any])

LONGEST_LINE = 79  # of a printed estimator
LONGEST_REPR = 700  # characters that are no blanks; the middle of a longer one is left out
MANY_ELEMENTS = 30  # of a sequence that is printed


def accepts(before: str | None = None, /, **ignored: Any) -> Callable[[C], C]:
    """Decorate a class, beneath ``@dataclass``, with parameters of scikit-learn without effect.

    Parameters
    ----------
    before : str, optional
        The field that they precede; by default they are the last.
    **ignored
        Their names and defaults.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... @accepts(copy_X=True)
    ... class Ridge:
    ...     alpha: float = 1.0
    >>> Ridge(2.0, copy_X=False), effective(Ridge)
    (Ridge(alpha=2.0, copy_X=False), ['alpha'])
    """

    def with_fields(cls: C) -> C:
        own = dict(cls.__annotations__)
        later = list(own)[list(own).index(before) :] if before else []
        own |= dict.fromkeys(ignored, "Any")
        first = [name for name in own if name not in later]
        cls.__annotations__ = {name: own[name] for name in (*first, *later)}
        for name, default in ignored.items():
            setattr(cls, name, default)
        cls._accepted = (*getattr(cls, "_accepted", ()), *ignored)
        return cls

    return with_fields


def effective(cls: Any) -> list[str]:
    """Return the names of the parameters that have an effect."""
    ignored = getattr(cls, "_accepted", ())
    return [name for name in signature(cls).parameters if name not in ignored]


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
