"""Columns on the page: their models, ranges of values, and mutual information."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isnan, nan
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from suffice.bayes import column_information, next_question
from suffice.data.schema import DATES, INSTANTS, TIMES, Column
from suffice.errors import DataError, ParameterError
from suffice.models.bayes_risk.information import probabilities_of_values
from suffice.models.design.bins import span
from suffice.models.design.matrix import Design, indicators
from suffice.models.generative.aode import AODEModel
from suffice.models.generative.described import in_words, missing_rows, moment
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.terms import TermParameters
from suffice.models.logistic.model import LogisticModel
from suffice.reports.scoring import shorter, shown_first
from suffice.reports.words import is_text, typical_words
from suffice.sums.bins import BinnedCounts, MomentsAndBins, cell_bounds

DRAWS = 500  # rows of each class that say where numbers lie, where no bins do
TAIL = 0.002  # share of them that may lie outside a scale, on either side
FAR = 1.5  # times as long as without these tails: a scale that long is cut
SPIKE = 0.3  # share of the rows in one bin, from which a scale is one of ranks
MOST_RANKS = 60  # values on such a scale
DEVIATIONS = 3  # as far from the mean a scale goes where only the variance is known
STEPS = 200  # of a slider, at least
SAME = 1e-9
MOST_VALUES = 40  # of a category whose effects are listed
MOST_PARAMETERS, MOST_CLASSES = 6, 8  # that are written as numbers
LEVEL = 0.95  # of the intervals of effects
DIGITS = 4  # of an effect
OF_SHARES = 5  # digits, from which information follows to 1e-4 bits
NUMBERS = ("number", "count", "whole", "date", "time")
OF_TIME = {DATES: "day", INSTANTS: "instant", TIMES: "clock"}
DAY, HOUR = 86_400, 3_600
SIZES = {"": 0, "whole": 1, "day": DAY, "instant": 1, "clock": 1}  # of units of numbers
STEPS_OF_TIME = (1, 60, 600, HOUR, DAY)
OF_ONE = ("cells", "average", "effects", "levels", "lacking", "start", "parameters", "why")

Ends = Mapping[str, tuple[float, float]]
"""The least and the largest number of columns, by name."""


def column_facts(
    model: Any, columns: Sequence[Mapping[str, Any]], ends: Ends = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Facts of the columns that are scored, with their ``name`` and ``kind``, in their order.

    Scales end where those of test data do, by name, if the model has no bins of a column. The facts
    are ``family``; ``low``, ``high``, ``step`` and ``typical`` of numbers, ``two`` of 0 and 1,
    ``whole`` where steps are of 1, ``days`` of dates without a time, and the values ``at`` the
    steps of a scale of ranks; ``values`` of categories, ``words`` typical of each class; ``cells``,
    the probabilities of what a cell may be in every class; ``bits`` that it is expected to tell
    where known, or what one standard deviation ``moves``. Models that need every cell have
    ``start``, with which the page starts, and what an ``average`` row adds; ``effects`` of linear
    and logistic models are those of `_effects_of`.
    """
    if hasattr(model, "members_") or isinstance(model.model_, AODEModel):
        return _of_members(model, columns, ends)
    if isinstance(model.model_, GenerativeModel):
        return _of_classes(model, columns, ends)
    return _of_design(model, columns, ends)


def _of_members(
    model: Any, columns: Sequence[Mapping[str, Any]], ends: Ends
) -> list[dict[str, Any]]:
    """Return facts of each column by the first member that reads it; every cell may be unknown."""
    facts: dict[str, dict[str, Any]] = {}
    for one in shown_first(model):
        read = {str(name) for name in one.model_.layout.names}
        if read <= facts.keys():
            continue
        own = [column for column in columns if column["name"] in read]
        described = _of_classes if isinstance(one.model_, GenerativeModel) else _of_design
        for column, of in zip(own, described(one, own, ends), strict=True):
            shown = {key: value for key, value in of.items() if key not in OF_ONE}
            facts.setdefault(column["name"], shown | {"unknown": True})
    return [facts[column["name"]] for column in columns]


