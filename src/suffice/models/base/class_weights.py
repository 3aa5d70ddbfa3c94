"""Classes that count more than their rows: one number for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError

__all__ = ["ClassWeight", "check_class_weight", "class_weights"]

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


def check_class_weight(given: Any) -> None:
    """Refuse what says no weight of classes.

    Raises
    ------
    ParameterError
        If it is no ``"balanced"``, None or mapping of labels to positive numbers.
    """
    if isinstance(given, Mapping):
        if not all(_is_weight(weight) for weight in given.values()):
            raise ParameterError(f"class_weight={given!r}", "a weight is a finite number above 0")
    elif not (given is None or (isinstance(given, str) and given == "balanced")):
        raise ParameterError(
            f"class_weight={given!r}", "it is 'balanced', or maps labels to numbers"
        )


def class_weights(
    given: ClassWeight, rows: NDArray[np.float64], labels: tuple[Any, ...]
) -> NDArray[np.float64]:
    """The weight f_c of every class, (k,): 1 where none is given.

    ::

        "balanced"    f_c = N / (k N_c), k the number of classes that have rows

    Parameters
    ----------
    given : mapping of label to float, "balanced" or None
        As `check_class_weight` lets it pass.
    rows : ndarray (k,)
        N_c, the weight of the rows of each class.
    labels : tuple of k labels

    Raises
    ------
    ParameterError
        If a mapping leaves out a class and names one that is not there.

    Source: G. King and L. Zeng, Logistic regression in rare events data, Political Analysis 9
    (2001), 137-163, for weights of this form.

    Examples
    --------
    >>> class_weights("balanced", np.array([3.0, 1.0]), ("a", "b"))
    array([0.66666667, 2.        ])
    >>> class_weights({"b": 5}, np.array([3.0, 1.0]), ("a", "b"))
    array([1., 5.])
    """
    factors = np.ones(len(labels))
    if given is None:
        return factors
    if isinstance(given, str):
        shown = rows > 0
        factors[shown] = rows.sum() / (shown.sum() * rows[shown])
        return factors
    strange = [label for label in given if label not in labels]
    if strange and any(label not in given for label in labels):
        raise ParameterError(
            f"class_weight has {', '.join(map(repr, strange))}",
            f"the classes are {', '.join(map(repr, labels))}",
        )
    return np.array([given.get(label, 1.0) for label in labels], float)


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, Real) and 0 < float(weight) < np.inf
