"""Naive Bayes of counts and categories: pseudo-counts, priors and rules that they share."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.encode import COUNT_RULE
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError, warn
from suffice.families import Family
from suffice.families.options import Smoothing
from suffice.models.generative.classifier import Rows
from suffice.models.generative.method import Choice, OneFamilyMethod
from suffice.models.generative.model import Prior
from suffice.models.generative.reader import GenerativeReader
from suffice.numerics.elementary import log
from suffice.rules import check_options
from suffice.sums.by_class import ByClass
from suffice.sums.counts import Events

SMALLEST_ALPHA = 1e-10  # what scikit-learn puts in the place of alpha = 0 without force_alpha


def checked_alpha(estimator: Any) -> Smoothing:
    """Return pseudo-counts, kept off 0 unless ``force_alpha``."""
    check_options(estimator)
    least = 0.0 if estimator.force_alpha else SMALLEST_ALPHA

    def kept(alpha: Any) -> Any:
        """A number off 0; the family refuses what is none."""
        return max(float(alpha), least) if isinstance(alpha, Real) and float(alpha) >= 0 else alpha

    given = np.asarray(estimator.alpha, object).tolist()
    if isinstance(given, list) and any(isinstance(a, Real) and a < 0 for a in given):
        rule = "All values in alpha must be greater than 0, or 0 itself"
        raise ParameterError(f"alpha={tuple(given)!r}", rule)
    found = tuple(map(kept, given)) if isinstance(given, list) else kept(given)
    if found != (tuple(given) if isinstance(given, list) else given):
        warn(
            "alpha too small will result in numeric errors, setting alpha = "
            f"{SMALLEST_ALPHA:.1e}; force_alpha=True keeps it."
        )
    return found


def prior_of(estimator: Any) -> Prior:
    if estimator.class_prior is not None:
        return cast(Prior, estimator.class_prior)
    return "empirical" if estimator.fit_prior else "uniform"


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscreteMethod(OneFamilyMethod):
    """All columns in one family of counts or categories, with one pseudo-count or one for each."""

    alpha: Any

    @classmethod
    def of(cls, estimator: Any, family: Family, **more: Any) -> Self:
        """Read the options of an estimator; ``more`` are fields."""
        given = {"prior": prior_of(estimator), "class_weight": estimator.class_weight} | more
        return cls(family=family, name=type(estimator).__name__, alpha=estimator.alpha, **given)

    def columns(self, rows: Rows, engine: Engine) -> Choice:
        columns, parts = super().columns(rows, engine)
        n = np.size(self.alpha)
        if np.ndim(self.alpha) == 1 and n != len(columns):
            rule = "When alpha is an array, it should contains `n_features` numbers"
            raise ParameterError(f"alpha has {n} numbers for {len(columns)} columns", rule)
        return columns, parts

    def sums(
        self, reader: GenerativeReader, rows: Rows, engine: Engine, like: ByClass | None = None
    ) -> ByClass:
        try:
            return super().sums(reader, rows, engine, like)
        except DataError as error:
            if error.rule != COUNT_RULE:
                raise
            known = f"Negative values in data passed to {self.name} (input X)"
            raise DataError(error.fact, f"{known}: {COUNT_RULE}") from None


def event_counts_of(estimator: Any) -> NDArray[np.float64]:
    """Σwx of every event, (k, d)."""
    (block,) = estimator.model_.statistic.blocks
    return cast(Events, block).count.value


def class_log_prior_of(estimator: Any) -> NDArray[np.float64]:
    """log P(c), (k,)."""
    return log(estimator.class_prior_)
