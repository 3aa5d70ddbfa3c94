"""What the naive Bayes classifiers of counts and categories share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.data.schema import Column
from suffice.errors import ParameterError, warn
from suffice.families.options import Evidence, Smoothing
from suffice.models.generative.alpha_evidence import alpha_evidence
from suffice.models.generative.class_prior import Prior
from suffice.models.generative.one_family import OneFamilyClassifier
from suffice.models.generative.part import FamilyColumns
from suffice.numerics.dirichlet_evidence import AlphaEvidence
from suffice.numerics.logspace import safe_log

__all__ = ["Discrete"]

SMALLEST_ALPHA = 1e-10  # what scikit-learn puts in the place of alpha = 0 without force_alpha


@dataclass(repr=False, eq=False, kw_only=True)
class Discrete(OneFamilyClassifier):
    """What the classes for counts have in common: pseudo-counts and priors."""

    poor_score: ClassVar[bool] = True

    alpha: float | ArrayLike | Evidence = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ArrayLike | None = None

    def _check_alpha(self) -> Smoothing:
        """Pseudo-counts, kept off 0 unless ``force_alpha``."""
        least = 0.0 if self.force_alpha else SMALLEST_ALPHA

        def kept(alpha: Any) -> Any:
            """A number off 0; the family refuses what is none."""
            return (
                max(float(alpha), least) if isinstance(alpha, Real) and float(alpha) >= 0 else alpha
            )

        given = np.asarray(self.alpha, object).tolist()
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

    def _parts(self, columns: Sequence[Column]) -> tuple[FamilyColumns, ...]:
        n = np.size(self.alpha)
        if np.ndim(self.alpha) == 1 and n != len(columns):
            rule = "When alpha is an array, it should contains `n_features` numbers"
            raise ParameterError(f"alpha has {n} numbers for {len(columns)} columns", rule)
        return super()._parts(columns)

    def _prior(self) -> Prior:
        if self.class_prior is not None:
            return cast(Prior, self.class_prior)
        return "empirical" if self.fit_prior else "uniform"

    @property
    def alpha_evidence_(self) -> AlphaEvidence | None:
        """What was tried for α, and the log evidence of each; None where α was given."""
        return alpha_evidence(self._fitted())

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """log P(c), (k,)."""
        return safe_log(self.class_prior_)
