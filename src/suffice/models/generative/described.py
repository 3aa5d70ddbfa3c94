"""Descriptions of a generative model: warnings, the evidence of pseudo-counts, dates in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import DATES, INSTANTS, TIMES
from suffice.models.generative.model import GenerativeModel
from suffice.numerics.dirichlet_evidence import AlphaEvidence

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


def missing_rows(model: GenerativeModel) -> dict[Any, NDArray[np.float64]]:
    """Return Σw of the rows of each class without a value, (k,), by column.

    A text, or a group of counts, is there or missing as a whole.
    """
    statistic = model.statistic.over(model.classes)
    return {
        name: statistic.weight.value - block.total[:, min(j, block.total.shape[1] - 1)]
        for part, block in zip(model.parts, statistic.blocks, strict=False)
        for j, name in enumerate(part.layout.columns)
    }


def alpha_evidence(model: GenerativeModel) -> AlphaEvidence | None:
    """The evidence of all families that chose α, by their columns; None where none did."""
    pairs = zip(model.parts, model.parameters, strict=True)
    found = [
        parameters.alpha_evidence.named(part.layout.columns)
        for part, parameters in pairs
        if parameters.alpha_evidence is not None
    ]
    return AlphaEvidence.joined(found) if found else None


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
