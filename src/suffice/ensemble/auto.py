"""A classifier that chooses among models of different kinds, and averages the best."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.open import open_table
from suffice.engines.engine import fit_context
from suffice.ensemble.candidates import (
    CANDIDATES,
    FOLDS,
    IMPOSSIBLE,
    LEAST_ANSWERED,
    Candidate,
    Candidates,
    Folds,
    Roles,
    Size,
    folds_in_time,
    naive_bayes,
    planned,
    seconds,
)
from suffice.ensemble.fitted import FittedAverage
from suffice.errors import DataError, ParameterError, SufficeError, warn
from suffice.model_selection.evaluated_folds import evaluate_models
from suffice.models.base.answers import Doubts
from suffice.models.base.checks import is_array
from suffice.models.optimise.nonnegative_newton import Value, nonnegative_minimum
from suffice.naive_bayes import NaiveBayes
from suffice.numerics.elementary import exp, log
from suffice.numerics.logspace import row_sums
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
    """Which of M candidates are averaged, ``most`` of them, and their shares.

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
class AutoClassifier(FittedAverage):
    """Models of different kinds, judged on rows that they have not learnt; the best, averaged.

    ::

        P(c | x) = Σ_m v_m P_m(c | x)

    over M = ``best`` candidates. The shares v maximise the probability of the labels of held-out
    rows (stacking); while there are more than M, the one of least share leaves. Candidates are
    naive Bayes with chosen families and weights of columns, the same beside one-dependence
    estimators (AODE), logistic regression of numbers and of bins, and discriminant analysis,
    linear and quadratic. They are judged by 10 folds, 5 or 3: the most for which all fits are
    foreseen to take 10 s on one core, or 100 µs a cell where that is more. A candidate for which
    there is no time is dropped, unless ``candidates`` names it. A fold is fitted to 200,000 rows at
    most; of more than 6,000 rows, folds are judged until 6,000 rows are. The members are then
    fitted to all rows. A candidate that cannot learn the table is left out: ``candidates_`` says
    which, and why.

    Parameters
    ----------
    candidates : sequence of str, optional
        Of "naive-bayes", "aode", "logistic", "logistic-bins", "lda", "qda", and "qda-light", whose
        covariances are shrunk by 0.03; by default all.
    best : int
        How many of them are averaged, at most.
    categorical, text : sequence of str, optional
        Columns that are categories or texts, whatever their cells suggest.
    random_state : int
        Seed of the order in which rows are dealt to folds.
    costs : array (k, k), optional
        ``costs[i][j]`` is the cost of answering label j where i is true; `predict` answers the
        label of least expected cost.

    Attributes
    ----------
    candidates_ : Candidates
        All candidates with their log loss, the best first.
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
    ['aode', 'lda', 'naive-bayes']
    >>> float(model.score(X[1::2], y[1::2])).__round__(3)
    0.978
    """

    candidates: Sequence[str] | None = None
    best: int = 3
    categorical: Sequence[str] | None = None
    text: Sequence[str] | None = None
    random_state: int = 0
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
        X = _reread(X)
        roles = Roles(self.categorical, self.text, ())
        rows = X, y, sample_weight
        with fit_context(self):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those that are fitted to all rows warn again
                seen = _Seen.of(naive_bayes(roles, numbers="gaussian"), rows)
                roles = replace(roles, ignore=seen.identifiers)
                names, folds = list(self.candidates or CANDIDATES), FOLDS[0]
                dropped: dict[str, Exception] = {}
                if seen.size is not None and self.candidates is not None:
                    folds = folds_in_time(names, seen.size, self.best) or FOLDS[-1]
                elif seen.size is not None:
                    names, folds = planned(names, seen.size, self.best)
                    dropped = {
                        name: ParameterError(
                            f"{folds} folds of it would take about "
                            f"{folds * seconds(name, seen.size):.2g} s",
                            "candidates that are not asked for by name are judged in less",
                        )
                        for name in CANDIDATES
                        if name not in names
                    }
                learners = {name: CANDIDATES[name](roles) for name in names}
                splitter = Folds(self.random_state, seen.tells_apart, folds)
                found = evaluate_models(learners, *rows, cv=splitter, label_scores=True) | dropped
            known = [one for one in found.values() if not isinstance(one, Exception)]
            asked = max((one.pooled.weight for one in known), default=1.0)
            order = sorted(
                (Candidate.of(name, one, asked) for name, one in found.items()),
                key=lambda one: (np.isnan(one.log_loss), one.log_loss),
            )
            able = [one for one in order if one.refusal is None]
            if not able:
                errors = [error for error in found.values() if isinstance(error, Exception)]
                raise (
                    errors[0]
                    if errors
                    else DataError(
                        f"{order[0].name} cannot be judged: {order[0].refusal}",
                        f"each answers {100 * LEAST_ANSWERED:.0f} % of the held-out rows or more",
                        "name other candidates, such as 'naive-bayes'",
                    )
                )
            log_p, weights = _label_scores([found[one.name] for one in able])
            places, v = members(log_p, weights, self.best)
            chosen, log_p = [able[m] for m in places], log_p[:, places]
            share = dict(zip([one.name for one in chosen], v.tolist(), strict=True))
            self.candidates_ = Candidates(
                replace(one, weight=share.get(one.name, 0.0)) for one in order
            )
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                fitted = [learners[one.name].fit(*rows) for one in chosen]
            if seen.identifiers:
                warn(
                    f"columns that tell one row from another, as an identifier does, are left out: "
                    f"{', '.join(map(repr, seen.identifiers))}; categorical= keeps them"
                )
            for once in {str(one.message): one for one in said}.values():
                warn(once.message.args[0], once.category)  # type: ignore[union-attr]
            self._average(fitted, v, Doubts.of(row_sums(exp(log_p) * v), weights))
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


@dataclass(frozen=True)
class _Seen:
    """What a first model of Gaussians and categories tells of a table.

    Parameters
    ----------
    size : Size, optional
        None if it cannot be fitted, as every candidate will say.
    identifiers : tuple of str
        Columns that tell one row from another, and are left out.
    tells_apart : bool
        Whether equal rows are copies of one row.
    """

    size: Size | None = None
    identifiers: tuple[str, ...] = ()
    tells_apart: bool = False

    @classmethod
    def of(cls, model: NaiveBayes, rows: tuple[Any, Any, Any]) -> _Seen:
        try:
            fitted, statistic = model.fit(*rows).model_, model.statistic_
        except SufficeError:
            return cls()
        values = fitted.known_values
        size = Size(
            int(min(statistic.rows, 1e9)),
            len(fitted.layout.names) - len(values),
            len(values),
            sum(map(len, values.values())),
            len(fitted.classes),
        )
        tells_apart = isinstance(statistic, Sampled) and statistic.sample.tells_apart
        return cls(size, () if is_array(rows[0]) else fitted.identifiers, tells_apart)


def _label_scores(found: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log P(y | x) of rows and candidates, (n, M), and the weights of the rows, (n,)."""
    scores = [np.concatenate(one.label_scores) for one in found]
    log_p = np.maximum(np.stack([rows[:, 0] for rows in scores], axis=1), -IMPOSSIBLE)
    return log_p, scores[0][:, 1]


def _reread(X: Any) -> Any:
    """Rows that can be read as often as there are candidates."""
    if isinstance(X, pa.RecordBatchReader):
        return X.read_all()
    paths = X if isinstance(X, list | tuple) else [X]
    if len(paths) and all(isinstance(path, str | PathLike) for path in paths):
        return open_table(X).table
    return X