def _of_classes(
    model: Any, columns: Sequence[Mapping[str, Any]], ends: Ends
) -> list[dict[str, Any]]:
    fitted, read = model.model_, _columns_of(model)
    codes = np.repeat(np.arange(len(fitted.classes)), DRAWS)
    rng, families = np.random.default_rng(0), fitted.family_names
    facts: dict[str, dict[str, Any]] = {}
    kinds = {column["name"]: column["kind"] for column in columns}
    statistic, missing = fitted.statistic.over(fitted.classes), missing_rows(fitted)
    rows = float(statistic.weight.value.sum())
    far = fitted.sampled and fitted.sampled.far(fitted.parts, statistic)
    for part, parameters, block in zip(
        fitted.parts, fitted.parameters, statistic.blocks[: len(fitted.parts)], strict=True
    ):
        names = [str(name) for name in part.layout.columns]
        drawn: Sequence[Any] = ()
        unbinned = part.family.is_distribution and not isinstance(block, MomentsAndBins)
        if unbinned and any(kinds.get(name) in NUMBERS for name in names):
            drawn = parameters.sample(codes, rng)
        for j, name in enumerate(names):
            facts[name] = {"family": families[part.layout.columns[j]], "unknown": True}
            facts[name] |= _described(parameters, j, kinds.get(name) in NUMBERS, read.get(name))
            facts[name]["missing"] = float(missing[part.layout.columns[j]].sum()) / (rows or 1.0)
            if is_text(parameters):
                labels = [str(label) for label in fitted.classes.values]
                facts[name]["words"] = typical_words(parameters, labels)
            elif not part.family.joint:
                cells = probabilities_of_values(parameters.column(j), len(fitted.classes))
                if cells is not None:
                    facts[name]["cells"] = [
                        [shorter(p, OF_SHARES) for p in row] for row in cells.tolist()
                    ]
            if kinds.get(name) not in (*NUMBERS, "text"):
                facts[name]["values"] = _values(parameters, j, read[name])
            if kinds.get(name) not in NUMBERS:
                continue
            if far is not None and name in far.columns:
                at = far.columns.index(name)
                facts[name] |= _binned(far.bins, at, _unit(read[name]))
            elif isinstance(block, MomentsAndBins):
                facts[name] |= _binned(block.bins, j, _unit(read[name]))
            elif len(drawn) == len(names):
                numbers = np.asarray(drawn[j], float)
                facts[name] |= _drawn(
                    numbers, len(fitted.classes), _unit(read[name]), ends.get(name)
                )
    for name, bits in _bits(model).items():
        if str(name) in facts:
            facts[str(name)]["bits"] = bits
    return [facts.get(column["name"], {"family": "", "unknown": True}) for column in columns]


def _described(parameters: Any, j: int, numbers: bool, column: Column | None) -> dict[str, Any]:
    """Parameters of a column of numbers, and why it has its family, where that is known."""
    found: dict[str, Any] = {}
    if losses := parameters.rivals(j):
        best_first = sorted(losses, key=lambda family: losses[family])
        found["why"] = ", ".join(f"{name} {losses[name]:.3f}" for name in best_first)
    known = parameters.describe(j) if numbers else {}
    if 0 < len(known) <= MOST_PARAMETERS and all(map(_few, known.values())):
        numbers_of = {name: list(map(float, values)) for name, values in known.items()}
        found["parameters"] = in_words(numbers_of, "" if column is None else column.reason)
    return found


def _few(values: Any) -> bool:
    numbers = all(isinstance(value, int | float) and isfinite(value) for value in values)
    return numbers and 0 < len(values) <= MOST_CLASSES


def _bits(model: Any) -> dict[str, float]:
    """Return the mutual information of each weighted column and the class."""
    bits = dict.fromkeys(map(str, model.model_.layout.names), nan)
    alone = not all(part.family.joint for part in model.model_.parts)
    if alone and not isinstance(model.model_, AODEModel):
        asked = next_question(model, {})
        bits |= zip(asked.columns, asked.bits.tolist(), strict=True)
    if any(map(isnan, bits.values())):  # of a text, what a word tells
        found = column_information(model)
        others = zip(found.columns, found.bits.tolist(), strict=True)
        bits |= {name: of for name, of in others if isnan(bits.get(name, 0.0))}
    return {name: of for name, of in bits.items() if not isnan(of)}


def _values(parameters: Any, j: int, column: Column) -> list[Any]:
    if isinstance(parameters, TermParameters):
        return list(parameters.design.categories[column.name].values)
    if (listed := parameters.values(j)) is not None:
        return list(listed)
    return list(column.outcomes)


def _columns_of(model: Any) -> dict[str, Column]:
    return {str(column.name): column for column in model.reader_.layout.columns}


def _unit(column: Column) -> str:
    """Return what the numbers of a column count, or are measured in."""
    return "whole" if column.stored == "integer" else OF_TIME.get(column.reason, "")


def _drawn(
    drawn: NDArray[np.float64], k: int, unit: str, ends: tuple[float, float] | None
) -> dict[str, Any]:
    """Return the scale of test data, or one that holds all but a few numbers of every class."""
    typical = float(np.median(drawn))
    if ends is not None:
        return _scale(*ends, typical, unit)
    low, high = np.quantile(drawn.reshape(k, -1), [TAIL, 1 - TAIL], axis=1)
    return _scale(_above_zero(float(low.min()), typical, unit), float(high.max()), typical, unit)


