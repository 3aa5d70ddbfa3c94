"""What a colleague would say who looks over one's shoulder at a table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from suffice.models.generative.model import GenerativeModel

__all__ = ["advice"]

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
