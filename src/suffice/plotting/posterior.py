"""Prior, likelihood and posterior of one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from suffice.errors import ParameterError
from suffice.numerics.palette import COLOURS
from suffice.plotting.style import INK, QUIET, figure_of, sized_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PosteriorDisplay"]

POINTS = 801
TAIL = 1e-4  # of prior and posterior, outside the picture on either side


class PosteriorDisplay:
    """How rows turn a prior into a posterior: the coin of every lecture.

    Parameters
    ----------
    parameter : str
        Its name.
    values : ndarray (m,)
        At which densities are drawn.
    prior, likelihood, posterior : ndarray (m,)
        Densities; the likelihood is scaled to the area 1.
    maximum_likelihood, mode, mean : float
        Of the likelihood, and of the posterior; NaN where there is none.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Notes
    -----
    Source: A. Gelman and others, Bayesian Data Analysis, 3rd ed. (2013), chapter 2.

    Examples
    --------
    Seven heads in ten throws, and a prior as strong as four throws:

    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> display = PosteriorDisplay.of_coin(7, 3, alpha=2.0, beta=2.0)
    >>> round(display.maximum_likelihood, 4), round(display.mode, 4), round(display.mean, 4)
    (0.7, 0.6667, 0.6429)
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        parameter: str,
        values: NDArray[np.float64],
        prior: NDArray[np.float64],
        likelihood: NDArray[np.float64],
        posterior: NDArray[np.float64],
        maximum_likelihood: float,
        mode: float,
        mean: float,
    ) -> None:
        self.parameter, self.values = parameter, values
        self.prior, self.likelihood, self.posterior = prior, likelihood, posterior
        self.maximum_likelihood, self.mode, self.mean = maximum_likelihood, mode, mean

    @classmethod
    def of_coin(
        cls,
        heads: float,
        tails: float,
        *,
        alpha: float = 1.0,
        beta: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the probability θ of an event: Beta(α, β) before, Beta(α + h, β + t) after.

        A category against all others is such an event too.

        Parameters
        ----------
        heads, tails : float
            How often the event was seen, and how often not.
        alpha, beta : float
            Pseudo-counts; β is α unless it is given.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If a count is negative, or a pseudo-count not positive.
        """
        other = alpha if beta is None else beta
        _require(heads=heads, tails=tails)
        _require(positive=True, alpha=alpha, beta=other)
        values = np.linspace(0, 1, POINTS)
        n = heads + tails
        return cls(
            "θ",
            values,
            _density(stats.beta(alpha, other), values),
            _density(stats.beta(heads + 1, tails + 1), values),
            _density(stats.beta(alpha + heads, other + tails), values),
            heads / n if n else np.nan,
            _beta_mode(alpha + heads, other + tails),
            (alpha + heads) / (alpha + other + n),
        ).plot(ax=ax)

    @classmethod
    def of_rate(
        cls,
        events: float,
        rows: float,
        *,
        alpha: float = 1.0,
        rate: float = 1.0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the mean λ of a Poisson: Gamma(α, β) before, Gamma(α + Σx, β + n) after.

        Parameters
        ----------
        events, rows : float
            Σx and n.
        alpha, rate : float
            Shape α and rate β of the prior: α events in β rows.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If a count is negative, or α or β not positive.
        """
        _require(events=events, rows=rows)
        _require(positive=True, alpha=alpha, rate=rate)
        prior = stats.gamma(alpha, scale=1 / rate)
        after = stats.gamma(alpha + events, scale=1 / (rate + rows))
        seen = stats.gamma(events + 1, scale=1 / rows) if rows else None
        values = np.linspace(0, max(after.ppf(1 - TAIL), prior.ppf(0.9)), POINTS)
        return cls(
            "λ",
            values,
            _density(prior, values),
            np.ones(POINTS) / values[-1] if seen is None else _density(seen, values),
            _density(after, values),
            events / rows if rows else np.nan,
            max(alpha + events - 1, 0.0) / (rate + rows),
            (alpha + events) / (rate + rows),
        ).plot(ax=ax)

    @classmethod
    def of_mean(
        cls,
        x: Sequence[float],
        *,
        sigma: float,
        mean0: float = 0.0,
        sigma0: float = 1.0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the mean μ of a Gaussian of known σ, with the prior N(μ₀, σ₀²).

        ::

            1/σ_n² = 1/σ₀² + n/σ²,    μ_n = σ_n² (μ₀/σ₀² + Σx/σ²)

        Parameters
        ----------
        x : sequence of float
            One or more.
        sigma : float
            Standard deviation of a row.
        mean0, sigma0 : float
            Of the prior.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If there is no row, or a standard deviation is not positive.
        """
        _require(positive=True, sigma=sigma, sigma0=sigma0, rows=len(x))
        n, average = len(x), float(np.mean(x))
        precision = 1 / sigma0**2 + n / sigma**2
        after = stats.norm(
            (mean0 / sigma0**2 + n * average / sigma**2) / precision, precision**-0.5
        )
        prior, seen = stats.norm(mean0, sigma0), stats.norm(average, sigma / n**0.5)
        ends = [one.ppf([TAIL, 1 - TAIL]) for one in (prior, seen, after)]
        values = np.linspace(np.min(ends), np.max(ends), POINTS)
        mean = float(after.mean())
        return cls(
            "μ",
            values,
            _density(prior, values),
            _density(seen, values),
            _density(after, values),
            average,
            mean,
            mean,
        ).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones."""
        ax = sized_axes(ax)
        ax.plot(self.values, self.prior, color=QUIET, linestyle="--", label="prior")
        ax.plot(self.values, self.likelihood, color=COLOURS[1], linestyle=":", label="likelihood")
        ax.plot(self.values, self.posterior, color=COLOURS[0], label="posterior")
        ax.fill_between(self.values, self.posterior, color=COLOURS[0], alpha=0.1, linewidth=0)
        marks = [
            ("maximum likelihood", self.maximum_likelihood, ":"),
            ("MAP", self.mode, "-."),
            ("posterior mean", self.mean, "-"),
        ]
        for name, value, line in marks:
            if np.isfinite(value):
                ax.axvline(
                    value, color=INK, linewidth=0.8, linestyle=line, label=f"{name} {value:.4g}"
                )
        ax.margins(x=0)
        ax.set_ylim(bottom=0)
        ax.set_xlabel(self.parameter)
        ax.set_ylabel("density")
        ax.legend(frameon=False, fontsize="small")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


def _density(distribution: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A density; NaN, which is not drawn, where it is infinite."""
    with np.errstate(divide="ignore"):
        found = np.asarray(distribution.pdf(values), np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def _beta_mode(a: float, b: float) -> float:
    """The mode of Beta(a, b); NaN where the density has none inside or on one end."""
    if a <= 1 and b <= 1:
        return np.nan
    return max(a - 1, 0.0) / (max(a - 1, 0.0) + max(b - 1, 0.0))


def _require(positive: bool = False, **numbers: float) -> None:
    for name, value in numbers.items():
        if not (np.isfinite(value) and (value > 0 if positive else value >= 0)):
            rule = "positive" if positive else "0 or more"
            raise ParameterError(f"{name}={value!r}", f"{name} is a finite number, {rule}")
