"""A classifier that chooses among models of different kinds, and averages the best."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.frames.memory import FrameTable
from suffice.data.open import distributed_table, open_table
from suffice.data.spelled import spelled
from suffice.data.table import KEPT, KeptTable, Table, WithoutColumns
from suffice.data.table_source import innermost
from suffice.engines.engine import fit_context
from suffice.engines.progress import fits_watched
from suffice.ensemble.candidates import (
    CANDIDATES,
    Candidate,
    Candidates,
    HeldOut,
    Roles,
    Size,
    held_out,
    left_out,
    naive_bayes,
    planned,
)
from suffice.ensemble.fitted import (
    MEMBERS,
    SAVED,
    AveragedModel,
    SavedAverage,
    joint_layout,
)
from suffice.errors import DataError, ParameterError, SufficeError, warn
from suffice.model_selection.rows import MemoryRows, Rows, TableRows, is_table
from suffice.models.base.answers import Doubts, label_sets
from suffice.models.base.checks import is_array
from suffice.models.classifier import Classifier, costs_of
from suffice.models.estimator import Kind, answers_by_batch, entries_of, fitted, restored
from suffice.models.explanation import Asked, Evidence
from suffice.models.optimise.nonnegative_newton import Value, nonnegative_minimum
from suffice.models.reading import LabelReader, settle_columns
from suffice.naive_bayes import NaiveBayes
from suffice.numerics.elementary import exp, log
from suffice.numerics.in_print import listed
from suffice.numerics.logspace import row_sums
from suffice.sums.by_class import ByClass
from suffice.sums.moments import Moments
from suffice.sums.row_sample import Sampled

DRAWN_TOGETHER = 1.0  # a, in rows


def shares(log_p: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shares (M,) of M members, by Newton's method.

    ::

        max  Σ_i ω_i log Σ_m v_m P_m(y_i | x_i) + a Σ_m log v_m,   v_m ≥ 0,  Σ_m v_m = 1,  a = 1

    The second term draws the shares towards equal ones, as if every member had answered a row
    alone.

    Parameters
    ----------
    log_p : ndarray (n, M)
        log P_m(y_i | x_i), finite.
    weights : ndarray (n,)
        ω of the rows.

    Source: Y. Yao, A. Vehtari, D. Simpson, A. Gelman, Using stacking to average Bayesian predictive
    distributions (Bayesian Analysis 13, 2018), eq. 2.4; D. H. Wolpert, Stacked generalization
    (Neural Networks 5, 1992).

    Examples
    --------
    Nine rows of ten are better answered by the first member:

    >>> log_p = np.log([[0.9, 0.5]] * 90 + [[0.1, 0.5]] * 10)
    >>> shares(log_p, np.ones(100)).round(2)
    array([0.92, 0.08])
    >>> shares(log_p, np.zeros(100)).tolist()
    [0.5, 0.5]
    """
    m = log_p.shape[1]
    p = exp(log_p - log_p.max(axis=1, keepdims=True)) if len(log_p) else log_p
    total = float(weights.sum()) + m * DRAWN_TOGETHER  # the multiplier of Σ v = 1

    def penalised(v: NDArray[np.float64]) -> Value:
        answered = row_sums(p * v)
        ratio = p / answered[:, None]
        value = total * v.sum() - (weights * log(answered)).sum() - DRAWN_TOGETHER * log(v).sum()
        gradient = total - np.einsum("i,im->m", weights, ratio) - DRAWN_TOGETHER / v
        curvature = np.einsum("i,il,im->lm", weights, ratio, ratio)
        return Value(float(value), gradient, curvature + np.diag(DRAWN_TOGETHER / v**2))

    with np.errstate(divide="ignore", invalid="ignore"):  # a share of 0 costs infinitely much
        v = nonnegative_minimum(penalised, np.full(m, 1 / m))
    return np.asarray(v / v.sum())


