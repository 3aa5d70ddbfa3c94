"""Parameters and fields by former names, with a warning."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from suffice.errors import FormerNameWarning, ParameterError, warn

__all__ = ["FORMER", "formerly"]

T = TypeVar("T", bound=type)

FORMER = "_former_names"  # the attribute of a class that has the former names of its parameters


def formerly(**names: str) -> Callable[[T], T]:
    """Let an estimator, or a record, take parameters by former names, with a warning.

    Parameters
    ----------
    **names : str
        The former name of a parameter.

    Returns
    -------
    callable
        A decorator of the class.

    Examples
    --------
    >>> import warnings
    >>> from suffice.linear_model import Ridge
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Ridge(missing="drop").incomplete
    'drop'
    >>> print(caught[0].message)
    Ridge: missing= is called incomplete= now; write incomplete='drop'.
    """

    def decorated(estimator: T) -> T:
        for method in {"__init__", "set_params"} & {*dir(estimator)}:
            setattr(estimator, method, _renaming(getattr(estimator, method), names))
        for name, former in names.items():
            setattr(estimator, former, _alias(name, former))
        setattr(estimator, FORMER, names)
        return estimator

    return decorated


def _renaming(method: Callable[..., Any], names: dict[str, str]) -> Callable[..., Any]:
    """A method that takes parameters by their former names too."""

    @wraps(method)
    def taking_both(self: Any, *args: Any, **given: Any) -> Any:
        for name, former in names.items():
            if former in given:
                value = given.pop(former)
                _warn(self, name, former, f"{name}={value!r}")
                if name in given:
                    raise ParameterError(
                        f"{name}= and {former}= are both given",
                        "they are names of one parameter",
                        f"leave {former}= out",
                    )
                given[name] = value
        return method(self, *args, **given)

    return taking_both


def _alias(name: str, former: str) -> property:
    """The attribute of a parameter, by its former name."""

    def get(self: Any) -> Any:
        _warn(self, name, former, f".{name}")
        return getattr(self, name)

    def set_(self: Any, value: Any) -> None:
        _warn(self, name, former, f".{name}")
        setattr(self, name, value)

    return property(get, set_, doc=f"The former name of ``{name}``.")


def _warn(estimator: Any, name: str, former: str, instead: str) -> None:
    kind = type(estimator).__name__
    warn(f"{kind}: {former}= is called {name}= now; write {instead}.", FormerNameWarning)
