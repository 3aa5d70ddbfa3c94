"""Tests of two models by their scores on the same folds."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, stdtr, stdtrit

from suffice.errors import ParameterError
from suffice.models.base.options import check_level


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
        """True where 0 is outside the interval."""
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


def _sign_test(one: int, other: int) -> float:
    """min(1, 2 P(X ≤ min(b, c))), X ~ Binomial(b + c, 1/2); 1 where both are 0."""
    return min(1.0, 2 * float(bdtr(min(one, other), one + other, 0.5))) if one + other else 1.0
