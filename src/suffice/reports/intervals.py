"""What a browser needs for intervals of probabilities: moments of log p(x | c), as compact JSON.

They are those of `suffice.families.posteriors`. Numbers that many values share, such as ψ(a) of a
count, are written once: an index says which pair of them is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.posteriors.bernoulli import BernoulliPosterior
from suffice.families.posteriors.categorical import CategoricalPosterior
from suffice.families.posteriors.density import PiecewisePosterior
from suffice.families.posteriors.dirichlet import log_share_moments
from suffice.families.posteriors.gaussian import GaussianPosterior
from suffice.families.posteriors.multinomial import MultinomialPosterior
from suffice.families.posteriors.multivariate_gaussian import MultivariateGaussianPosterior
from suffice.families.posteriors.poisson import PoissonPosterior
from suffice.families.posteriors.posterior import Posterior, trigamma
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.proba_intervals import WeightedPosterior, model_posterior
from suffice.numerics.elementary import digamma, log
from suffice.reports.coefficient_intervals import interval_of_coefficients

__all__ = ["interval_of"]

MOST_NUMBERS = 60_000  # of the moments: 1 MB
SAME = 1e-12
NEGLIGIBLE = 1e-13  # standard deviations that a mean may be off
Array = NDArray[np.float64]
Part = dict[str, Any]


def interval_of(model: Any, terms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Moments of the scores of a model.

    Parameters
    ----------
    model : fitted estimator
    terms : sequence of mappings
        As `suffice.reports.scoring.scoring` has them.

    Returns
    -------
    dict
        ``mean`` and ``variance`` (k,) of the class prior, and ``parts``, null standing for an
        infinite variance; of linear and logistic models what `interval_of_coefficients` has; or
        ``why`` there is no interval.
    """
    if not isinstance(model.model_, GenerativeModel):
        return _few(interval_of_coefficients(model), "root")
    if any(term.get("left_out") for term in terms):
        return {"why": "it leaves words out"}
    try:
        found = model_posterior(model)
        parts, first = [], 0
        for part, of_part in zip(model.model_.parts, found.parts, strict=True):
            places = np.arange(first, first + len(part.layout.columns))
            parts += [one for one in _parts(of_part, places, 1.0) if one["weight"]]
            first += len(places)
    except ParameterError as error:
        return {"why": f"{error.fact}; {error.rule}"}
    kinds: dict[tuple[float, ...], int] = {}
    for one in parts:
        place = next(i for i, term in enumerate(terms) if one["at"][0] in term["at"])
        if "inverse_kappa" in one:
            one["term"] = place
            if "covariance" not in terms[place]:
                return {"why": "it holds the weights of the columns, and no covariance"}
        if "normal" in one:
            for known in filter(None, one["normal"]):
                known[2] = kinds.setdefault(known[2], len(kinds))
            one["normal"] = _without_known(one["normal"], terms[place].get("student"), list(kinds))
        if one.pop("outcomes", False):
            one |= _of_values(one["index"], terms[place])
    mean, variance = found.prior_moments()
    moments = {"mean": mean.tolist(), "variance": _open(variance)}
    return _few(moments | {"kinds": [list(kind) for kind in kinds], "parts": parts}, "parts")


def _few(found: dict[str, Any], key: str) -> dict[str, Any]:
    """The same, or why it takes too many numbers."""
    if (size := _size(found.get(key, 0))) <= MOST_NUMBERS:
        return found
    return {"why": f"they take {size:,} numbers, and a page holds {MOST_NUMBERS:,} at most"}


def _without_known(
    normal: list[Any], student: list[list[Any]] | None, kinds: list[tuple[float, ...]]
) -> list[Any]:
    """Of every class the kind alone, where m and b = 1/(2s(1 + 1/κ)) follow from a Student-t."""
    if student is None:
        return normal
    return [
        known[2] if known is not None and _follows(known, of, kinds[known[2]][0]) else known
        for known, of in zip(normal, student, strict=True)
    ]


