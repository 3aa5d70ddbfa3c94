"""Whether one of two models is better: by scores on the same folds, by errors on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, stdtr, stdtrit

from suffice.errors import ParameterError
from suffice.models.base.options import check_level

__all__ = ["McNemar", "ScoreDifference", "compare_scores", "mcnemar_test"]


@dataclass(frozen=True)
class ScoreDifference:
    """The mean difference of two scores, with an interval.

    Parameters
    ----------
    mean, low, high : float
    p_value : float
        Of a difference of this size or more, if there is none.
    sign_p_value : float
        Of the sign test: of folds that differ in one direction so often, if either is as likely.
        Unlike the mean, it does not depend on how large a single difference is.

    Examples
    --------
    >>> from suffice.model_selection import compare_scores
    >>> found = compare_scores([0.31, 0.29, 0.35], [0.25, 0.26, 0.28], 0.5)
    >>> round(found.mean, 3), found.low < 0 < found.high
    (0.053, True)
    """

    mean: float
    low: float
    high: float
    p_value: float
    sign_p_value: float = 1.0

    @property
    def is_plain(self) -> bool:
        """Whether 0 is outside the interval."""
        return self.low > 0 or self.high < 0


def compare_scores(
    one: ArrayLike, other: ArrayLike, test_share: float, level: float = 0.95
) -> ScoreDifference:
    """The corrected resampled t interval of the difference of two scores.

    ::

        d̄ ± t_{f−1} √((1/f + n₂/n₁) s²)

    d are the differences of f folds, s² their variance, n₂/n₁ the rows judged in a fold for each
    row that is learnt. The training sets overlap, so the plain variance s²/f is too small.

    Parameters
    ----------
    one, other : array-like (f,)
        Scores on the same folds.
    test_share : float
        n₂/n₁.
    level : float
        Of the interval.

    Returns
    -------
    ScoreDifference
        Of ``one`` less ``other``.

    Raises
    ------
    ParameterError
        If there are not two scores or more of each.

    Notes
    -----
    Source: C. Nadeau, Y. Bengio, Inference for the generalization error, Machine Learning 52
    (2003), section 3, the corrected resampled t test; R. R. Bouckaert, E. Frank, Evaluating the
    replicability of significance tests for comparing learning algorithms (PAKDD 2004), for folds.

    Examples
    --------
    >>> found = compare_scores([0.30, 0.28, 0.33], [0.25, 0.24, 0.27], 0.5)
    >>> round(found.mean, 3), round(found.low, 4), round(found.high, 4)
    (0.05, 0.0107, 0.0893)
    """
    check_level(level)
    a, b = np.asarray(one, float), np.asarray(other, float)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise ParameterError(
            f"scores of {a.size} and {b.size} folds", "both have the same folds, two or more"
        )
    with np.errstate(invalid="ignore"):
        d = np.where(a == b, 0.0, a - b)  # ∞ − ∞, too
    f, mean, sign = len(d), float(d.mean()), _sign_test(int((d > 0).sum()), int((d < 0).sum()))
    if not isfinite(mean):
        return ScoreDifference(mean, -inf, inf, float("nan"), sign)
    error = sqrt((1 / f + test_share) * float(d.var(ddof=1)))
    half = float(stdtrit(f - 1, (1 + level) / 2)) * error
    if error == 0:
        return ScoreDifference(mean, mean, mean, float(mean == 0), sign)
    p_value = 2 * float(stdtr(f - 1, -abs(mean) / error))
    return ScoreDifference(mean, mean - half, mean + half, p_value, sign)


@dataclass(frozen=True)
class McNemar:
    """McNemar's exact test for the errors of two models on the same rows.

    Parameters
    ----------
    only_one, only_other : int
        Rows that only the first model, and only the second, answers wrongly.
    p_value : float
        Of counts as unequal as these or more, if either is as likely to be wrong alone.

    Examples
    --------
    >>> from suffice.model_selection import mcnemar_test
    >>> found = mcnemar_test([True, True, False, True], [False, False, True, True])
    >>> found.only_one, found.only_other
    (2, 1)
    """

    only_one: int
    only_other: int
    p_value: float


def mcnemar_test(wrong: ArrayLike, others_wrong: ArrayLike) -> McNemar:
    """Compare the errors of two models on the same rows.

    ::

        p = min(1, 2 P(X ≤ min(b, c))),  X ~ Binomial(b + c, 1/2)

    Parameters
    ----------
    wrong, others_wrong : array-like of bool (n,)
        Whether either answers a row wrongly.

    Raises
    ------
    ParameterError
        If they are not of the same rows.

    Notes
    -----
    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions
    or percentages, Psychometrika 12 (1947), with the binomial distribution instead of its limit.

    Examples
    --------
    >>> mcnemar_test([True, True, False, True], [False, False, True, True])
    McNemar(only_one=2, only_other=1, p_value=1.0)
    """
    a, b = np.asarray(wrong, bool), np.asarray(others_wrong, bool)
    if a.shape != b.shape:
        raise ParameterError(
            f"errors of {a.size} and of {b.size} rows", "both models answer the same rows"
        )
    one, other = int((a & ~b).sum()), int((b & ~a).sum())
    return McNemar(one, other, _sign_test(one, other))


def _sign_test(one: int, other: int) -> float:
    """min(1, 2 P(X ≤ min(b, c))), X ~ Binomial(b + c, 1/2); 1 where both are 0."""
    return min(1.0, 2 * float(bdtr(min(one, other), one + other, 0.5))) if one + other else 1.0