def _above_zero(low: float, typical: float, unit: str) -> float:
    """Return where a scale of unknown ends begins: whole numbers with a mean above 0 are counts."""
    return max(low, 0.0) if unit == "whole" and typical >= 0 else low


def _binned(bins: BinnedCounts, j: int, unit: str) -> dict[str, Any]:
    """Return a scale from the least number to the largest, by the bins of a column.

    It is cut where a few numbers make it longer than `FAR`. If one bin holds many rows, and others
    lie far apart, the scale is one of ranks: one step from a value to the next.
    """
    cells, counts = bins.column(j)
    low, high = (bins.origin[j] + bins.units[j] * end for end in cell_bounds(cells))
    weight = counts.sum(axis=0)
    inside = np.isfinite(low) & np.isfinite(high)
    low, high, weight = low[inside], high[inside], weight[inside]
    if not len(low):
        return {}
    single = bool((low == high).all()) and bool((low % 1 == 0).all())
    unit = unit or ("whole" if single else "")
    grid = SIZES[unit]
    last = np.where(high > low, high - grid, high)
    middle = (low + last) / 2
    middle = grid * np.round(middle / grid) if grid else middle
    share = np.cumsum(weight) / weight.sum()
    typical = float(middle[np.searchsorted(share, 0.5)])
    if single and unit == "whole" and low.tolist() == [0.0, 1.0]:
        return {"low": 0, "high": 1, "step": 1, "typical": typical, "whole": True, "two": True}
    if weight.max() >= SPIKE * weight.sum() and len(low) > 2 and not single:
        size = np.cumsum(np.sqrt(weight))
        at = np.searchsorted(size, np.linspace(size[0], size[-1], min(MOST_RANKS, len(size))))
        at = np.union1d(at, weight.argmax()) if len(size) > MOST_RANKS else np.arange(len(size))
        digits = 17 if unit in OF_TIME.values() else DIGITS
        values = np.unique([shorter(value, digits) for value in middle[at].tolist()]).tolist()
        ranks = {"at": values, "low": values[0], "high": values[-1]}
        return _scale(values[0], values[-1], typical, unit) | ranks
    first, final = np.searchsorted(share, [TAIL, 1 - TAIL])
    if last[-1] - low[0] <= FAR * (last[final] - low[first]):
        first, final = 0, -1
    return _scale(float(low[first]), float(last[final]), typical, unit)


def _scale(low: float, high: float, typical: float, unit: str = "") -> dict[str, Any]:
    """Ends at round numbers, and the step between them."""
    width = high - low
    known: dict[str, Any] = {"days": True} if unit == "day" else {}
    if not isfinite(width) or width <= 0:
        return known | {"typical": typical}
    if unit == "day" or (unit == "whole" and width < STEPS * STEPS):
        step = SIZES[unit]
        ends = {"low": step * int(np.floor(low / step)), "high": step * int(np.ceil(high / step))}
        known |= {"step": step, "typical": step * round(typical / step), "places": 0}
        return ends | known | {"whole": True}
    step = 10.0 ** np.floor(np.log10(width / STEPS))
    if unit in ("instant", "clock"):
        step = max((one for one in STEPS_OF_TIME if one * STEPS <= width), default=step)
    low, high = float(np.floor(low / step) * step), float(np.ceil(high / step) * step)
    if unit == "clock":
        low, high = max(low, 0.0), min(high, float(DAY - step))
    places = max(0, -int(np.floor(np.log10(step))))
    return {
        "low": round(low, places),
        "high": round(high, places),
        "step": float(step),
        "typical": round(typical, places),
        "places": places,
    }


def _of_design(
    model: Any, columns: Sequence[Mapping[str, Any]], ends: Ends
) -> list[dict[str, Any]]:
    fitted, read = model.model_, _columns_of(model)
    design, mean, sd = fitted.design, fitted.term_means, fitted.term_scales
    logistic = isinstance(fitted, LogisticModel)
    coefficients = fitted.coefficients[:, 1:] if logistic else fitted.fit.coefficients.T
    outputs = coefficients
    if logistic and len(outputs) == 1:  # the second class against the first
        outputs = np.insert(outputs, 0, 0.0, axis=0)
    try:
        widths: Widths | None = _widths_of(model)
    except (ParameterError, DataError):
        widths = None
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
        unit = _unit(read[name])
        per = {"day": DAY, "instant": DAY, "clock": HOUR}.get(unit, 1) if is_number else 1
        one["effects"] = _effects_of(model, outputs, widths, name, MOST_VALUES, per)
        if is_number:
            m, s = float(mean[at[0]]), float(sd[at[0]])
            low, high = _above_zero(m - DEVIATIONS * s, m, unit), m + DEVIATIONS * s
            one |= _scale(*ends.get(name, (low, high)), m, unit)
            if abs(s**2 - m * (1 - m)) < SAME:  # the variance of zeros and ones
                one |= {"low": 0, "high": 1, "step": 1, "two": True, "whole": True}
                one["typical"] = round(m)
            one["start"] = one["typical"]
        else:
            one |= _of_levels(design, read[name], mean[at])
        facts.append(one)
    return facts


