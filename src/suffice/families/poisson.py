"""The Poisson: whole numbers, p(x | c) = λ_c^x e^(−λ_c) / x! for every column on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from suffice.errors import ParameterError
from suffice.families.family import Family, Form, Parameters, Posterior, ScoreMoments, trigamma
from suffice.families.options import Estimation, check_alpha
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.elementary import digamma, lgamma, log, log1p
from suffice.rules import NONNEGATIVE, POSITIVE, Shape
from suffice.sums.base import Accumulator
from suffice.sums.block import Encoding, RealBlock, require_held
from suffice.sums.moments import Moments, MomentsAccumulator


@dataclass(frozen=True)
class Poisson(Family):
    """Counts of independent events per row.

    With the Gamma(α, β) prior (shape, rate) and n rows, the posterior is Gamma(a, b) with
    a = α + Σx and b = β + n:

    ::

        mle    λ = x̄
        map    λ = (a − 1)/b, its mode, α ≥ 1
        bayes  the posterior predictive, negative binomial:
               p(x) = Γ(x + a)/(Γ(a) x!) · (b/(b + 1))^a · (1/(b + 1))^x

    Parameters
    ----------
    alpha, beta : float
        Shape and rate of the prior: α events in β rows.
    estimation : {"bayes", "mle", "map"}
        How parameters follow from the sums.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), section 2.6.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> calls = {"calls": [0, 1, 0, 4, 6]}
    >>> model = NaiveBayes(families={"calls": Poisson()}).fit(calls, ["a", "a", "a", "b", "b"])
    >>> model.predict({"calls": [0, 5]})
    array(['a', 'b'], dtype='<U1')
    """

    alpha: float = 1.0
    beta: Annotated[float, POSITIVE] = 1.0
    estimation: Estimation = "bayes"

    encodings: ClassVar[tuple[Encoding, ...]] = ("whole",)
    lazy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alpha(self.estimation, self.alpha)
        if self.estimation == "bayes" and self.alpha == 0:
            raise ParameterError(f"alpha={self.alpha!r}", "alpha is a finite number above 0")

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        return MomentsAccumulator(d)

    def estimate(self, statistic: Moments) -> PoissonParameters | NegativeBinomialParameters:
        shown, pooled = statistic.total > 0, statistic.one_class
        n = np.where(shown, statistic.total, pooled.total)
        mean = np.where(shown, statistic.mean, pooled.mean)
        if self.estimation == "mle":
            return PoissonParameters(mean)
        a, b = self.alpha + n * mean, self.beta + n
        if self.estimation == "map":
            return PoissonParameters((a - 1) / b)
        return NegativeBinomialParameters(a, b)

    def posterior(self, statistic: Any) -> PoissonPosterior:
        shown, pooled = statistic.total > 0, statistic.one_class
        n = np.where(shown, statistic.total, pooled.total)
        events = n * np.where(shown, statistic.mean, pooled.mean)
        informed = self.estimation != "mle"
        return PoissonPosterior(events + self.alpha * informed, n + self.beta * informed)


@dataclass(frozen=True, eq=False)
class PoissonParameters(Parameters):
    """λ (k, d)."""

    rate: Annotated[Floats, Shape("k", "d"), NONNEGATIVE]

    @property
    def n_free(self) -> int:
        return self.rate.size

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add Σⱼ xⱼ log λⱼ − λⱼ − log xⱼ!."""
        require_held(block.values)
        x = np.ascontiguousarray(block.values, np.float64)
        observed = ~np.isnan(x)
        log_factorial = lgamma(np.where(observed, x, 0.0) + 1)
        kernels.scores.add_linear(x, log(self.rate), out)
        kernels.scores.add_linear(observed.astype(np.float64), -self.rate, out)
        kernels.scores.add_linear(log_factorial, -np.ones_like(self.rate), out)

    def column(self, j: int) -> PoissonParameters:
        return PoissonParameters(self.rate[:, [j]])

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        return list(rng.poisson(self.rate[codes]).T.astype(np.float64))

    def describe(self, j: int) -> dict[str, list[float]]:
        return {"rate": self.rate[:, j].tolist()}

    def form(self) -> Form:
        """Linear in x, up to log x!, which no class owns: weight log λ, constant −λ."""
        linear = log(self.rate)
        features = tuple(range(linear.shape[1]))
        return Form(features, np.zeros_like(linear), linear, -self.rate.sum(axis=1))


@dataclass(frozen=True, eq=False)
class NegativeBinomialParameters(Parameters):
    """Shape a and rate b of the Gamma posterior of λ, each (k, d)."""

    a: Annotated[Floats, Shape("k", "d"), POSITIVE]
    b: Annotated[Floats, Shape("k", "d"), POSITIVE]

    @property
    def n_free(self) -> int:
        """kd: a rate, integrated out."""
        return self.a.size

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add Σⱼ log Γ(x + a)/(Γ(a) x!) + a log(b/(b + 1)) − x log(b + 1)."""
        require_held(block.values)
        x = np.ascontiguousarray(block.values, np.float64)
        observed = ~np.isnan(x)
        x = np.where(observed, x, 0.0)
        log_factorial, one = lgamma(x + 1), np.ones((1, x.shape[1]))
        for c, (a, b) in enumerate(zip(self.a, self.b, strict=True)):
            rising = lgamma(x + a) - lgamma(a) - log_factorial
            loss = a * log1p(1 / b) + x * log1p(b) - rising
            total = np.zeros((len(x), 1))
            # A probability is at most 1, whatever rounding says.
            kernels.scores.add_linear(np.where(observed, np.maximum(loss, 0.0), 0.0), one, total)
            out[:, c] -= total[:, 0]

    def column(self, j: int) -> NegativeBinomialParameters:
        return NegativeBinomialParameters(self.a[:, [j]], self.b[:, [j]])

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        """Draw λ from its posterior, then counts."""
        rate = rng.gamma(self.a[codes], 1 / self.b[codes])
        return list(rng.poisson(rate).T.astype(np.float64))

    def describe(self, j: int) -> dict[str, list[float]]:
        return {
            "rate": (self.a / self.b)[:, j].tolist(),
            "events": self.a[:, j].tolist(),
            "rows": self.b[:, j].tolist(),
        }


# -- posterior


@dataclass(frozen=True, eq=False)
class PoissonPosterior(Posterior):
    """The posterior of the rates λ, each (k, d)."""

    a: Floats
    b: Floats

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add the moments of x log λ − λ.

        ::

            E = x (ψ(a) − log b) − a/b    Var = x² ψ₁(a) + a/b² − 2x/b

        since Cov(log λ, λ) = 1/b.
        """
        require_held(block.values)
        x = np.asarray(block.values, np.float64)
        shown = ~np.isnan(x)
        proper = (self.a > 0) & (self.b > 0)
        for c in range(len(self.a)):
            a, b = (np.where(proper[c], part[c], 1.0) for part in (self.a, self.b))
            mean = x * (digamma(a) - log(b)) - a / b
            variance = np.maximum(x**2 * trigamma(a) + a / b**2 - 2 * x / b, 0.0)
            variance = np.where(proper[c], variance, np.inf)
            moments.mean[:, c] += np.where(shown, mean, 0.0).sum(axis=1)
            moments.variance[:, c] += np.where(shown, variance, 0.0).sum(axis=1)
