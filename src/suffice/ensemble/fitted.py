"""An average of fitted classifiers: the mean of their probabilities, and how it is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Column, Layout
from suffice.data.source import Part, each_batch
from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.ensemble.candidates import Candidate, Candidates
from suffice.errors import DataError, ParameterError
from suffice.linear_model import LogisticRegression
from suffice.models.base.answers import Doubts, Predictions, label_sets
from suffice.models.base.saved import SavedClassifier
from suffice.models.classifier import Classifier, costs_of
from suffice.models.estimator import Kind, answers_by_batch, entries_of, fitted, restored
from suffice.models.explanation import Asked, Evidence
from suffice.models.generative.model import GenerativeModel
from suffice.models.logistic.model import LogisticModel
from suffice.models.reading import LabelReader, row_by_name, settle_columns
from suffice.naive_bayes import NaiveBayes
from suffice.naive_bayes.aode import AODE
from suffice.numerics.elementary import exp, log, log_of
from suffice.numerics.logspace import log_normalise, log_sum_exp
from suffice.rules import rule
from suffice.sums.batch import Batch, scored_rows
from suffice.sums.block import BadCell
from suffice.sums.vocabulary import Vocabulary
from suffice.tree import named

NARROW = 1e-2  # where (1 − exp(−w))/w is a short series

Member: TypeAlias = GenerativeModel | LogisticModel
"""A fitted model of classes."""


@dataclass(frozen=True)
class AveragedModel:
    """Models of the same classes, and the mean of their probabilities, weighted by shares v (M,).

    The layout has the blocks of all members, one member's after another's.
    """

    members: tuple[Member, ...]
    shares: NDArray[np.float64]
    layout: Layout

    @property
    def classes(self) -> Vocabulary:
        """The k labels."""
        return self.members[0].classes

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """Equal probabilities, for an impossible row; there is none."""
        return np.full(len(self.classes), -log_of(len(self.classes)))

    @cached_property
    def known_values(self) -> dict[str, Vocabulary]:
        """The values of columns that are categories, or texts, to all members that read them."""
        known = {name: v for member in self.members for name, v in member.known_values.items()}
        read = {name for m in self.members for name in {*m.layout.names} - m.known_values.keys()}
        return {name: values for name, values in known.items() if name not in read}

    def log_posterior(self, batch: Batch, hidden: Collection[str] = ()) -> NDArray[np.float64]:
        """Return log P(c | x) = log Σ_m v_m P_m(c | x) of every row, (n, k)."""
        logs = np.stack(list(self._of_members(batch, hidden)), axis=-1)
        n, k, m = logs.shape
        total = log_sum_exp((logs + log(self.shares)).reshape(n * k, m)).reshape(n, k)
        return log_normalise(total, self.log_prior)[0]

    log_joint = log_posterior  # what `evaluation` asks a model for

    def posterior(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(c | x) of every row, (n, k)."""
        return exp(self.log_posterior(batch))

    def best(self, batch: Batch) -> NDArray[np.intp]:
        """Return the code of the most probable class of every row, (n,)."""
        return np.asarray(self.log_posterior(batch).argmax(axis=1))

    def answers(self, batch: Batch, proba: bool = False) -> Predictions:
        """The most probable class of every row, and the probabilities of all, if asked for."""
        logs = self.log_posterior(batch)
        return Predictions(logs.argmax(axis=1), exp(logs) if proba else None)

    def revealed(self, batch: Batch) -> NDArray[np.float64]:
        """Return the change of log P(c | x) where a column is revealed, (n, 1 + d, k).

        The mean of two orders: that of the table, and the reverse. First stands log P(c) before
        any column is revealed.
        """
        names = list(self.layout.names)
        start = self.log_posterior(batch, names)
        found = np.zeros((batch.rows, 1 + len(names), start.shape[1]))
        found[:, 0] = start
        for order in (range(len(names)), reversed(range(len(names)))):
            hidden, before = set(names), start
            for j in order:
                hidden.discard(names[j])
                after = self.log_posterior(batch, hidden)
                found[:, 1 + j] += (after - before) / 2
                before = after
        return found

    def by_member(self, batch: Batch) -> NDArray[np.float64]:
        """Return log P(c) before any cell, and what each member adds, (n, 1 + M, k)."""
        before, after = (
            np.stack(list(self._of_members(batch, hidden)), axis=1)
            for hidden in (list(self.layout.names), ())
        )
        start, end = self.log_posterior(batch, list(self.layout.names)), self.log_posterior(batch)
        top, width = np.maximum(start, end), np.abs(end - start)
        series = 1 - width / 2 * (1 - width / 3 * (1 - width / 4 * (1 - width / 5)))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(width < NARROW, series, (1 - exp(-width)) / width)
            moved = exp(after - top[:, None]) - exp(before - top[:, None])
        found = np.nan_to_num(self.shares[:, None] * moved / mean[:, None])
        return np.concatenate([start[:, None], found], axis=1)

    def _of_members(self, batch: Batch, hidden: Collection[str]) -> Iterator[NDArray[np.float64]]:
        """The log-probabilities of every member, each of its own blocks."""
        first = 0
        for member in self.members:
            own = replace(batch, blocks=batch.blocks[first : first + len(member.layout.blocks)])
            try:
                yield member.partial_log_posterior(own, hidden)
            except BadCell as bad:
                bad.block += first
                raise
            first += len(own.blocks)