def _of_levels(design: Design, column: Column, mean: NDArray[np.float64]) -> dict[str, Any]:
    """The values of a category, or the bins of a number, and the one that most rows show."""
    name, reason = column.name, column.reason
    shares, missing = design.shares_of(name, mean)
    own = ["missing"] if name in design.missing else []
    if name in design.categories:
        values = list(design.categories[name].values)
        start = None if missing > shares.max() else values[int(shares.argmax())]
        return {"values": values, "start": start, "levels": values[:MOST_VALUES] + own}
    bins = design.bins[name]
    ends = np.concatenate([[span(bins)[0]], bins.cuts, [span(bins)[1]]])
    middle = 0.5 * ends[:-1] + 0.5 * ends[1:]
    found = _scale(*span(bins), float(middle[shares.argmax()]), OF_TIME.get(reason, ""))
    written = (lambda cut: moment(cut, reason)) if reason in OF_TIME else "{:.10g}".format
    named = [bins.named(b, written) for b in range(len(bins))]
    start = None if missing > shares.max() else found["typical"]
    return found | {"start": start, "levels": named[:MOST_VALUES] + own}


Widths = Callable[[NDArray[np.float64], NDArray[np.intp]], NDArray[np.float64]]
"""Half the widths (r, m) of the intervals of scores zᵀw of rows z (r, c) of some columns (c,)."""


def _widths_of(model: Any) -> Widths:
    """Return the widths of a linear model; of classes, each is compared with the first."""
    if isinstance(model.model_, LogisticModel):
        fitted = model._inferable()
        root = fitted.root.reshape(len(fitted.root), *fitted.coefficients.shape)
        against = root if root.shape[1] == 1 else root[:, 1:] - root[:, :1]
        quantile = float(ndtri((1 + LEVEL) / 2))

        def of_classes(rows: NDArray[np.float64], at: NDArray[np.intp]) -> NDArray[np.float64]:
            moved = np.einsum("rj,qmj->qrm", rows, against[:, :, 1 + at])
            return np.asarray(quantile * np.linalg.norm(moved, axis=0))

        return of_classes
    fit, posterior = model._inferable(), model.posterior()
    if fit.deficient:
        raise DataError(
            "columns depend on each other",
            "not every prediction is determined by the rows of the fit",
        )
    reach = posterior.quantile(LEVEL) * np.sqrt(posterior.noise_variance)

    def of_targets(rows: NDArray[np.float64], at: NDArray[np.intp]) -> NDArray[np.float64]:
        used = rows.any(axis=0)
        some, shown = fit.covariance_of(at[used]), rows[:, used]
        square = np.einsum("rj,jl,rl->r", shown, some, shown, optimize=True)
        return np.asarray(np.sqrt(np.maximum(square, 0.0))[:, None] * reach)

    return of_targets


def _effects_of(
    model: Any,
    weights: NDArray[np.float64],
    widths: Widths | None,
    name: str,
    most: int,
    per: float,
) -> list[list[list[float]]]:
    """Return the effect on every output of ``per`` units of a column, or of ``most`` of its values.

    Outputs have ``weights`` (k, p) and ``widths``. An effect is what is added, and the ends of its
    95 % interval where they are known: of classes against the first. A missing cell comes last.
    """
    design = model.model_.design
    at = design.places([name])
    rows = np.full((1, 1), float(per))
    steps = name in design.bins or name in design.ordered
    if name in design.categories or name in design.bins:
        own, ranks = name in design.missing, design.ranks(name)[:most]
        rows = indicators(ranks, np.arange(1, len(at) + 1 - own), steps).astype(float)
        if own:
            rows = np.pad(rows, ((0, 1), (0, 1)))
            rows[-1, -1] = 1.0
    adds = rows @ weights[:, at].T
    if widths is None:
        return [[[shorter(v, DIGITS)] for v in row] for row in adds.tolist()]
    reach = widths(rows, at)
    if isinstance(model.model_, LogisticModel):
        adds, reach = adds - adds[:, :1], np.insert(reach, 0, 0.0, axis=1)
    both = np.stack([adds, reach], axis=-1).tolist()
    found = [[(v, v - r, v + r) if r else (v,) for v, r in row] for row in both]
    return [[[shorter(v, DIGITS) for v in one] for one in row] for row in found]
