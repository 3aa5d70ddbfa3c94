"""All that is imported of scikit-learn: base classes, checks of arrays, what it asks of a class.

Other files take what they need of it from here; `suffice.models.base.saved_options` knows the
covariance estimators by name, and `suffice.cli.commands.demo` reads one of its tables.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from suffice.models.base.fitted_attributes import FittedAttributes, KeptArray

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ConvergenceWarning",
    "MultiOutputMixin",
    "NotFittedError",
    "RegressorMixin",
    "ScikitLearnEstimator",
    "TransformerMixin",
    "available_if",
    "check_classification_targets",
    "check_consistent_length",
    "check_is_fitted",
    "clone",
    "column_or_1d",
]


class ScikitLearnEstimator(FittedAttributes, BaseEstimator):  # type: ignore[misc]
    """An estimator by scikit-learn's contract.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the first table.
    feature_names_in_ : ndarray (d,)
        Their names, only where they have some.
    """

    input_tags: ClassVar[tuple[str, ...]] = ("sparse",)  # what may be in an input
    array_dtype: ClassVar[str | None] = "numeric"  # None where an array of strings makes sense
    n_features_in_: int
    feature_names_in_ = KeptArray()

    def _is_named(self) -> bool:
        """Whether the columns of the first table were called by strings."""
        return "feature_names_in_" in self.__dict__

    def _allows_missing(self) -> bool:
        """Whether cells may be missing."""
        return True

    def _settle_columns(self, width: int, names: Any = None) -> None:
        """Note how many columns the first table has, and what they are called, if by strings."""
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(tuple(names), dtype=object)

    def _checked_array(self, X: Any, first: bool) -> Any:
        """An array of the width of the first one; the ``first`` settles the width, and names.

        Raises
        ------
        ValueError
            As scikit-learn has it.
        """
        if _is_plain(X):
            if first:
                self._settle_columns(X.shape[1])
                return X
            if X.shape[1] == self.n_features_in_ and not self._is_named():
                return X
        return validate_data(
            self,
            X,
            reset=first,
            skip_check_array=_is_plain(X),
            accept_sparse="csr",
            dtype=self.array_dtype,
            ensure_all_finite=False,
            ensure_min_samples=0,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for tag in self.input_tags:
            setattr(tags.input_tags, tag, True)
        tags.input_tags.allow_nan = self._allows_missing()
        return tags


def _is_plain(X: Any) -> bool:
    """Whether cells are numbers in rows and columns, as nearly always: nothing else to check."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype.kind in "biuf"