def joint_layout(layouts: Sequence[Layout]) -> Layout:
    """Return the layout that reads the blocks of several models at once.

    A column that some of them read is known; one that all leave out is ignored.
    """
    columns: dict[str, Column] = {}
    for layout in layouts:
        columns = {column.name: column for column in layout.columns} | columns
    ignored = dict.fromkeys(name for layout in layouts for name in layout.ignored)
    return replace(
        layouts[0],
        blocks=tuple(block for layout in layouts for block in layout.blocks),
        columns=tuple(columns.values()),
        ignored=tuple(name for name in ignored if name not in columns),
    )


Answer = Callable[[AveragedModel, Batch], NDArray[Any]]
"""A function of a model and the rows of a batch."""


def answered(part: Part, params: tuple[AveragedModel, Answer]) -> list[NDArray[Any]]:
    """Kernel of a prediction: the answers of a part, batch by batch."""
    model, answer = params
    rows = scored_rows(len(model.classes))
    return list(each_batch(part, model.layout, lambda batch: answer(model, batch), rows))


MEMBERS: Mapping[str, type[Classifier]] = {
    cls.__name__: cls
    for cls in (
        NaiveBayes,
        AODE,
        LogisticRegression,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
}
SAVED: dict[str, type] = {
    **{name: kind for cls in MEMBERS.values() for name, kind in (cls.kind.types or {}).items()},
    **named(Candidate, Doubts),
}
"""The types that the file of an average may hold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedAverage(SavedClassifier):
    """The entries and kind of every member, all candidates, and the doubts of held-out rows."""

    members: tuple[dict[str, Any], ...]
    judged: tuple[Candidate, ...]
    doubts: Doubts

    @property
    def labels(self) -> tuple[Vocabulary, ...]:
        """None: those of the members are checked where they are restored."""
        return ()

    @rule("every member has a share above 0, and these add up to 1")
    def _has_shares(self) -> bool:
        shares = [one.weight for one in self.judged if one.weight]
        whole = abs(sum(shares) - 1) < 1e-9
        return len(shares) == len(self.members) and min(shares, default=0) > 0 and whole

    @rule("there is a member, and each is of a kind that can be averaged")
    def _has_members(self) -> bool:
        return len(self.members) > 0 and all(
            isinstance(entries, dict) and entries.get("kind") in MEMBERS for entries in self.members
        )


class FittedAverage(Classifier):
    """Classifiers that are averaged.

    Attributes
    ----------
    members_ : tuple of estimator
    candidates_ : Candidates
        What they were chosen from.
    model_ : AveragedModel
        All that a prediction needs.
    doubts_ : Doubts
        How doubtful the classes of rows were that the candidates had not learnt.
    """

    kind = Kind(
        name="average of classifiers",
        mixins=("ClassifierMixin",),
        tags=("categorical", "string"),
        dtype=None,
        saved=SavedAverage,
        types=SAVED,
        tables=lambda self: self.candidates_._repr_html_(),
    )
    members_: tuple[Classifier, ...]
    candidates_: Candidates
    model_: AveragedModel
    doubts_: Doubts

    def _average(
        self, members: Sequence[Classifier], shares: NDArray[np.float64], doubts: Doubts
    ) -> None:
        """Answer by the mean of what these say, each with its share."""
        first = members[0]
        if any(member.model_.classes != first.model_.classes for member in members):
            raise DataError(
                "the candidates have learnt rows of different classes",
                "the mean is one of probabilities of the same classes",
                "leave out the classes of few rows, or name the candidates",
            )
        self.members_, self.doubts_ = tuple(members), doubts
        settle_columns(self, first.n_features_in_, vars(first).get("feature_names_in_"))
        layout = joint_layout([member.reader_.to_answer for member in members])
        dtype, single = first.reader_.label_dtype, first.reader_.single
        self.reader_ = LabelReader(layout, first.reader_.format, dtype, single=single)
        models = tuple(member.model_ for member in members)
        self.model_ = AveragedModel(models, shares, layout)

    # -- predicting

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""
        return self._answered(X, AveragedModel.posterior)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k)."""
        return self._answered(X, AveragedModel.log_posterior)

    def predict_set(
        self, X: Any, *, coverage: float = 0.9, allow_empty: bool = True
    ) -> NDArray[np.bool_]:
        """Return the classes that are not to be excluded, (n, k), in the order of ``classes_``.

        As `NaiveBayes.predict_set` does, from the rows that the candidates were judged on: each was
        asked of models that had not learnt it.

        Parameters
        ----------
        X : table (n, d)
        coverage : float
            How often the class of a new row is in its set, above 0 and below 1.
        allow_empty : bool
            Whether a set may be empty, as some are where the most probable class is right more
            often than that. If not, the most probable class is always in.

        Raises
        ------
        ParameterError
            If coverage is no fraction, or ``allow_empty`` neither True nor False.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from suffice import AutoClassifier
        >>> X, y = load_wine(return_X_y=True)
        >>> model = AutoClassifier(["naive-bayes", "lda"]).fit(X[::2], y[::2])
        >>> sets = model.predict_set(X[1::2], coverage=0.9)
        >>> float(sets[range(len(sets)), y[1::2]].mean()).__round__(2)
        0.89
        """
        fitted(self)
        return label_sets(self.predict_proba(X), self.doubts_, coverage, allow_empty)

    def explain(self, X: Any, by: str = "columns") -> Evidence:
        """Return what every column, or member, adds to the logarithms of the probabilities.

        ::

            e_j = ½ Σ_o [log P(c | x_j and the cells before j in o) − log P(c | those before)]
            e_m = v_m [P_m(c | x) − P_m(c)] / L,   L = [P(c | x) − P(c)] / [log P(c | x) − log P(c)]

        over two orders o of the columns, that of the table and its reverse. P is the weighted mean
        of the members'; what is not revealed is missing, and P(c) is that of no cell. Of either
        kind, contributions add up to log P(c | x) − log P(c) exactly: L is the logarithmic mean.
        How the sum is shared among columns depends on this choice of orders.

        Parameters
        ----------
        X : table (n, d)
        by : {"columns", "members"}

        Raises
        ------
        ParameterError
            If ``by`` is outside its rule.

        Source: of members, the logarithmic mean Divisia index: B. W. Ang, F. Q. Zhang, K.-H. Choi,
        Factorizing changes in energy and environmental indicators through decomposition (Energy 23,
        1998).

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import AutoClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> model = AutoClassifier(["naive-bayes", "logistic"]).fit(X, X[:, 0] > 0)
        >>> evidence = model.explain(X[:5])
        >>> bool(np.allclose(evidence.probabilities, model.predict_proba(X[:5])))
        True
        >>> members = model.explain(X[:5], by="members")
        >>> sorted(members.columns)
        ['logistic', 'naive-bayes']
        >>> bool(np.allclose(members.log_joint, model.predict_log_proba(X[:5])))
        True
        """
        answers = {"columns": AveragedModel.revealed, "members": AveragedModel.by_member}
        if by not in answers:
            raise ParameterError(f"by={by!r}", "it is 'columns' or 'members'")
        model = fitted(self)
        parts = answers_by_batch(self, X, answered, (model, answers[by]), 1)
        found = np.concatenate(parts)
        prior = found[0, 0] if len(found) else model.log_prior
        if by == "members":
            names = tuple(one.name for one in self.candidates_ if one.weight)
            return Evidence(names, model.classes.values, prior, found[:, 1:])
        of = tuple(model.layout.names), model.classes.values
        return Evidence(*of, prior, found[:, 1:], asked=Asked(copy(self), X))

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return self._answered(X, AveragedModel.best)

    def _answered(self, X: Any, answer: Answer) -> NDArray[Any]:
        model = fitted(self)
        row = row_by_name(self, X)
        if row is not None:
            return answer(model, row)
        return np.concatenate(answers_by_batch(self, X, answered, (model, answer)))

    def _interval_ends(self, level: float) -> Any:
        raise ParameterError(
            "the answers are means of those of several models",
            "an interval is one of the parameters of a single model",
            "ask a member of members_",
        )

    # -- keeping

    def _kept(self) -> dict[str, Any]:
        costs_of(self, self.costs)  # with others no file could be read
        dtype = self.reader_.label_dtype
        return {
            # A column is in one block of the layout of a file; the members' are put together.
            "layout": self.members_[0].reader_.layout,
            "label_dtype": None if dtype is None else dtype.str,
            "members": tuple(
                {"kind": type(member).__name__, **entries_of(member)} for member in self.members_
            ),
            "judged": tuple(self.candidates_),
            "doubts": self.doubts_,
        }

    def _restore(self, saved: SavedAverage) -> None:
        self.candidates_ = Candidates(saved.judged)
        shares = np.array([one.weight for one in saved.judged if one.weight])  # as members are
        contents = [dict(entries) for entries in saved.members]
        members = [restored(MEMBERS[content.pop("kind")], content) for content in contents]
        self._average(members, shares, saved.doubts)
        costs_of(self, self.costs)
