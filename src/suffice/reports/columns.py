"""Columns on the page: their models, ranges of values, and mutual information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from suffice.bayes import column_information, next_question
from suffice.data.schema import LOW
from suffice.errors import DataError, ParameterError
from suffice.models.bayes_risk.information import probabilities_of_values
from suffice.models.design.bins import span
from suffice.models.design.matrix import Design, indicators
from suffice.models.design.terms import shares_of
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.terms import TermParameters
from suffice.models.logistic.model import LogisticModel
from suffice.reports.scoring import is_weighed
from suffice.reports.words import is_text, typical_words

DRAWS = 500  # rows of each class that say where numbers lie
TAIL = 0.002  # share of them that may lie outside a picture, on either side
DEVIATIONS = 3  # as far from the mean a slider goes where only the variance is known
STEPS = 200  # of a slider, at least
SAME = 1e-9
MOST_VALUES = 40  # of a category whose effects are listed
MOST_PARAMETERS, MOST_CLASSES = 6, 8  # that are written as numbers
LEVEL = 0.95  # of the intervals of effects
DIGITS = 4  # of an effect
NUMBERS = ("number", "count", "whole")


def column_facts(model: Any, columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Facts of the columns that are scored, in their order.

    Parameters
    ----------
    model : fitted estimator
    columns : sequence of mappings
        With ``name`` and ``kind``.

    Returns
    -------
    list of dict
        ``family``; ``low``, ``high``, ``step`` and ``typical`` of numbers, ``two`` of 0 and 1;
        ``values`` of categories, ``words`` typical of each class; ``cells``, the probabilities of
        what a cell may be in every class; ``bits`` that it is expected to tell where known, or
        what one standard deviation ``moves``. Models that need every cell have ``start``, with
        which the page starts, and what an ``average`` row adds; ``effects`` of linear and logistic
        models are those of `_effects_of`.
    """
    if isinstance(model.model_, GenerativeModel):
        return _of_classes(model, columns)
    return _of_design(model, columns)


