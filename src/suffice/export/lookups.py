"""Numbers by the place of a cell: its bin, or its place among values.

A histogram and a category are tables of numbers, one row for every place and one column for every
output. The place of a cell is the same for all outputs, so it is found once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from suffice.export.expressions import Choice, Expression, Steps, Term

__all__ = ["Lookup", "lookup_of"]


@dataclass(frozen=True)
class Lookup:
    """A term as a table.

    Parameters
    ----------
    place : Expression
        The number of the place.
    by_output : tuple of k tuples
        What an output has in every place; None refuses the cell.
    """

    place: Expression
    by_output: tuple[tuple[float | None, ...], ...]


def lookup_of(term: Term, first: int = 0) -> Lookup | None:
    """The table of a term, or None if its outputs do not share their places.

    Parameters
    ----------
    term : Term
    first : int
        The number of the first place.

    Examples
    --------
    >>> a, b = Steps(0, (2.5,), (-1.0, -2.0)), Steps(0, (2.5,), (-3.0, -0.5))
    >>> lookup_of(Term((0,), (a, b))).place
    Steps(column=0, starts=(2.5,), values=(0, 1))
    >>> lookup_of(Term((0,), (a, b))).by_output
    ((-1.0, -2.0), (-3.0, -0.5))
    """
    shapes = {_shape(node) for node in term.by_output}
    if len(term.by_output) == 1 or len(shapes) > 1 or None in shapes:
        return None
    node = term.by_output[0]
    place: Expression
    if isinstance(node, Steps):
        place = replace(node, values=tuple(range(first, first + len(node.values))))
    else:
        assert isinstance(node, Choice)
        cases = tuple((value, i) for i, (value, _) in enumerate(node.cases, first))
        place = replace(node, cases=cases, otherwise=first + len(cases))
    return Lookup(place, tuple(map(_numbers, term.by_output)))


def _shape(node: Expression) -> object:
    """What two nodes have in common that find the same places; None where there are none."""
    if isinstance(node, Steps):
        return node.starts
    return tuple(value for value, _ in node.cases) if isinstance(node, Choice) else None


def _numbers(node: Expression) -> tuple[float | None, ...]:
    if isinstance(node, Steps):
        return node.values
    assert isinstance(node, Choice)
    return *(number for _, number in node.cases), node.otherwise
