"""Rows in memory, by their places, and what models score on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.label_values import is_missing
from suffice.errors import DataError, ParameterError, warn
from suffice.model_selection.rows_at import rows_at

__all__ = ["ChosenRows", "Rows", "Scored", "named_scores", "require_labels"]


@dataclass(frozen=True)
class Rows:
    """A table in memory, with labels or targets.

    Parameters
    ----------
    X, y, groups
        As they were given.
    n : int
        Number of rows.
    """

    X: Any
    y: Any
    groups: Any
    n: int

    @classmethod
    def of(cls, X: Any, y: Any, groups: Any, ignored: Collection[str] = ()) -> Rows:
        """Count the rows, and find groups that are a column.

        Such a column is no feature, whether estimators leave it out already or not.
        """
        if isinstance(X, list):
            X = np.asarray(X)
        n = _number_of_rows(X)
        if isinstance(groups, str):
            name, groups = groups, _column(X, groups)
            if name not in ignored:
                X = _without(X, name)
            if missing := [i for i, value in enumerate(groups) if value is None]:
                raise DataError(
                    f"the column of groups is empty in row {missing[0]}",
                    "every row belongs to a group",
                    "fill it in, or leave the row out",
                )
        return cls(X, y, groups, n)

    @property
    def truth(self) -> Any:
        """Labels or targets, (n,) or (n, t)."""
        return np.array(_column(self.X, self.y)) if isinstance(self.y, str) else self.y

    def scored(
        self, fits: Sequence[Any], places: Sequence[NDArray[np.intp]], scorer: Any, error_score: Any
    ) -> list[Scored]:
        """What the model of every fold scores on some rows."""
        pairs = zip(fits, places, strict=True)
        return [self.part(rows).scored(fit.model, scorer, error_score) for fit, rows in pairs]

    def part(self, places: NDArray[np.intp], weight: Any = None) -> ChosenRows:
        """Some rows, with what they weigh in a score."""
        return ChosenRows(*(rows_at(whole, places) for whole in (self.X, self.truth, weight)))


@dataclass(frozen=True)
class ChosenRows:
    """Some rows of a table, their labels or targets, and what they weigh in a score."""

    x: Any
    y: Any
    weight: Any

    def scored(self, model: Any, scorer: Any, error_score: Any) -> Scored:
        """What a model scores; nothing where there is an error in its place."""
        started = perf_counter()
        if isinstance(model, Exception):
            return Scored(None, 0.0)
        weights = {} if self.weight is None else {"sample_weight": self.weight}
        try:
            found = scorer(model, self.x, self.y, **weights)
        except Exception as error:
            if error_score == "raise":
                raise
            warn(f"a fold has no score: {error}")
            return Scored(None, perf_counter() - started, str(error))
        scores = found if isinstance(found, dict) else {"score": found}
        for name, score in scores.items():
            if isinstance(score, str):  # what went wrong
                warn(f"a fold has no {name}: {score.strip().splitlines()[-1]}")
        known = {
            name: error_score if isinstance(score, str) else score for name, score in scores.items()
        }
        return Scored(known, perf_counter() - started)


@dataclass(frozen=True)
class Scored:
    """Scores by name, None where there are none; the seconds that they took; what went wrong."""

    scores: dict[str, Any] | None
    seconds: float
    error: str = ""


def named_scores(
    part: str, found: Sequence[Scored], error_score: Any
) -> dict[str, NDArray[np.float64]]:
    """Scores of every fold, by name, as scikit-learn calls them.

    Raises
    ------
    DataError
        If no fold has a score.
    """
    known = [one.scores for one in found if one.scores is not None]
    if not known:
        errors = [one.error.removesuffix(".") for one in found if one.error]
        raise DataError("no fold has a score", errors[0] if errors else "none was fitted")
    return {
        f"{part}_{name}": np.array(
            [error_score if one.scores is None else one.scores[name] for one in found]
        )
        for name in known[0]
    }


def _number_of_rows(X: Any) -> int:
    if isinstance(X, Mapping):
        return len(next(iter(X.values())))
    if hasattr(X, "num_rows"):
        return int(X.num_rows)
    if hasattr(X, "shape"):
        return int(X.shape[0])
    raise ParameterError(
        f"X is {type(X).__name__}",
        "folds are made of rows in memory: an array, a frame, a dict of columns",
        "read the table first",
    )


def _column(X: Any, name: str) -> list[Any]:
    """The cells of a column of a table in memory."""
    try:
        column = X[name]
    except (KeyError, IndexError, TypeError):
        raise ParameterError(f"there is no column {name!r}", "it names a column of X") from None
    cells: list[Any] = (column if hasattr(column, "to_pylist") else pa.array(column)).to_pylist()
    return cells


def _without(X: Any, name: str) -> Any:
    """A table in memory without a column."""
    if isinstance(X, Mapping):
        return {other: column for other, column in X.items() if other != name}
    if hasattr(X, "drop_columns"):
        return X.drop_columns([name])
    return X.drop(columns=name) if hasattr(X, "iloc") else X.drop(name)


def require_labels(y: Any) -> None:
    """Refuse a row without a label.

    Raises
    ------
    DataError
        Naming the first.
    """
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind in "biuSU":
        return
    for row in [i for i, label in enumerate(y.tolist()) if is_missing(label)][:1]:
        raise DataError(
            f"label, row {row}: {y[row]}",
            "a row is judged by its label",
            "leave out rows without one, or use evaluate_folds, which does so",
        )
