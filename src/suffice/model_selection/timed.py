"""How long a fit takes, and what becomes of one that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn

__all__ = ["Training", "timed"]


@dataclass(frozen=True)
class Training:
    """The rows that the model of a fold is fitted to.

    Parameters
    ----------
    fold : int
    labels : array-like (n,) or None
        Of all rows; None where there are none.
    rows : ndarray
        Places of the training rows, or which they are.
    """

    fold: int
    labels: Any
    rows: NDArray[Any]

    def fitted(self, fit: Callable[[], Any]) -> Any:
        """What a fit to these rows returns.

        Raises
        ------
        DataError
            That of the fit, with the fold.
        """
        try:
            return fit()
        except DataError as error:
            raise self._named(error) from None

    def _named(self, error: DataError) -> DataError:
        labels = np.zeros(0) if self.labels is None else np.asarray(self.labels)
        if labels.ndim == 1 and labels.dtype.kind != "f":
            mine = set(labels[self.rows].tolist())
            if len(mine) == 1 < len(set(labels.tolist())):
                return DataError(
                    f"fold {self.fold}: all its training rows, those outside it, are of one class",
                    "a classifier needs two classes or more",
                    "deal the rows to the folds at random, as StratifiedKFold(shuffle=True) does",
                )
        return type(error)(f"fold {self.fold}: {error.fact}", error.rule, error.next_step)


def timed(
    fit: Callable[[], Any], error_score: Any, share: float, training: Training | None = None
) -> tuple[Any, float]:
    """A model, or the error of its fit, and the seconds that it took beside its share of a pass.

    An error names the fold whose training rows are given.

    Raises
    ------
    SufficeError
        If a fit fails and is to raise.
    """
    started = perf_counter()
    try:
        model: Any = fit() if training is None else training.fitted(fit)
    except (DataError, ParameterError) as error:
        if error_score == "raise":
            raise
        warn(f"a fold was not fitted, and its score is {error_score}: {error}")
        model = error
    return model, share + perf_counter() - started
