"""Parameters of an estimator by name, as scikit-learn asks for them; nothing of it is imported."""

from __future__ import annotations

import re
from collections import defaultdict
from copy import deepcopy
from functools import cache
from inspect import signature
from typing import Any, Self

__all__ = ["HasParams"]

LONGEST_LINE = 79  # of a printed estimator
LONGEST_REPR = 700  # characters that are no blanks; the middle of a longer one is left out
MANY_ELEMENTS = 30  # of a sequence that is printed


class HasParams:
    """A class whose parameters are those of its ``__init__``, kept under their names.

    Examples
    --------
    >>> class Ridge(HasParams):
    ...     def __init__(self, alpha=1.0):
    ...         self.alpha = alpha
    >>> Ridge(2.0).get_params()
    {'alpha': 2.0}
    >>> Ridge().set_params(alpha=3.0)
    Ridge(alpha=3.0)
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters, sorted."""
        of_class: Any = cls
        return sorted(_defaults(of_class))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether those of an estimator among them are returned too, as ``name__its_name``.
        """
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                found.update((f"{name}__{key}", of_inner) for key, of_inner in inner)
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name.

        Raises
        ------
        ValueError
            If there is none of that name.
        """
        inner: dict[str, dict[str, Any]] = defaultdict(dict)
        for name, value in params.items():
            outer, nested, key = name.partition("__")
            if outer not in self._get_param_names():
                raise ValueError(
                    f"Invalid parameter {outer!r} for estimator {self}. "
                    f"Valid parameters are: {self._get_param_names()!r}."
                )
            if nested:
                inner[outer][key] = value
            else:
                setattr(self, name, value)
        for outer, values in inner.items():
            getattr(self, outer).set_params(**values)
        return self

    def unfitted(self) -> Self:
        """Return an estimator with copies of the parameters, which has learnt nothing.

        As `sklearn.base.clone` does.
        """
        return type(self)(**deepcopy(self.get_params(deep=False)))

    def __repr__(self, N_CHAR_MAX: int = LONGEST_REPR) -> str:
        cls: Any = type(self)
        defaults = _defaults(cls)
        changed = [
            f"{name}={_shown(value)}"
            for name, value in sorted(self.get_params(deep=False).items())
            if value is not defaults[name] and repr(value) != repr(defaults[name])
        ]
        return _shortened(_wrapped(f"{cls.__name__}(", changed), N_CHAR_MAX)


@cache
def _defaults(cls: Any) -> dict[str, Any]:
    """The default of every parameter."""
    if cls.__init__ is object.__init__:
        return {}
    _, *given = signature(cls.__init__).parameters.values()
    return {parameter.name: parameter.default for parameter in given}


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