def _of_classes(model: Any, columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    fitted = model.model_
    codes = np.repeat(np.arange(len(fitted.classes)), DRAWS)
    rng, families = np.random.default_rng(0), fitted.family_names
    facts: dict[str, dict[str, Any]] = {}
    kinds = {column["name"]: column["kind"] for column in columns}
    statistic = fitted.statistic.over(fitted.classes)
    for part, parameters, block in zip(
        fitted.parts, fitted.parameters, statistic.blocks[: len(fitted.parts)], strict=True
    ):
        names = [str(name) for name in part.layout.columns]
        drawn: Sequence[Any] = ()
        if part.family.is_distribution and any(kinds.get(name) in NUMBERS for name in names):
            drawn = parameters.sample(codes, rng)
        for j, name in enumerate(names):
            facts[name] = {"family": families[part.layout.columns[j]], "unknown": True}
            facts[name] |= _described(parameters, j, kinds.get(name) in NUMBERS)
            facts[name]["missing"] = _missing(fitted, block, j)
            if is_text(parameters):
                labels = list(map(str, fitted.classes.values))
                facts[name]["words"] = typical_words(parameters, labels)
            if kinds.get(name) not in (*NUMBERS, "text"):
                facts[name]["values"] = _values(model, parameters, j, name, kinds.get(name))
            if len(drawn) == len(names) and kinds.get(name) in NUMBERS:
                facts[name] |= _line(np.asarray(drawn[j], float), len(fitted.classes))
        if is_weighed(parameters):
            form, mean = parameters.form(), fitted.prior @ parameters.mean
            added = (form.linear * (mean - form.origin)).T.tolist()
            for name, number, average in zip(names, mean.tolist(), added, strict=True):
                start = round(number, facts[name].get("places", 12))
                facts[name] |= {"unknown": False, "start": start, "average": average}
    for part, parameters in zip(fitted.parts, fitted.parameters, strict=True):
        if part.family.joint or is_text(parameters):
            continue
        for j, name in enumerate(map(str, part.layout.columns)):
            cells = probabilities_of_values(parameters.column(j), len(fitted.classes))
            if cells is not None:
                facts[name]["cells"] = cells.tolist()
    for name, bits in _bits(model).items():
        if str(name) in facts:
            facts[str(name)]["bits"] = bits
    return [facts.get(column["name"], {"family": "", "unknown": True}) for column in columns]


def _described(parameters: Any, j: int, numbers: bool) -> dict[str, Any]:
    """Parameters of a column of numbers, and why it has its family, where that is known."""
    found: dict[str, Any] = {}
    if losses := parameters.rivals(j):
        best_first = sorted(losses, key=lambda family: losses[family])
        found["why"] = ", ".join(f"{name} {losses[name]:.3f}" for name in best_first)
    known = parameters.describe(j) if numbers else {}
    by_class = {name: [float(v) for v in values] for name, values in known.items() if _few(values)}
    if 0 < len(by_class) == len(known) <= MOST_PARAMETERS:
        found["parameters"] = by_class
    return found


def _few(values: Any) -> bool:
    numbers = all(isinstance(value, int | float) and isfinite(value) for value in values)
    return numbers and 0 < len(values) <= MOST_CLASSES


def _missing(fitted: GenerativeModel, block: Any, j: int) -> float:
    """Share of the rows without a value in column j of a part."""
    weight = float(fitted.statistic.weight.value.sum())
    observed = float(block.total[:, min(j, block.total.shape[1] - 1)].sum())
    return (weight - observed) / weight if weight else 0.0


def _bits(model: Any) -> dict[str, float]:
    """Return the mutual information of each weighted column and the class."""
    bits = dict.fromkeys(map(str, model.model_.layout.names), nan)
    if not all(part.family.joint for part in model.model_.parts):
        asked = next_question(model, {})
        bits |= zip(asked.columns, asked.bits.tolist(), strict=True)
    if any(map(isnan, bits.values())):  # of a text, what a word tells
        found = column_information(model)
        others = zip(found.columns, found.bits.tolist(), strict=True)
        bits |= {name: of for name, of in others if isnan(bits.get(name, 0.0))}
    return {name: of for name, of in bits.items() if not isnan(of)}


def _values(model: Any, parameters: Any, j: int, name: str, kind: str | None) -> list[Any]:
    if isinstance(parameters, TermParameters):
        return list(parameters.design.categories[name].values)
    if (listed := parameters.values(j)) is not None:
        return list(listed)
    if hasattr(parameters, "vocabularies"):
        return list(parameters.vocabularies[j].values)
    if kind == "boolean":
        return [False, True]
    lows = {c.name: LOW[c.reason] for c in model.reader_.layout.columns if c.reason in LOW}
    return [int(lows.get(name, 0)), 1]


def _line(drawn: NDArray[np.float64], k: int) -> dict[str, Any]:
    """Return a range that holds all but a few numbers of every class."""
    if not np.isfinite(drawn).all():
        return {}
    ends = np.quantile(drawn.reshape(k, -1), [TAIL, 1 - TAIL], axis=1)
    return _scale(float(ends[0].min()), float(ends[1].max()), float(np.median(drawn)))


def _scale(low: float, high: float, typical: float) -> dict[str, Any]:
    """Ends at round numbers, and the step between them."""
    width = high - low
    if not isfinite(width) or width <= 0:
        return {"typical": typical}
    step = 10.0 ** np.floor(np.log10(width / STEPS))
    low, high = float(np.floor(low / step) * step), float(np.ceil(high / step) * step)
    places = max(0, -int(np.floor(np.log10(step))))
    return {
        "low": round(low, places),
        "high": round(high, places),
        "step": float(step),
        "typical": round(typical, places),
        "places": places,
    }


def _of_design(model: Any, columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    fitted = model.model_
    design, mean, sd = fitted.design, fitted.term_means, fitted.term_scales
    logistic = isinstance(fitted, LogisticModel)
    coefficients = fitted.coefficients[:, 1:] if logistic else fitted.fit.coefficients.T
    outputs = coefficients
    if logistic and len(outputs) == 1:  # the second class against the first
        outputs = np.insert(outputs, 0, 0.0, axis=0)
    try:
        errors = _errors_of(model)
    except (ParameterError, DataError):
        errors = None
    facts = []
    for column in columns:
        name = column["name"]
        at = design.places([name])
        moves = float(np.abs(coefficients[:, at] * sd[at]).max(initial=0.0))  # of no term, 0
        is_number = name not in design.categories and name not in design.bins
        # `suffice.export` measures numbers of a logistic model from their mean: it adds nothing.
        average = outputs[:, at] @ (np.zeros(len(at)) if logistic and is_number else mean[at])
        one: dict[str, Any] = {"family": "coefficient", "unknown": False, "moves": moves}
        if name in design.missing:  # and values from a missing cell
            average -= outputs[:, at[-1]]
            one["lacking"] = True
        one["average"] = average.tolist()
        one["effects"] = _effects_of(model, outputs, errors, name, MOST_VALUES)
        if is_number:
            m, s = float(mean[at[0]]), float(sd[at[0]])
            one |= _scale(m - DEVIATIONS * s, m + DEVIATIONS * s, m)
            one["start"] = one["typical"]
            if abs(s**2 - m * (1 - m)) < SAME:  # the variance of zeros and ones
                one |= {"low": 0, "high": 1, "step": 1, "two": True}
        else:
            one |= _of_levels(design, name, mean[at])
        facts.append(one)
    return facts


def _of_levels(design: Design, name: str, mean: NDArray[np.float64]) -> dict[str, Any]:
    """The values of a category, or the bins of a number, and the one that most rows show."""
    shares, missing = shares_of(design, name, mean)
    own = ["missing"] if name in design.missing else []
    if name in design.categories:
        values = list(design.categories[name].values)
        start = None if missing > shares.max() else values[int(shares.argmax())]
        return {"values": values, "start": start, "levels": values[:MOST_VALUES] + own}
    bins = design.bins[name]
    ends = np.concatenate([[span(bins)[0]], bins.cuts, [span(bins)[1]]])
    middle = 0.5 * ends[:-1] + 0.5 * ends[1:]
    found = _scale(*span(bins), float(middle[shares.argmax()]))
    named = [bins.named(b) for b in range(len(bins))]
    start = None if missing > shares.max() else found["typical"]
    return found | {"start": start, "levels": named[:MOST_VALUES] + own}


class _Errors(NamedTuple):
    """Half the width of the interval of a score, reach · |R_c z|, where RᵀR is a covariance.

    Parameters
    ----------
    root : ndarray (q, m, D)
        R of the score of every class against the first, or of all targets together, (q, 1, D).
    reach : ndarray (1,) or (t,)
        Of classes Φ⁻¹(0.975); of targets the quantile of Student's distribution times σ̂.
    """

    root: NDArray[np.float64]
    reach: NDArray[np.float64]


def _errors_of(model: Any) -> _Errors:
    """Return the errors of the scores of a linear or logistic model."""
    if isinstance(model.model_, LogisticModel):
        fitted = model._inferable()
        root = fitted.root.reshape(len(fitted.root), *fitted.coefficients.shape)
        against = root if root.shape[1] == 1 else root[:, 1:] - root[:, :1]
        return _Errors(against, np.array([ndtri((1 + LEVEL) / 2)]))
    fit, posterior = model._of_products(model._inferable()), model.posterior()
    if fit.factor.dependent:
        raise DataError(
            "columns depend on each other",
            "not every prediction is determined by the rows of the fit",
        )
    reach = posterior.quantile(LEVEL) * np.sqrt(posterior.noise_variance)
    return _Errors(np.insert(fit.root, 0, 0.0, axis=1)[:, None], reach)


def _effects_of(
    model: Any, weights: NDArray[np.float64], errors: _Errors | None, name: str, most: int
) -> list[list[list[float]]]:
    """Return the effect on every output of one unit of a column, or of each value or bin.

    A missing cell comes last, where it has a term.

    Parameters
    ----------
    model : fitted estimator
    weights : ndarray (k, p)
        Of every class or target.
    errors : _Errors, optional
        Of these.
    name : str
    most : int
        How many values, at most.

    Returns
    -------
    list
        For one unit, or every value, of each output what it adds, and the ends of the 95 % interval
        where they are known. Classes are then compared with the first.
    """
    design = model.model_.design
    at = design.places([name])
    rows = np.ones((1, 1))
    steps = name in design.bins or name in design.ordered
    if name in design.categories or name in design.bins:
        own = name in design.missing
        count = len(design.bins[name]) if name in design.bins else 0
        steps_up = np.arange(count) + 1 - design.first(name)
        ranks = (steps_up if count else design.ranks(name))[:most]
        rows = indicators(ranks, np.arange(1, len(at) + 1 - own), steps).astype(float)
        if own:
            rows = np.pad(rows, ((0, 1), (0, 1)))
            rows[-1, -1] = 1.0
    adds = rows @ weights[:, at].T
    if errors is None:
        return [[[_brief(v)] for v in row] for row in adds.tolist()]
    moved = np.linalg.norm(np.einsum("rj,qmj->qrm", rows, errors.root[:, :, 1 + at]), axis=0)
    reach = errors.reach * moved
    if isinstance(model.model_, LogisticModel):
        adds, reach = adds - adds[:, :1], np.insert(reach, 0, 0.0, axis=1)
    return [
        [[_brief(v), _brief(v - r), _brief(v + r)] if r else [_brief(v)] for v, r in both]
        for both in np.stack([adds, reach], axis=-1).tolist()
    ]


def _brief(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
