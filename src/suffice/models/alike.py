"""Whether two models have the same columns, families and labels, and what divides them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.data.schema import Layout
from suffice.errors import SchemaError
from suffice.families import Family
from suffice.models.design import Design
from suffice.models.generative import GenerativeModel, Part
from suffice.statistics.vocabulary import Value, Vocabulary

__all__ = ["check_alike", "check_one_type", "check_same_columns"]

NAMED = 10  # columns named in a sentence


def check_alike(mine: GenerativeModel, theirs: GenerativeModel, verb: str) -> None:
    """Refuse two models whose statistics are not of the same columns and labels, read alike.

    Parameters
    ----------
    mine, theirs : GenerativeModel
        "This model" and "the other" in what the error says.
    verb : str
        What is done to them, such as "merged".

    Raises
    ------
    SchemaError
        Naming the first difference, and both sides of it.
    """
    rule = f"only models of the same columns and families can be {verb}"
    if _plain(mine.parts) != _plain(theirs.parts):
        fact, next_step = _difference(mine.parts, theirs.parts)
        raise SchemaError(f"the models differ: {fact}", rule, next_step)
    other = _reading(theirs.layout)
    for option, value in _reading(mine.layout).items():
        if value != other[option]:
            raise SchemaError(
                f"the models differ: {option} is {value!r} in this model and {other[option]!r} "
                "in the other",
                f"only models that read their tables in the same way can be {verb}",
                f"fit both with the same {option}",
            )
    labels = mine.layout.label, theirs.layout.label
    if None not in labels and labels[0] != labels[1]:
        raise SchemaError(
            f"the models differ: the label of this model is {labels[0]!r}, "
            f"that of the other is {labels[1]!r}",
            f"only models of the same label can be {verb}",
            "rename the column if it is the same",
        )
    check_one_type(mine.classes, theirs.classes, "the labels of this model", "those of the other")


def check_same_columns(mine: Design, theirs: Design, verb: str) -> None:
    """Refuse two linear models that are not of the same columns, categories and targets.

    Parameters
    ----------
    mine, theirs : Design
        Those of "this model" and "the other" in what the error says.
    verb : str
        What is done to them, such as "merged".

    Raises
    ------
    SchemaError
        Naming the first difference.
    """
    parts = zip(("columns", "categories", "targets"), mine.outline, theirs.outline, strict=True)
    for part, one, other in parts:
        if one != other:
            sides = (one, set(other), "this model"), (other, set(one), "the other")
            alone = (
                f"{name!r} is among the {part} of {side} only"
                for names, rest, side in sides
                for name in names
                if name not in rest
            )
            raise SchemaError(
                f"the models differ: {next(alone, f'their {part} are in different orders')}",
                f"only models of the same columns can be {verb}",
                "fit both to the same columns",
            )


def check_one_type(mine: Vocabulary, theirs: Vocabulary, one: str, other: str) -> None:
    """Refuse labels of two types, such as strings and numbers.

    Parameters
    ----------
    mine, theirs : Vocabulary
        The labels.
    one, other : str
        What they are called.

    Raises
    ------
    SchemaError
        Naming the types of both.
    """
    kinds = _kind(mine.values), _kind(theirs.values)
    if None not in kinds and kinds[0] != kinds[1]:
        raise SchemaError(
            f"{one} are of the type {kinds[0]}, {other} of the type {kinds[1]}",
            "labels are of one type",
            "convert them",
        )


def _kind(values: Sequence[Value]) -> str | None:
    """The type of labels; numbers are one. They were checked to be of one type."""
    kinds = {"number" if isinstance(v, int | float) else type(v).__name__ for v in values}
    return min(kinds, default=None)


def _reading(layout: Layout) -> dict[str, Any]:
    """Options that say what a cell means."""
    return {
        "binarize": layout.threshold,
        "missing": tuple(sorted(set(layout.missing))),
        "label_suffix": layout.label_suffix,
        "label_map": dict(layout.label_map),
    }


def _plain(parts: tuple[Part, ...]) -> list[tuple[Family, str, tuple[str, ...]]]:
    """Families, encodings and names, however these are kept."""
    return [(p.family, p.layout.encoding, tuple(p.layout.columns)) for p in parts]


def _difference(mine: tuple[Part, ...], theirs: tuple[Part, ...]) -> tuple[str, str]:
    """Say what first divides two models, and what the next step is."""
    pairs = [{c: part for part in parts for c in part.layout.columns} for parts in (mine, theirs)]
    same = "fit both with the same `families`"
    for name in pairs[0] | pairs[1]:
        a, b = (side.get(name) for side in pairs)
        if a is None or b is None:
            return f"column {name!r} is in {'the other' if a is None else 'this model'} only", same
        if a.family != b.family:
            return f"column {name!r} is {a.family} in this model and {b.family} in the other", same
        if a.layout.encoding != b.layout.encoding:
            read = f"{a.layout.encoding} by this model and {b.layout.encoding} by the other"
            return f"column {name!r} is read as {read}", same
    orders = [list(side) for side in pairs]
    if orders[0] == orders[1]:
        return "this model and the other group the same columns in different ways", same
    named, others = (", ".join(map(repr, order[:NAMED])) for order in orders)
    return (
        f"the columns of this model come in the order {named}, those of the other {others}",
        "fit one of them again, its columns in the order of the other",
    )