def _follows(known: list[Any], student: list[Any], inverse_kappa: float) -> bool:
    (m, b, _, *low), (location, s, _, *rest) = known, student
    same = abs(m - location) <= SAME * sqrt(b) and low == rest
    return same and abs(b * 2 * s * (1 + inverse_kappa) - 1) <= SAME


def _of_values(index: list[Any], term: Mapping[str, Any]) -> Part:
    """Where the pairs of two outcomes are, in the order of the values of a term."""
    if "values" in term:
        return {"index": [index[int(value == 1)] for value in term["values"]]}
    return {"above": term["by"][0][2]}


def _size(value: Any) -> int:
    """How many numbers that are no index are in a value."""
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else int(isinstance(value, float))


def _open(values: Array) -> Any:
    """Numbers as nested lists; null stands for those that are not finite."""
    found = values.astype(object)
    found[~np.isfinite(values)] = None
    return found.tolist()


def _shared(mean: Array, variance: Array) -> Part:
    """Pairs of a mean and a variance, once each, and which of them every cell (m, k) has."""
    both = np.stack([mean, variance], axis=-1)
    pairs, index = np.unique(both.reshape(-1, 2), axis=0, return_inverse=True)
    return {"pairs": _open(pairs), "index": index.reshape(mean.shape).tolist()}


@singledispatch
def _parts(posterior: Posterior, at: NDArray[np.intp], weight: Any) -> Iterator[Part]:
    """Moments of columns at places ``at`` of the page, each counted ``weight`` times."""
    raise ParameterError(
        f"a page holds no {type(posterior).__name__}", "it has those of single families", "none"
    )


def _weights(weight: Any, at: NDArray[np.intp]) -> list[float]:
    return [float(w) for w in np.broadcast_to(weight, len(at))]


@_parts.register
def _weighted(posterior: WeightedPosterior, at: NDArray[np.intp], weight: Any) -> Iterator[Part]:
    yield from _parts(posterior.part, at, posterior.weights)


@_parts.register
def _gaussian(posterior: GaussianPosterior, at: NDArray[np.intp], weight: Any) -> Iterator[Part]:
    """Of every class m, b, the kind (1/κ, 1/a, ψ(a), ψ₁(a)), and the low part of m, if any."""
    mean, low, b, a = np.broadcast_arrays(
        posterior.mean, posterior.mean_lo, posterior.b, posterior.a
    )
    proper = (a > 0) & (b > 0) & (posterior.kappa > 0)
    a, kappa = np.where(proper, a, 1.0), np.where(proper, posterior.kappa, 1.0)
    kinds = np.stack([1 / kappa, 1 / a, digamma(a), trigamma(a)], axis=-1)
    whole = mean + low
    rest = (mean - whole) + low
    mean, low = whole, np.where(np.abs(rest) > NEGLIGIBLE * np.sqrt(b / a), rest, 0.0)
    for j, w in enumerate(_weights(weight, at)):
        if posterior.says[j]:
            of_classes = zip(
                *(v[:, j].tolist() for v in (proper, mean, b, kinds, low)), strict=True
            )
            yield {
                "at": [int(at[j])],
                "weight": w,
                "shared": len(posterior.a) < len(mean),
                "normal": [
                    [m, of, tuple(kind), *([rest] if rest else [])] if known else None
                    for known, m, of, kind, rest in of_classes
                ],
            }


@_parts.register
def _poisson(posterior: PoissonPosterior, at: NDArray[np.intp], weight: Any) -> Iterator[Part]:
    """Of every class ψ(a) − log b, a/b, ψ₁(a) and 1/b."""
    proper = (posterior.a > 0) & (posterior.b > 0)
    a, b = np.where(proper, posterior.a, 1.0), np.where(proper, posterior.b, 1.0)
    numbers = np.stack([digamma(a) - log(b), a / b, trigamma(a), 1 / b], axis=-1)
    for j, w in enumerate(_weights(weight, at)):
        known = zip(numbers[:, j].tolist(), proper[:, j].tolist(), strict=True)
        rate = [of_class if is_proper else None for of_class, is_proper in known]
        yield {"at": [int(at[j])], "weight": w, "rate": rate}


