"""All that is imported of scikit-learn, and only when it is asked for: what it asks of a class.

An estimator follows scikit-learn's protocol without inheriting from its classes, so that a model
is fitted, loaded and asked without them. What these classes would give besides (metadata routing,
diagrams, containers of results) comes from them when it is first looked up. Other files take what
they need of scikit-learn from here; `suffice.models.base.saved` knows the covariance
estimators by name, and `suffice.cli.commands.demo` reads one of its tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache, update_wrapper, wraps
from inspect import signature
from types import MethodType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, SufficeError, UnavailableError

OFFERED = re.compile(
    r"set_output|fit_transform|get_feature_names_out|score"
    r"|get_metadata_routing|set_\w+_request|_repr_html_|_repr_mimebundle_"
)  # members of scikit-learn's classes that others ask for


def is_of_scikit_learn(name: str) -> bool:
    """Return whether scikit-learn's classes may have a member; only it asks for private ones."""
    private = name.startswith("_") and not name.startswith("__") and "sklearn" in sys.modules
    return private or OFFERED.fullmatch(name) is not None


@cache
def bases(cls: Any) -> Any:
    """The class that an estimator would inherit from."""
    from sklearn import base

    mixins = [getattr(base, name) for name in cls.kind.mixins]
    return type(cls.__name__, (*mixins, base.BaseEstimator), {})


@cache
def with_bases(cls: Any) -> Any:
    """A class of estimators that inherits from scikit-learn's classes too; it has no instances."""
    members: dict[str, Any] = {"__module__": cls.__module__, "__doc__": cls.__doc__}
    if hasattr(cls, "_transformed"):
        members["transform"] = lambda self, X: self._transformed(X)  # its result is contained
    return type(cls.__name__, (cls, bases(cls)), members)


def in_container(estimator: Any, X: Any, transformed: Callable[[Any], NDArray[Any]]) -> Any:
    """Return transformed rows in the container that `set_output` chose, or a setting.

    Whoever chose one has imported scikit-learn, here or where the estimator came from.
    """
    if "sklearn" not in sys.modules and "_sklearn_output_config" not in vars(estimator):
        return transformed(X)
    cls: Any = type(estimator)
    return with_bases(cls).transform(estimator, X)


