"""Learning curves from running sums: what models would have learnt from fewer rows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError
from suffice.families.options import check_boolean
from suffice.models.base.evaluated_rows import evaluation
from suffice.models.base.evaluation import Evaluation
from suffice.models.base.fold_sums import placed as counted
from suffice.models.base.options import generator
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.running_sums import bound_of, knowing, learnt, running_sums, without
from suffice.numerics.in_html import html_table
from suffice.numerics.in_print import aligned
from suffice.statistics.batch import Batch
from suffice.statistics.statistic import tree_sum
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["LearningCurve", "learning_curve_from_statistics"]

HEADER = ["rows learnt", "accuracy", "log loss"]
FOLDS = 5  # where neither folds nor held-out rows are asked for
EVERY_ROW = range(sys.maxsize)  # of a table of any length


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """How well models predict that have learnt more and more rows.

    Parameters
    ----------
    sizes : ndarray of int (S,)
        Numbers of training rows s.
    models : tuple of S GenerativeClassifier
        Fitted to the first s rows.
    folds : tuple of S tuples of Evaluation
        What each model scored on the held-out rows, one evaluation each; with folds, what the
        models without them scored on every fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve_from_statistics(
    ...     GaussianNB(), X, y, train_sizes=[20, 60, 120], shuffle=True, random_state=0
    ... )
    >>> curve.sizes.tolist(), len(curve.models), len(curve.folds[0])
    ([20, 60, 120], 3, 5)
    """

    sizes: NDArray[np.intp]
    models: tuple[GenerativeClassifier, ...]
    folds: tuple[tuple[Evaluation, ...], ...]

    def __repr__(self) -> str:
        return "\n".join(aligned([HEADER, *self._rows()]))

    def _repr_html_(self) -> str:
        return html_table("Learning curve", HEADER, self._rows(), self.accuracy.tolist())

    def _rows(self) -> list[list[str]]:
        scores = zip(self.sizes.tolist(), self.accuracy, self.log_loss, strict=True)
        return [[f"{size:,}", f"{right:.4f}", f"{loss:.4f}"] for size, right, loss in scores]

    @cached_property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The evaluations of all folds together, one for every size."""
        return tuple(map(tree_sum, self.folds))

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Share of the rows whose label is predicted, (S,)."""
        return np.array([found.accuracy for found in self.evaluations])

    @property
    def log_loss(self) -> NDArray[np.float64]:
        """Mean of −log P(y | x), in nats, (S,); ∞ where a true label was held impossible."""
        return np.array([found.log_loss for found in self.evaluations])

    @property
    def test_scores(self) -> NDArray[np.float64]:
        """Accuracy in each fold, (S, folds), as scikit-learn's ``learning_curve`` returns it."""
        return np.array([[found.accuracy for found in folds] for folds in self.folds])