@_parts.register
def _categories(
    posterior: CategoricalPosterior, at: NDArray[np.intp], weight: Any
) -> Iterator[Part]:
    """Pairs of every value, in the order of the term; ``rest`` is that of all other values."""
    estimate = posterior.estimate
    for j, w in enumerate(_weights(weight, at)):
        if j in posterior.quiet:
            continue
        own = slice(*estimate.offsets[j : j + 2])
        moments = log_share_moments(posterior.a[:, own], posterior.total[:, [j]])
        found = _shared(*(one.T for one in moments))
        *index, rest = found["index"]
        others = {"rest": rest} if estimate.unseen == "smooth" else {}
        yield {"at": [int(at[j])], "weight": w, **found, "index": index, **others}


@_parts.register
def _outcomes(posterior: BernoulliPosterior, at: NDArray[np.intp], weight: Any) -> Iterator[Part]:
    """Pairs of both outcomes, the absent one first."""
    for j, w in enumerate(_weights(weight, at)):
        a = posterior.a[:, j]
        mean, variance = log_share_moments(a, a.sum(axis=-1, keepdims=True))
        yield {"at": [int(at[j])], "weight": w, "outcomes": True, **_shared(mean.T, variance.T)}


@_parts.register
def _piecewise(posterior: PiecewisePosterior, at: NDArray[np.intp], weight: Any) -> Iterator[Part]:
    """Variances in every bin; the mean is log E p less half of them."""
    for j, w in enumerate(_weights(weight, at)):
        rounded = [
            [None if v is None else float(f"{v:.11g}") for v in of_class]
            for of_class in _open(posterior.columns[j].variance)
        ]
        yield {"at": [int(at[j])], "weight": w, "steps": rounded}


@_parts.register
def _events(posterior: MultinomialPosterior, at: NDArray[np.intp], weight: Any) -> Iterator[Part]:
    """ψ(a) and ψ₁(a) of every event, and ψ(A) and ψ₁(A) of their total."""
    known, total = posterior.a > 0, posterior.a.sum(axis=1)
    psi = np.where(known, digamma(np.where(known, posterior.a, 1.0)), 0.0)
    whole = np.where(total > 0, total, 1.0)
    of_total = np.where(total > 0, [digamma(whole), trigamma(whole)], 0.0)
    yield {
        "at": at.tolist(),
        "weight": _weights(weight, at)[0],
        "total": of_total.T.tolist(),
        **_shared(psi.T, trigamma(posterior.a).T),
    }


@_parts.register
def _joined(
    posterior: MultivariateGaussianPosterior, at: NDArray[np.intp], weight: Any
) -> Iterator[Part]:
    """1/κ, ν, what Σ is multiplied by to give Ψ, and Σ_p ψ and Σ_p ψ₁ of (ν − d + p)/2."""
    d = len(posterior.used)
    halves = (posterior.nu[:, None] - d + np.arange(1, d + 1)) / 2
    halves = np.where(halves > 0, halves, 1.0)  # these have an infinite variance
    kappa = np.where(posterior.kappa > 0, posterior.kappa, np.nan)
    yield {
        "at": at.tolist(),
        "weight": _weights(weight, at)[0],
        "used": at[posterior.used].tolist(),
        "inverse_kappa": _open(1 / kappa),
        "nu": posterior.nu.tolist(),
        "divisor": posterior.divisor.tolist(),
        "digamma": np.cumsum(digamma(halves), axis=1).tolist(),
        "trigamma": np.cumsum(trigamma(halves), axis=1).tolist(),
    }