def checked_table(
    estimator: Any, X: Any, first: bool, dtype: str | None, plain: bool = False
) -> Any:
    """Rows as an array; width and names of the columns are those of the first table, or are noted.

    Parameters
    ----------
    estimator
        Whose rows they are.
    X : array-like (n, d)
    first : bool
        Whether they settle width and names.
    dtype : {"numeric"}, optional
        None where an array of strings makes sense.
    plain : bool
        Whether the cells need no check.
    """
    from sklearn.utils.validation import validate_data

    try:
        return validate_data(
            estimator,
            X,
            reset=first,
            skip_check_array=plain,
            accept_sparse="csr",
            dtype=dtype,
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
    except ValueError as error:
        if isinstance(error, SufficeError):
            raise
        step = "give text in a data frame, or a dict of columns" * ("string" in str(error))
        fact = " ".join(str(error).removesuffix(".").split())
        raise DataError(fact, next_step=step) from error


def usual_array(given: Any, kinds: str) -> Any:
    """An array, or what NumPy makes of a list, if its dtype is of one of these kinds; else None."""
    if isinstance(given, list):
        try:
            given = np.asarray(given)
        except (OverflowError, TypeError, ValueError):  # such as rows of several lengths
            return None
    return given if type(given) is np.ndarray and given.dtype.kind in kinds else None


class available_if:  # noqa: N801 - named as scikit-learn's
    """Decorate a method that is there only while a check of the estimator holds.

    Parameters
    ----------
    check : callable
        Takes the estimator; returns whether the method is there, or raises why it is not.

    Examples
    --------
    >>> class Counter:
    ...     def __init__(self, most):
    ...         self.most = most
    ...     @available_if(lambda self: self.most > 0)
    ...     def count(self):
    ...         return self.most
    >>> hasattr(Counter(0), "count"), Counter(2).count()
    (False, 2)
    """

    def __init__(self, check: Callable[[Any], bool]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> Any:
        """Take the method."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self._method
        unavailable = f"This {type(instance).__name__!r} has no attribute {self._method.__name__!r}"
        try:
            available = self._check(instance)
        except Exception as error:
            raise AttributeError(unavailable) from error
        if not available:
            raise AttributeError(unavailable)
        return MethodType(self._method, instance)


# -- its errors and warnings, and its checks of arrays where ours do not settle the matter


def not_fitted(sentence: str) -> Any:
    from sklearn.exceptions import NotFittedError

    return NotFittedError(sentence)


def diagram(estimator: Any) -> Any:
    """An estimator as scikit-learn draws it, in HTML."""
    from sklearn.utils import estimator_html_repr

    return estimator_html_repr(estimator)


def check_is_fitted(estimator: Any) -> None:
    if "model_" not in vars(estimator):
        raise not_fitted(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )


def convergence_warning() -> Any:
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning


def refuse_lengths(x: Any, y: Any) -> None:
    """Refuse rows and labels, or targets, as they are of different numbers."""
    from sklearn.utils.validation import check_consistent_length as checked

    checked(x, y)


def column_or_1d(y: Any, warn: bool) -> Any:
    """Labels as an array (n,); of a matrix of one column scikit-learn warns, if it is to."""
    array = usual_array(y, "biufUO")
    if array is not None and array.ndim == 1:
        return np.ascontiguousarray(array)
    from sklearn.utils.validation import column_or_1d as checked

    return checked(y, warn=warn)


C = TypeVar("C", bound=type[Any])


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
        own |= dict.fromkeys(ignored, Any)
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
    _, *given = signature(cls.__init__).parameters.values()
    return {parameter.name: parameter.default for parameter in given}


def printed(cls: Any, params: Mapping[str, Any]) -> str:
    """An estimator as it is printed: its class, and the parameters that are no defaults.

    Examples
    --------
    >>> class Ridge:
    ...     def __init__(self, alpha=1.0, tol=1e-4): ...
    >>> printed(Ridge, {"alpha": 2.0, "tol": 1e-4})
    'Ridge(alpha=2.0)'
    """
    changed = [
        f"{name}={value!r}"
        for name, value in sorted(params.items())
        if value is not defaults(cls)[name] and repr(value) != repr(defaults(cls)[name])
    ]
    return f"{cls.__name__}({', '.join(changed)})"


def read_only(value: Any) -> Any:
    """Return an array that cannot be written to, with the same memory; anything else as it is.

    Examples
    --------
    >>> read_only(np.zeros(2))[0] = 1.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    if type(value) is not np.ndarray:
        return value
    view = value.view()
    view.setflags(write=False)
    return view


def protect_fitted(cls: type) -> None:
    """Make properties of a class that end in an underscore hand out read-only arrays.

    Examples
    --------
    >>> class Mean:
    ...     @property
    ...     def mean_(self):
    ...         return np.ones(2)
    >>> protect_fitted(Mean)
    >>> Mean().mean_[0] = 3.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    for name, member in list(vars(cls).items()):
        is_fitted = name.endswith("_") and not name.startswith("_")
        if is_fitted and isinstance(member, property):
            setattr(cls, name, _protected(member))


class KeptArray:
    """An attribute that keeps an array, and hands out a view that cannot be written to.

    Examples
    --------
    >>> class Mean:
    ...     mean_ = KeptArray()
    >>> model = Mean()
    >>> model.mean_ = np.ones(2)
    >>> model.mean_[0] = 3.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        try:
            return read_only(instance.__dict__[self._name])
        except KeyError:
            raise AttributeError(
                f"{type(instance).__name__!r} object has no attribute {self._name!r}"
            ) from None

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value

    def __delete__(self, instance: Any) -> None:
        del instance.__dict__[self._name]


def _protected(attribute: property) -> property:
    """Make the arrays of an attribute read-only."""
    get: Any = attribute.fget

    @wraps(get)
    def protected(estimator: Any) -> Any:
        try:
            return read_only(get(estimator))
        except ParameterError as error:
            raise UnavailableError(error.fact, error.rule, error.next_step) from None

    return property(protected)
