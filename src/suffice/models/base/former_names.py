"""Renamed parameters of estimators: users may give the former name, and files have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from suffice.errors import FormerNameWarning, ParameterError, warn
from suffice.former_values import current_values

__all__ = ["current_params", "former_params", "formerly"]

T = TypeVar("T", bound=type)

FORMER = "_former_names"  # the attribute of a class that has the former names of its parameters


def formerly(**names: str) -> Callable[[T], T]:
    """Let an estimator take parameters by former names, with a warning.

    Parameters
    ----------
    **names : str
        The former name of a parameter.

    Returns
    -------
    callable
        A decorator of the class of an estimator.

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
        for method in ("__init__", "set_params"):
            setattr(estimator, method, _renaming(getattr(estimator, method), names))
        for name, former in names.items():
            setattr(estimator, former, _alias(name, former))
        setattr(estimator, FORMER, names)
        return estimator

    return decorated


def former_params(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator by the names that files have for them, sorted."""
    former: dict[str, str] = getattr(type(estimator), FORMER, {})
    params = estimator.get_params(deep=False)
    return dict(sorted((former.get(name, name), value) for name, value in params.items()))


def current_params(estimator: type, params: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Parameters of a file of some format by the names, and words, that they have now.

    ``absent_options`` of the estimator are what it did before it had these options.
    """
    current = {former: name for name, former in getattr(estimator, FORMER, {}).items()}
    renamed = {current.get(name, name): value for name, value in params.items()}
    absent: dict[str, Any] = getattr(estimator, "absent_options", {})
    return absent | current_values(estimator, renamed, version)


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
