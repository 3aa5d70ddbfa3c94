"""All that is imported of scikit-learn, and only when it is asked for: what it asks of a class.

An estimator follows scikit-learn's protocol without inheriting from its classes, so that a model
is fitted, loaded and asked without them. What these classes would give besides (metadata routing,
diagrams, containers of results) comes from them when it is first looked up. Other files take what
they need of scikit-learn from here; `suffice.models.base.saved_options` knows the covariance
estimators by name, and `suffice.cli.commands.demo` reads one of its tables.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from functools import cache, update_wrapper
from inspect import getattr_static
from types import MethodType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.models.base.fitted_attributes import protect_fitted
from suffice.models.base.params import LONGEST_REPR, defaults, printed

__all__ = [
    "ScikitLearnInterface",
    "available_if",
    "check_classification_targets",
    "check_is_fitted",
    "checked_table",
    "column_or_1d",
    "convergence_warning",
    "diagram",
    "not_fitted",
    "refuse_lengths",
    "usual_array",
]

OFFERED = re.compile(
    r"set_output|fit_transform|get_feature_names_out|score"
    r"|get_metadata_routing|set_\w+_request|_repr_html_|_repr_mimebundle_"
)  # members of scikit-learn's classes that others ask for


class ScikitLearnInterface:
    """What scikit-learn asks of an estimator.

    Its parameters are those of ``__init__``, kept under their names. Members that scikit-learn's
    classes would give it, such as `set_output` and `set_fit_request`, are those of a class that
    inherits from both, which is made when the first is asked for. Fitted arrays are read-only.

    Examples
    --------
    >>> class Ridge(ScikitLearnInterface):
    ...     def __init__(self, alpha=1.0):
    ...         self.alpha = alpha
    >>> Ridge(2.0).get_params()
    {'alpha': 2.0}
    >>> Ridge().set_params(alpha=3.0)
    Ridge(alpha=3.0)
    """

    scikit_learn_mixins: ClassVar[tuple[str, ...]] = ()  # which it would inherit from
    accepted: ClassVar[tuple[str, ...]] = ()  # parameters without effect

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        protect_fitted(cls)

    # -- parameters

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters, sorted."""
        of_class: Any = cls
        return sorted(defaults(of_class))

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
        return printed(type(self), self.get_params(deep=False), N_CHAR_MAX)

    # -- what scikit-learn's classes would give it

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self), name):  # a property that failed, or a method that an option hides
            return super().__getattribute__(name)
        if _is_of_scikit_learn(name):
            cls: Any = type(self)
            face = _with_bases(cls)
            try:
                member = getattr_static(face, name)
            except AttributeError:
                pass
            else:
                return member.__get__(self, face) if hasattr(member, "__get__") else member
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        """Attributes that there are: some methods depend on options."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return [name for name in super().__dir__() if hasattr(self, name)]

    def __sklearn_tags__(self) -> Any:
        cls: Any = type(self)
        return _bases(cls)().__sklearn_tags__()

    def _in_container(self, X: Any, transformed: Callable[[Any], NDArray[Any]]) -> Any:
        """Transformed rows in the container that `set_output` chose, or scikit-learn's setting.

        Whoever chose one has imported scikit-learn, here or where the estimator came from.
        """
        if "sklearn" not in sys.modules and "_sklearn_output_config" not in vars(self):
            return transformed(X)
        cls: Any = type(self)
        return _with_bases(cls).transform(self, X)


def _is_of_scikit_learn(name: str) -> bool:
    """Whether scikit-learn's classes may have a member; the private ones only it asks for."""
    private = name.startswith("_") and not name.startswith("__") and "sklearn" in sys.modules
    return private or OFFERED.fullmatch(name) is not None


@cache
def _bases(cls: Any) -> Any:
    """The class that an estimator would inherit from."""
    from sklearn import base

    mixins = [getattr(base, name) for name in cls.scikit_learn_mixins]
    return type(cls.__name__, (*mixins, base.BaseEstimator), {})


@cache
def _with_bases(cls: Any) -> Any:
    """A class of estimators that inherits from scikit-learn's classes too; it has no instances."""
    members: dict[str, Any] = {"__module__": cls.__module__, "__doc__": cls.__doc__}
    if hasattr(cls, "_transformed"):
        members["transform"] = lambda self, X: self._transformed(X)  # its result is contained
    return type(cls.__name__, (cls, _bases(cls)), members)


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

    Raises
    ------
    ValueError
        As scikit-learn has it.
    """
    from sklearn.utils.validation import validate_data

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

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self._method
        unavailable = f"This {type(instance).__name__!r} has no attribute {self._name!r}"
        try:
            available = self._check(instance)
        except Exception as error:
            raise AttributeError(unavailable) from error
        if not available:
            raise AttributeError(unavailable)
        return MethodType(self._method, instance)


# -- its errors and warnings, and its checks of arrays where ours do not settle the matter


def not_fitted(sentence: str) -> Exception:
    """The error of an estimator that has not learnt yet."""
    from sklearn.exceptions import NotFittedError

    error: Exception = NotFittedError(sentence)
    return error


def diagram(estimator: Any) -> str:
    """An estimator as scikit-learn draws it, in HTML."""
    from sklearn.utils import estimator_html_repr

    drawn: str = estimator_html_repr(estimator)
    return drawn


def check_is_fitted(estimator: Any) -> None:
    """Refuse an estimator without a model.

    Raises
    ------
    NotFittedError
        If it has none.
    """
    if "model_" not in vars(estimator):
        raise not_fitted(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )


def convergence_warning() -> type[Warning]:
    """The warning of an iteration that ended before it converged."""
    from sklearn.exceptions import ConvergenceWarning

    warning: type[Warning] = ConvergenceWarning
    return warning


def refuse_lengths(x: Any, y: Any) -> None:
    """Refuse rows and labels, or targets, as they are of different numbers.

    Raises
    ------
    ValueError
        As scikit-learn has it.
    """
    from sklearn.utils.validation import check_consistent_length as checked

    checked(x, y)


def check_classification_targets(labels: NDArray[Any]) -> None:
    """Refuse labels that are fractions.

    Raises
    ------
    ValueError
        As scikit-learn has it.
    """
    if labels.dtype.kind == "f" and (labels == np.rint(labels)).all():
        return
    from sklearn.utils.multiclass import check_classification_targets as checked

    checked(labels)


def column_or_1d(y: Any, warn: bool) -> NDArray[Any]:
    """Labels as an array (n,); of a matrix of one column scikit-learn warns, if it is to.

    Raises
    ------
    ValueError
        As scikit-learn has it, if they have more dimensions.
    """
    array = usual_array(y, "biufUO")
    if array is not None and array.ndim == 1:
        return np.ascontiguousarray(array)
    from sklearn.utils.validation import column_or_1d as checked

    column: NDArray[Any] = checked(y, warn=warn)
    return column
