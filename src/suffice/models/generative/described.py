"""Descriptions of a generative model: warnings, the evidence of pseudo-counts, notebook tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import DATES, INSTANTS, TIMES
from suffice.families import Parameters
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.terms import TermParameters
from suffice.numerics.dirichlet_evidence import AlphaEvidence
from suffice.numerics.elementary import exp
from suffice.numerics.in_print import Table, bars_by_class, curves, key
from suffice.phrases import rows_in_print
from suffice.sums.block import RealBlock

SPREADS, BEFORE_CUTS = ("sd", "scale"), ("<", ">=")
UNITS = {DATES: ("days", 86_400), INSTANTS: ("days", 86_400), TIMES: ("hours", 3_600)}
HANDFUL = 5  # rows
MANY = 20  # values of a label that may be a quantity, and rows of each that would make it none


def advice(model: GenerativeModel) -> Iterator[str]:
    """Yield a sentence for whatever in the training data is probably not meant.

    A label that is a quantity, classes of a handful of rows, and what families say of their
    columns: constants, identifiers, copies of the label, numbers kept as text.
    """
    statistic = model.statistic.pruned()
    labels, rows = statistic.classes.values, statistic.weight.value
    numeric = all(
        isinstance(label, int | float) and not isinstance(label, bool) for label in labels
    )
    if numeric and len(labels) > MANY and rows.sum() < MANY * len(labels):
        name = model.layout.label
        yield (
            f"the label{'' if name is None else f' {name!r}'} has {len(labels)} numeric values; if "
            "it is a quantity, a linear model predicts it"
        )
    elif (rows < HANDFUL).any():
        rare = int(np.argmin(rows))
        number = int((rows < HANDFUL).sum())
        verb = "has" if number == 2 else "have"
        more = "" if number == 1 else f", and {number - 1} more {verb} fewer than {HANDFUL}"
        weight = f"{rows[rare]:g} row{'' if rows[rare] == 1 else 's'}"
        yield f"the class {labels[rare]!r} has {weight}{more}: its answers are uncertain"
    blocks = statistic.blocks[: len(model.parts)]  # the others are no columns of a family
    for part, block in zip(model.parts, blocks, strict=True):
        for j, said in part.family.advice(block):
            yield f"the column {part.layout.columns[j]!r} {said}"


def alpha_evidence(model: GenerativeModel) -> AlphaEvidence | None:
    """The evidence of all families that chose α, by their columns; None where none did."""
    parts = map(_of_part, model.parts, model.parameters)
    found = [evidence for evidence in parts if evidence is not None]
    return AlphaEvidence.joined(found) if found else None


def _of_part(part: FamilyColumns, parameters: Parameters) -> AlphaEvidence | None:
    evidence = parameters.alpha_evidence
    return None if evidence is None else evidence.named(part.layout.columns)


CLASSES, COLUMNS, VALUES = 7, 20, 8  # that are shown one by one
DRAWS, TAIL, POINTS = 200, 0.005, 48  # of each class, to see where numbers lie


def notebook_tables(name: str, model: GenerativeModel, weight: NDArray[np.float64]) -> str:
    """Two tables: classes with their rows and priors, and columns with a small picture of each.

    Curves and bars are p(x_j | c), in the colours of the classes of the first table.
    """
    shown = range(min(CLASSES, len(model.classes)))
    classes = [
        [str(model.classes.values[c]), f"{weight[c]:,g}", f"{100 * model.prior[c]:.1f} %"]
        for c in shown
    ]
    if left := len(model.classes) - len(shown):
        more = weight[CLASSES:].sum(), 100 * model.prior[CLASSES:].sum()
        classes.append([f"{left:,} other classes", f"{more[0]:,g}", f"{more[1]:.1f} %"])
    label = model.layout.label
    title = f"{name}{'' if label is None else f' of {label}'}: {rows_in_print(weight.sum())} learnt"
    keys = [*map(key, shown), *([""] if left else [])]
    return Table(title, ["class", "rows", "prior"], classes, pictures=keys).html() + _columns(model)


def _columns(model: GenerativeModel) -> str:
    rows: list[list[str]] = []
    pictures, total = [], 0
    families = model.family_names
    header = ["column", "modelled by", *(["counted"] if model.calibration else [])]
    for part, parameters, weights in zip(
        model.parts, model.parameters, model.part_weights, strict=True
    ):
        for j, column in enumerate(part.layout.columns):
            total += 1
            if len(rows) == COLUMNS:
                continue
            counted = f"{weights[min(j, len(weights) - 1)]:.2f} times"
            rows.append([str(column), families[column], *([counted] if model.calibration else [])])
            drawn = part.family.is_distribution and part.layout.encoding not in ("events", "sparse")
            pictures.append(_picture(parameters, j, len(model.classes)) if drawn else "")
    more = f", the first {len(rows)} shown" if total > len(rows) else ""
    pairs = "" if getattr(model, "pairs", None) is None else "; pairs of them are counted too"
    title = f"{total:,} column{'' if total == 1 else 's'}{more}{pairs}"
    return Table(title, header, rows, pictures=pictures).html()


def _picture(parameters: Any, j: int, k: int) -> str:
    """The distribution of one column in every class."""
    if isinstance(parameters, CategoricalParameters):
        return bars_by_class(parameters.probabilities(j)[:CLASSES, :VALUES].tolist())
    if isinstance(parameters, BernoulliParameters):
        return bars_by_class(parameters.theta[:CLASSES, j].tolist())
    if isinstance(parameters, TermParameters):
        if not parameters.is_number(j):
            return ""  # indicators of a Gaussian have no shares
        return _picture(parameters.of_terms, int(parameters.places[j][0]), k)
    one = parameters.column(j)
    drawn = one.sample(np.repeat(np.arange(k), DRAWS), np.random.default_rng(0))[0]
    return curves(_densities(one, np.asarray(drawn, np.float64).reshape(k, DRAWS)))


def _densities(one: Any, drawn: NDArray[np.float64]) -> list[list[float]]:
    """p(x | c) at points between the ends of what the classes draw; none where these are none."""
    ends = np.quantile(drawn, [TAIL, 1 - TAIL], axis=1)
    low, high = ends[0].min(), ends[1].max()
    if not (np.isfinite(high - low) and high > low):
        return []
    whole = bool((drawn == np.rint(drawn)).all())
    x = np.linspace(low, high, POINTS)
    x = np.unique(np.rint(x)) if whole else x
    logs = np.zeros((len(x), len(drawn)))
    one.add_log_likelihood(RealBlock(x[:, None]), logs)
    density: list[list[float]] = exp(logs).T[:CLASSES].tolist()
    return density


def in_words(parameters: Mapping[str, Sequence[Any]], reason: str) -> Mapping[str, Sequence[Any]]:
    """Return parameters of a column of dates or times of day, spreads in days or hours.

    Examples
    --------
    >>> in_words({"mean": [86_400.0], "sd": [172_800.0], "< 60": [0.5]}, DATES)
    {'mean': ['1970-01-02 00:00'], 'sd': ['2 days'], '< 1970-01-01 00:01': [0.5]}
    """
    if reason not in UNITS:
        return parameters
    name_of_unit, unit = UNITS[reason]
    found: dict[str, Sequence[Any]] = {}
    for name, values in parameters.items():
        sign, _, cut = name.partition(" ")
        named = f"{sign} {moment(float(cut), reason)}" if sign in BEFORE_CUTS else name
        if name == "mean":
            values = [moment(value, reason) for value in values]
        elif name in SPREADS:
            values = [f"{value / unit:.4g} {name_of_unit}" for value in values]
        found[named] = list(values)
    return found


def moment(seconds: float, reason: str) -> str:
    """Return the date, or the time of day, so many seconds after its origin, to the minute."""
    try:
        found = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return f"{seconds:.4g} s after 1970"
    return found.isoformat(" ", "minutes")[11 if reason == TIMES else 0 :]
