"""The model of every fold: from sums of the rows outside it, or from these rows.

::

    S(rows outside fold f) = Σ_{g ≠ f} S(fold g) = S(all rows) − S(fold f)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, SchemaError, SufficeError, warn
from suffice.model_selection.folds import Folds, Partition, row_groups
from suffice.model_selection.rows import Rows
from suffice.models.base.groups import ByPlace
from suffice.models.from_sums import FittedFromSums
from suffice.models.grouped_sums import MOST_GROUPS
from suffice.models.opened import Opened

BLOCK = 256  # groups that are taken from a total at a time


def is_of_sums(estimator: Any) -> bool:
    """Return whether the models of folds follow from sums."""
    if not isinstance(estimator, FittedFromSums):
        return False
    try:
        return estimator.method().is_of_sums
    except ParameterError:  # which the fit raises again
        return False


@dataclass(frozen=True)
class FoldModels:
    """The models of an estimator, one for every fold, or the error in the place of one.

    ``seconds`` is the time of each fit; of one pass for many models, each has an equal part.
    ``tested`` are the sums of the rows of every fold, if each row is judged once and the models are
    of sums.
    """

    models: tuple[Any, ...]
    seconds: tuple[float, ...]
    tested: Sequence[Any] | None = None

    @property
    def error(self) -> SufficeError | None:
        """The error of the first fold that could not be fitted."""
        return next((one for one in self.models if isinstance(one, SufficeError)), None)


def require_fits(fits: Sequence[FoldModels], error_score: Any) -> None:
    """Warn of estimators that a fold could not fit; raise if asked, or if none was fitted."""
    errors = [one.error for one in fits if one.error is not None]
    if not errors:
        return
    if error_score == "raise" or all(isinstance(m, Exception) for one in fits for m in one.models):
        raise errors[0]
    for error in errors:
        warn(f"a fold was not fitted, and its score is {error_score}: {error}")


def models_of_folds(
    estimators: Sequence[Any],
    rows: Rows,
    folds: Folds,
    done: Callable[[], object] = lambda: None,
) -> list[FoldModels]:
    """Return the models of every estimator, in their order; the estimators stay as they are.

    Estimators that need the same sums share one pass over the rows. One that is no function of
    sums is fitted to the rows of every fold. ``done`` is called after each fit.
    """
    found: dict[int, FoldModels] = {}
    waiting: dict[int, Opened] = {}
    for i, estimator in enumerate(estimators):
        try:
            if is_of_sums(estimator):
                waiting[i] = Opened.of(estimator, *rows.whole)
            else:
                found[i] = _fitted_to_rows(estimator, rows, folds, done)
        except (DataError, ParameterError, SchemaError) as error:
            found[i] = FoldModels((error,) * len(folds), (0.0,) * len(folds))
    while waiting:
        first = next(iter(waiting.values()))
        alike = [i for i, one in waiting.items() if one.shared == first.shared]
        found |= _from_sums({i: waiting.pop(i) for i in alike}, rows, folds, done)
    return [found[i] for i in range(len(estimators))]


def _fitted_to_rows(
    estimator: Any, rows: Rows, folds: Folds, done: Callable[[], object]
) -> FoldModels:
    models, seconds = [], []
    for f, (train, _) in enumerate(folds):
        started = perf_counter()
        try:
            models.append(estimator.unfitted().fit(*rows.at(train)))
        except DataError as error:
            models.append(_of_fold(error, f, rows, folds))
        seconds.append(perf_counter() - started)
        done()
    return FoldModels(tuple(models), tuple(seconds))


def _from_sums(
    opened: dict[int, Opened], rows: Rows, folds: Folds, done: Callable[[], object]
) -> dict[int, FoldModels]:
    started, first = perf_counter(), next(iter(opened.values()))
    models: dict[int, list[Any]] = {i: [] for i in opened}
    tested = None
    try:
        if isinstance(folds, Partition) and len(folds) <= MOST_GROUPS:
            groups = first.by_group(ByPlace(folds.fold))
            tested = [groups[f].alone() for f in groups]
            sums: Iterator[Any] = (others.alone() for others in groups.others())
        else:
            sums = _training_sums(first, folds, rows.n)
        for f, statistic in enumerate(sums):
            for i, one in opened.items():
                try:
                    models[i].append(one.fitted(statistic))
                except (DataError, ParameterError) as error:
                    models[i].append(_of_fold(error, f, rows, folds))
                done()
    except DataError as error:  # a cell that no sum can hold
        models = {i: [error] * len(folds) for i in opened}
    share = (perf_counter() - started) / (len(opened) * len(folds))
    return {
        i: FoldModels(tuple(of_one), (share,) * len(folds), tested) for i, of_one in models.items()
    }


def _of_fold(error: Any, f: int, rows: Rows, folds: Folds) -> Any:
    """Name the fold in the error of its fit, and say if its training rows are of one class."""
    if not isinstance(error, DataError):
        return error
    if rows.codes is not None:
        train, test = (np.unique(rows.codes[places]) for places in folds[f])
        if len(train) == 1 and len(np.union1d(train, test)) > 1:
            return DataError(
                f"fold {f}: all its training rows, those outside it, are of one class",
                "a classifier needs two classes or more",
                "deal the rows to the folds at random, as StratifiedKFold(shuffle=True) does",
            )
    return type(error)(f"fold {f}: {error.fact}", error.rule, error.next_step)


def _training_sums(opened: Opened, folds: Folds, n: int) -> Iterator[Any]:
    """Yield the sums of every training set, from one pass over 64 groups of rows or fewer.

    A group is the rows that lie in the same training sets. More groups, as in leave-one-out, are
    taken from the total if they are folds; else there is a pass for each fold.
    """
    if isinstance(folds, Partition):
        yield from sums_without(opened, folds.fold, len(folds))
    elif (found := row_groups([train for train, _ in folds], n)) is not None:
        groups = opened.by_group(ByPlace(found[0]))
        yield from (groups.counted(often).alone() for often in found[1])
    else:
        for train, _ in folds:
            group, times = row_groups([train], n, n)  # type: ignore[misc]
            yield opened.by_group(ByPlace(group)).counted(times[0]).alone()


def sums_without(opened: Opened, group: NDArray[np.intp], groups: int) -> Iterator[Any]:
    """Yield the sums of all rows but those of a group, for each: total minus group.

    256 groups at a time are summed in a pass over the table. ``group`` (n,) is −1 for rows that are
    in no sum.
    """
    total = opened.by_group(ByPlace(np.minimum(group, 0)))[0].alone()
    for first in range(0, groups, BLOCK):
        own = np.where((group >= first) & (group < first + BLOCK), group - first, -1)
        block = opened.by_group(ByPlace(own))
        yield from (total - block[g].alone() for g in block)
