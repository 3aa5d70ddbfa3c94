"""Checks of labels, weights and tables, and weights of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.data.python_cells import require_faithful
from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.errors import DataError, ParameterError
from suffice.numerics.in_print import listed
from suffice.numerics.rows import is_sparse
from suffice.sums.batch import WEIGHT_RULE, unfit_weight
from suffice.sums.vocabulary import Vocabulary


def is_array(X: Any, *named: Any) -> bool:
    """Tell arrays, sparse matrices and lists of rows from tables: frames, and lists of paths.

    A frame of sparse columns is a sparse matrix, unless one of ``named`` is the name of a column.
    """
    if isinstance(X, list | tuple):
        return not all(isinstance(row, str | PathLike) for row in X)
    if isinstance(X, np.ndarray) or is_sparse(X):
        return True
    if type(X).__module__.partition(".")[0] == "pandas" and X.ndim == 2 and X.size > 0:
        sparse = all(getattr(dtype, "fill_value", None) == 0 for dtype in X.dtypes)
        return sparse and not any(isinstance(name, str) for name in named)
    if not hasattr(X, "__array__"):  # asked first: a LazyFrame resolves its query for its columns
        return False
    return not hasattr(X, "__arrow_c_stream__") and not hasattr(X, "columns")


def checked_weights(sample_weight: Any, n: int | None) -> NDArray[np.float64]:
    """Weights as an array, of n rows if that is known: one number then serves all."""
    if np.ma.is_masked(sample_weight):
        masked = int(np.ma.getmaskarray(sample_weight).argmax())
        raise DataError(f"sample_weight, row {masked}: masked", WEIGHT_RULE)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"sample_weight: {error}", "a weight is a number", "convert the weights"
        ) from None
    require_faithful(
        sample_weight,
        weights,
        lambda place: ", row ".join(["sample_weight", *map(str, place[:1])]),
        "scale the weights",
    )
    if weights.ndim == 0 and n is not None:
        weights = np.full(n, weights)
    if weights.ndim != 1 or n not in (None, len(weights)):
        rows = "" if n is None else f" for {n} rows"
        raise ParameterError(
            f"sample_weight has shape {weights.shape}{rows}", "there is one weight per row"
        )
    row = unfit_weight(weights)
    if row is not None:
        raise DataError(f"sample_weight, row {row}: {weights[row]}", WEIGHT_RULE)
    return weights


def check_among(labels: Vocabulary, classes: Vocabulary) -> None:
    """Refuse labels that are not among the classes that a call has named."""
    others = [label for label in labels.values if label not in classes.values]
    if others:
        raise DataError(
            f"The target label(s) {others} in y do not exist in the initial classes "
            f"{list(classes.values)}",
            "classes names all labels, if it is given",
            "add them, or leave classes out: new labels join",
        )


def check_same_classes(classes: Any, known: NDArray[Any]) -> None:
    """Refuse classes that a call names, unless they are those that are known, each once."""
    given, there = np.ravel(classes).tolist(), known.tolist()
    if sorted(given) != there:
        raise ParameterError(
            f"`classes={given}` is not the same as on last call to partial_fit, {there}",
            "a later call names the same classes, each once",
            "leave classes out: new labels join",
        )


ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


def check_class_weight(given: Any) -> None:
    if isinstance(given, Mapping):
        if not all(isinstance(w, Real) and 0 < float(w) < np.inf for w in given.values()):
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
    rows : ndarray (k,)
        N_c, the weight of the rows of each class.
    labels : tuple of k labels

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
    check_class_weight(given)
    if isinstance(given, str):
        shown = rows > 0
        factors[shown] = rows.sum() / (shown.sum() * rows[shown])
        return factors
    strange = [label for label in given if label not in labels]
    if strange and any(label not in given for label in labels):
        raise ParameterError(
            f"class_weight has {listed(map(repr, strange))}",
            f"the classes are {listed(map(repr, labels))}",
        )
    return np.array([given.get(label, 1.0) for label in labels], float)


def require_weights(
    source: TableSource | ArraySource, classes: Vocabulary, fewest: int = 2
) -> None:
    """Refuse rows of too few classes if it is for their weights, and name the other classes.

    Those of ``classes`` have rows of a weight above 0.
    """
    if not 0 < len(classes) < fewest:
        return
    others = [label for label in source.shown_labels() if label not in classes.codes]
    if others and len(classes) + len(others) >= fewest:
        which = (
            f"class {others[0]!r}" if len(others) == 1 else f"classes {listed(map(repr, others))}"
        )
        raise DataError(
            f"the rows of {which} have weight 0: those of {classes.values[0]!r} are left",
            "a classifier needs rows of two classes or more whose weight is above 0",
            "check the weights",
        )


def require_place(name: Any, names: Sequence[Any], kind: str = "column") -> int:
    """The place of a column, or of something else of a kind, that a user names."""
    by_place = kind == "column" and isinstance(name, int) and not isinstance(name, bool)
    if by_place and -len(names) <= name < len(names):
        return int(name) % len(names)
    if name not in names:
        some = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        several = f"{kind}{'es' if kind.endswith('s') else 's'}"
        raise ParameterError(f"there is no {kind} {name!r}", f"the {several} are {some}")
    return list(names).index(name)