def members(
    log_p: NDArray[np.float64], weights: NDArray[np.float64], most: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the candidates that are averaged, ``most`` of M, and their shares.

    All have shares; the candidate whose share is the least leaves, and the others have shares anew,
    until so few are left. A candidate that says again what a better one has said leaves early; the
    best by themselves may be three that agree.

    Parameters
    ----------
    log_p : ndarray (n, M)
        log P_m(y_i | x_i), finite.
    weights : ndarray (n,)
        ω of the rows.
    most : int
        1 or more.

    Examples
    --------
    The second says what the first does; the third knows the other rows:

    >>> p = np.array([[0.9, 0.8, 0.3]] * 60 + [[0.2, 0.2, 0.7]] * 40)
    >>> places, v = members(np.log(p), np.ones(100), 2)
    >>> places.tolist(), v.round(2).tolist()
    ([0, 2], [0.63, 0.37])
    """
    places = np.arange(log_p.shape[1])
    while True:
        v = shares(log_p[:, places], weights)
        if len(places) <= most:
            return places, v
        places = np.delete(places, v.argmin())


@dataclass(repr=False, eq=False)
class AutoClassifier(Classifier):
    """Models of different kinds, judged on rows that they have not learnt; the best, averaged.

    ::

        P(c | x) = Σ_m v_m P_m(c | x)

    over M = ``best`` candidates. The shares v maximise the probability of the labels of held-out
    rows (stacking); while there are more than M, the one of least share leaves. Candidates are
    naive Bayes with chosen families and weights of columns, or the same beside one-dependence
    estimators (AODE); logistic regression of numbers and of bins, and discriminant analysis,
    linear and quadratic. They are judged by 10 folds, 5 or 3: the most for which all fits are
    foreseen to take 2.7 s on one core, or 12 s of more than 1,000 rows or 100 columns. Candidates
    for which there is no time are dropped, unless ``candidates`` names them. A fold is fitted to
    200,000 rows at most; of more than 6,000 rows, folds are judged until 6,000 rows are. The
    members are then fitted to all rows. Quadratic discriminant analysis is no candidate where there
    are more than 2,000 rows and more categories than numbers. A candidate that cannot learn the
    table is left out: ``candidates_`` says which, and why.

    Parameters
    ----------
    candidates : sequence of str, optional
        Of "naive-bayes", "aode", "logistic", "logistic-bins", "lda", "qda", and "qda-light", whose
        covariances are shrunk by 0.03; by default all.
    best : int
        How many of them are averaged, at most.
    categorical, text : sequence of str, optional
        Columns that are categories or texts, whatever their cells suggest.
    seconds : float, optional
        How long all fits may take on one core, as foreseen to a factor of two from rows, columns
        and classes; by default as above. Candidates for which there is no time are dropped.
    random_state : int
        Seed of the order in which rows are dealt to folds.
    costs : array (k, k), optional
        ``costs[i][j]`` is the cost of answering label j where i is true; `predict` answers the
        label of least expected cost.

    Attributes
    ----------
    candidates_ : Candidates
        All candidates with their log loss and share, the best first; ``candidates_.best`` is the
        best single model, which ``candidates=[candidates_.best.name]`` fits alone.
    members_ : tuple of estimator
        Those that are averaged, fitted to all rows.
    classes_ : ndarray (k,)
        Labels, sorted.

    Source: the mean of probabilities instead of the one best model: L. Breiman, Stacked
    regressions (Machine Learning 24, 1996), section 6; P. Domingos, Why does bagging work? (1997).
    The shares: see `suffice.ensemble.auto.shares`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from suffice import AutoClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AutoClassifier().fit(X[::2], y[::2])
    >>> sorted(one.name for one in model.candidates_ if one.weight)
    ['aode', 'lda', 'qda']
    >>> float(model.score(X[1::2], y[1::2])).__round__(3)
    0.966
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

    candidates: Sequence[str] | None = None
    best: int = 3
    categorical: Sequence[str] | None = None
    text: Sequence[str] | None = None
    random_state: int = 0
    seconds: float | None = None
    costs: Any = None

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Judge the candidates, and fit the best to all rows.

        Parameters
        ----------
        X : table (n, d)
            As `NaiveBayes.fit` takes it.
        y : array-like (n,) or str
            Labels, or the name of the column that holds them. A row without a label is left out.
        sample_weight : array-like (n,) or str, optional
            Row weights, 0 or more, or the name of their column. They are relative in naive Bayes
            and AODE (see `NaiveBayes`); elsewhere weight 2 is two rows. Copies of a row are judged
            in one fold.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If no candidate can learn this table.
        ParameterError
            If an option is outside its rule.
        """
        self._check_options()
        label = y if isinstance(y, str) else None
        X = _reread(X, label)
        rows = X, y, sample_weight
        with fit_context(self):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those that are fitted to all rows warn again
                roles = Roles(self.categorical, self.text)
                # Rows that a first model of Gaussians and categories refuses, every candidate does.
                first = naive_bayes(roles, numbers="gaussian").fit(*rows)
                size = _size(first)
                identifiers = () if is_array(X) else first.model_.identifiers
                names, folds = planned(self.candidates, size, self.best, self.seconds)
                learners = {name: CANDIDATES[name].make(roles) for name in names}
                placed, hashes = _placed(rows, identifiers, first.statistic_)
                found = held_out(learners, placed, hashes, folds, self.random_state)
            if self.candidates is None:
                found |= {
                    name: left_out(name, names, folds, size)
                    for name in CANDIDATES
                    if name not in names
                }
            judged = {name: Candidate.of(name, one) for name, one in found.items()}
            order = [one.name for one in judged.values() if one.refusal is None]
            order.sort(key=lambda name: judged[name].log_loss)
            if not order:
                raise next(one for one in found.values() if isinstance(one, SufficeError))
            held = [one for name in order if isinstance(one := found[name], HeldOut)]
            log_p, weights = np.stack([one.log_p for one in held], axis=1), held[0].weights
            places, v = members(log_p, weights, self.best)
            for place, share in zip(places.tolist(), v.tolist(), strict=True):
                judged[order[place]] = replace(judged[order[place]], weight=share)
            self.candidates_ = Candidates(judged[name] for name in dict.fromkeys([*order, *judged]))
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                if identifiers:
                    X = WithoutColumns(open_table(X, label, first=False).table, identifiers)
                with fits_watched(len(places)) as done:
                    chosen = []
                    for place in places:
                        chosen.append(learners[order[place]].fit(X, y, sample_weight))
                        done()
            if identifiers:
                warn(
                    f"columns that tell one row from another, as an identifier does, are left out: "
                    f"{listed(map(repr, identifiers))}; categorical= keeps them"
                )
            for once in {str(one.message): one for one in said}.values():
                warn(once.message.args[0], once.category)  # type: ignore[union-attr]
            self._average(chosen, v, Doubts.of(row_sums(exp(log_p[:, places]) * v), weights))
            return self

    def _check_options(self) -> None:
        known = ", ".join(map(repr, CANDIDATES))
        names = self.candidates
        if names is not None:
            listed = isinstance(names, Sequence) and not isinstance(names, str) and len(names)
            if not (listed and all(name in CANDIDATES for name in names)):
                rule = f"it is a list of some of {known}"
                raise ParameterError(f"candidates={names!r}", rule)
        if not (isinstance(self.best, int) and self.best >= 1):
            raise ParameterError(f"best={self.best!r}", "it is a whole number, 1 or more")
        if not (self.seconds is None or (isinstance(self.seconds, Real) and self.seconds > 0)):
            raise ParameterError(f"seconds={self.seconds!r}", "it is a number above 0")

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
        self.members_: tuple[Classifier, ...] = tuple(members)
        self.doubts_ = doubts
        settle_columns(self, first.n_features_in_, vars(first).get("feature_names_in_"))
        layout = joint_layout([member.reader_.to_answer for member in members])
        dtype, single = first.reader_.label_dtype, first.reader_.single
        self.reader_ = LabelReader(layout, first.reader_.format, dtype, single=single)
        models = tuple(member.model_ for member in members)
        self.model_ = AveragedModel(models, shares, layout)

    # -- predicting

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""
        return exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k)."""
        return np.concatenate(answers_by_batch(self, X, fitted(self).log_posterior))

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
        model: AveragedModel = fitted(self)
        answers = {"columns": model.revealed, "members": model.by_member}
        if by not in answers:
            raise ParameterError(f"by={by!r}", "it is 'columns' or 'members'")
        found = np.concatenate(answers_by_batch(self, X, answers[by], 1))
        prior = found[0, 0] if len(found) else model.log_prior
        if by == "members":
            names = tuple(one.name for one in self.candidates_ if one.weight)
            return Evidence(names, model.classes.values, prior, found[:, 1:])
        of = tuple(model.layout.names), model.classes.values
        return Evidence(*of, prior, found[:, 1:], asked=Asked(copy(self), X))

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return np.asarray(self.predict_log_proba(X).argmax(axis=1))

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


def _size(first: NaiveBayes) -> Size:
    """Return how many rows, columns and classes a first model was fitted to."""
    model, statistic = first.model_, first.statistic_
    values = model.known_values
    shown = [block.total for block in statistic.blocks if isinstance(block, Moments)]
    share = np.concatenate(shown, axis=1).sum(axis=0).mean() / statistic.rows if shown else 1.0
    return Size(
        int(min(statistic.rows, 1e9)),
        len(model.layout.names) - len(values),
        len(values),
        sum(map(len, values.values())),
        len(model.classes),
        round(1.0 - float(share), 9),
    )


def _placed(
    rows: tuple[Any, Any, Any], identifiers: tuple[str, ...], statistic: ByClass
) -> tuple[Rows, NDArray[np.uint64] | None]:
    """Return the rows by their places, and hashes by which copies are found, if there are any.

    Strings of a frame are read once as the numbers that they spell.
    """
    X, y, weight = rows
    tells_apart = isinstance(statistic, Sampled) and statistic.sample.tells_apart
    if is_table(X):
        table = TableRows.of(X, y, weight, labelled=True)
        hashes = table.hashes if tells_apart else None
        return replace(table, table=WithoutColumns(table.table, identifiers)), hashes
    if not is_array(X):
        opened = open_table(X, y if isinstance(y, str) else None).table
        if isinstance(opened, FrameTable):
            X = opened.table
    memory = MemoryRows.of(X, y, weight, None, labelled=True)
    hashes = memory.hashes if tells_apart else None
    if identifiers:
        memory = replace(memory, X=X.drop_columns(list(identifiers)))
    return memory, hashes


def _reread(X: Any, label: str | None) -> Any:
    """Rows that can be read as often as there are candidates; of small text files, from memory."""
    if isinstance(X, pa.RecordBatchReader):
        return X.read_all()
    if not is_table(X) or distributed_table(X) is not None:
        return X
    table = open_table(X, label, first=False).table  # each fit will warn of labels alike
    return innermost(spelled(table, label), _kept)


def _kept(table: Table) -> Table:
    if not table.about.guesses:
        return table
    sizes = [part.nbytes for part in table.parts({table.names[0]: None})]
    return KeptTable(table) if sum(size or 0 for size in sizes) <= KEPT else table