def learning_curve_from_statistics(
    model: GenerativeClassifier,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    train_sizes: ArrayLike = (0.1, 0.325, 0.55, 0.775, 1.0),
    test: tuple[Any, ...] | None = None,
    cv: int | None = None,
    shuffle: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> LearningCurve:
    """Fit a model to more and more rows, each of which is summarised once, and score it.

    ::

        S(first s₂ rows) = S(first s₁ rows) + S(rows s₁ to s₂)

    A model is a function of such a sum, so it is, to the last bit, the one that `fit` learns from
    these rows with the columns read as they are in the whole table. With k folds, the model of
    size s has learnt the first s rows outside the fold: a sum of first rows less that of the fold.

    Parameters
    ----------
    model : GenerativeClassifier
        Its options; it is left as it is.
    X, y, sample_weight
        The rows in their order, as for `GenerativeClassifier.fit`.
    train_sizes : array-like (S,)
        Whole numbers of rows, or fractions, more than 0 and at most 1, of the rows to learn from;
        increasing.
    test : tuple (X, y) or (X, y, sample_weight), optional
        Held-out rows, read once.
    cv : int, optional
        Number of folds of consecutive rows, on which to score where there are no held-out rows;
        5 by default.
    shuffle : bool
        Put the rows of a table in memory in random order first.
    random_state : int or numpy.random.Generator, optional
        Seed of that order.

    Returns
    -------
    LearningCurve

    Raises
    ------
    ParameterError
        If sizes or folds are outside their rules, or the rows of a file are to be shuffled.
    DataError
        If a cell breaks a rule, as in `fit`; or if the rows to learn from, or to score on, have no
        label.

    Notes
    -----
    scikit-learn's ``learning_curve`` with ``KFold(cv)`` has the same folds and sizes, and fits
    S · cv models from the rows. A label that the first s rows do not show is known to the others,
    and impossible to the model of size s: its rows are predicted wrongly, their log loss is ∞.
    Fractions and folds need the number of rows; those of a file are counted first.

    Source: F. J. Provost, D. Jensen, T. Oates, Efficient progressive sampling (KDD 1999).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve_from_statistics(
    ...     GaussianNB(), X, y, train_sizes=[20, 60, 120], shuffle=True, random_state=0
    ... )
    >>> curve.test_scores.shape
    (3, 5)
    >>> curve.models[0].class_count_.sum()
    np.float64(20.0)
    """
    if not isinstance(model, GenerativeClassifier):
        raise ParameterError(
            f"{type(model).__name__} is no classifier of suffice",
            "the models of a curve are functions of one statistic",
            "use learning_curve of scikit-learn",
        )
    check_boolean(shuffle=shuffle)
    asked, k = _numbers(train_sizes), _number_of_folds(test, cv)
    learner = model.unfitted()
    reader, source = learner._open_first(X, y, sample_weight)
    engine = learner._engine_for(source)
    splits = source.splits(reader.layout, engine.workers)
    if shuffle:
        n = sum(split.count() for split in splits)
        source = source.take(generator(random_state).permutation(n))
        splits = source.splits(reader.layout, engine.workers)

    placed = counted(splits) if k or asked.dtype.kind == "f" else []
    folds = _folds(placed[-1].stop, k) if k else []
    most = placed[-1].stop - max(map(len, folds), default=0) if placed else None
    sizes = _sizes(asked, most)
    bounds = {*sizes, *(bound_of(s, fold) for s in sizes for fold in folds)}
    bounds |= {edge for fold in folds for edge in (fold.start, fold.stop)}
    first = running_sums(splits, reader.parts, reader.layout, sorted(bounds))

    models = tuple(learnt(learner, reader, first[s], s) for s in sizes)
    every = first[max(bounds)].classes
    if test is None:
        trials = [
            _Trial(
                fold, [learnt(learner, reader, without(fold, s, first), s) for s in sizes], every
            )
            for fold in folds
        ]
        return LearningCurve(np.array(sizes), models, _scored(engine, placed, trials))
    held_out = models[0]._open_labelled(*(*test, None)[:3])
    trials = [_Trial(EVERY_ROW, models, every)]
    splits = held_out.splits(models[0]._layout_to_answer(), engine.workers)
    return LearningCurve(np.array(sizes), models, _scored(engine, splits, trials))


# -- what is asked for


def _number_of_folds(test: Any, cv: Any) -> int:
    """Number of folds; none with held-out rows."""
    if test is not None and cv is not None:
        raise ParameterError(
            "test and cv are both given",
            "models are scored on held-out rows or on folds",
            "leave one of them out",
        )
    if test is not None:
        if not (isinstance(test, tuple) and len(test) in (2, 3)):
            raise ParameterError(
                "test is no pair", "held-out rows are (X, y) or (X, y, sample_weight)"
            )
        return 0
    k = FOLDS if cv is None else cv
    if not isinstance(k, Integral) or int(k) < 2:
        raise ParameterError(f"cv={cv!r}", "the number of folds is a whole number, 2 or more")
    return int(k)


def _folds(n: int, k: int) -> list[range]:
    """The rows of k folds of n consecutive rows, the first n mod k of them longer by one."""
    if k > n:
        raise ParameterError(f"cv={k} for {n} rows", "every fold has a row at least")
    edges = [fold * (n // k) + min(fold, n % k) for fold in range(k + 1)]
    return [range(*pair) for pair in pairwise(edges)]


def _numbers(train_sizes: Any) -> NDArray[Any]:
    asked = np.asarray(train_sizes)
    if asked.ndim != 1 or not asked.size or asked.dtype.kind not in "iuf":
        raise ParameterError(
            f"train_sizes={train_sizes!r}", "it lists whole numbers of rows, or fractions of them"
        )
    return asked


def _sizes(asked: NDArray[Any], most: int | None) -> list[int]:
    """Numbers of training rows; ``most`` of them there are, as far as that is known."""
    fraction = asked.dtype.kind == "f"
    largest = 1 if fraction else most
    bad = ~(asked > 0) | (False if largest is None else asked > largest)
    if bad.any():
        rule = "a fraction is more than 0 and at most 1" if fraction else "a size is 1 row or more"
        if most is not None:
            rule += f", of the {most} rows to learn from"
        raise ParameterError(f"train_sizes has {asked[bad][0]}", rule)
    sizes = [max(1, int(size * (most or 0))) if fraction else int(size) for size in asked]
    for one, other in pairwise(sizes):
        if other <= one:
            raise ParameterError(
                f"train_sizes asks for {one} rows and then for {other}", "sizes increase"
            )
    return sizes


# -- scoring


class _Trial:
    """Consecutive rows, and the models to be scored on them, which shall know all classes."""

    def __init__(
        self, rows: range, models: Iterable[GenerativeClassifier], classes: Vocabulary
    ) -> None:
        self.rows = rows
        self.models = [knowing(model.model_, classes) for model in models]


@dataclass(frozen=True)
class _Held:
    """A batch as a split: rows from ``start`` on of another."""

    split: Split
    start: int
    batch: Batch

    def batches(self) -> Iterator[Batch]:
        yield self.batch

    def count(self) -> int:
        return self.batch.rows

    def locate(self, row: int) -> str:
        return self.split.locate(self.start + row)


def _scored(
    engine: Engine, splits: Sequence[Split], trials: list[_Trial]
) -> tuple[tuple[Evaluation, ...], ...]:
    """Evaluate every model on the rows of its trial, size by size, in one pass over the rows."""
    scores: dict[tuple[int, int], Evaluation] = {}
    for part in engine.map(_score, trials, splits):
        _add(scores, part)
    for f, trial in enumerate(trials):
        if (0, f) not in scores or not scores[0, f].weight:
            rows = "the held-out rows" if trial.rows is EVERY_ROW else f"fold {f}"
            raise DataError(
                f"{rows}: there is no labelled row whose weight is not zero",
                "an evaluation needs at least one",
                "check the label column and the weights",
            )
    sizes, folds = range(len(trials[0].models)), range(len(trials))
    return tuple(tuple(scores[i, f] for f in folds) for i in sizes)


def _score(split: Split, trials: list[_Trial]) -> dict[tuple[int, int], Evaluation]:
    """Kernel: what the models of the trials score on the rows of a split, by size and trial."""
    scores: dict[tuple[int, int], Evaluation] = {}
    first, done = getattr(split, "first", 0), 0
    for batch in split.batches():
        for f, trial in enumerate(trials):
            start = max(trial.rows.start - first - done, 0)
            stop = min(trial.rows.stop - first - done, batch.rows)
            if start < stop:
                part = _Held(split, done + start, batch.cut(start, stop))
                found = {
                    (i, f): evaluation(part, model, ranked=True)
                    for i, model in enumerate(trial.models)
                }
                _add(scores, found)
        done += batch.rows
    return scores


def _add(
    scores: dict[tuple[int, int], Evaluation], more: Mapping[tuple[int, int], Evaluation]
) -> None:
    for key, found in more.items():
        scores[key] = scores[key] + found if key in scores else found
