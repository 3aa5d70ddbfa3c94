"""Terms of linear and quadratic forms: discriminants, and the coefficients of linear models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.export.columns import value_column
from suffice.export.expressions import (
    Cell,
    Choice,
    Column,
    Expression,
    Missing,
    Number,
    Product,
    Steps,
    Sum,
    Term,
)
from suffice.families.family import Form
from suffice.models.design.levels import added_by
from suffice.models.design.matrix import Design

__all__ = ["design_terms", "form_terms"]


def form_terms(form: Form | None, places: Sequence[int]) -> list[Term]:
    """The terms of a form in numbers; those of one column alone where nothing joins columns."""
    assert form is not None
    k, d = form.linear.shape
    origin = np.broadcast_to(form.origin, d)
    quadratic = form.quadratic
    if quadratic.ndim == 2:
        quadratic = np.stack([np.diag(row) for row in quadratic])
    if (quadratic == quadratic[:1]).all():
        quadratic = np.zeros_like(quadratic)  # all classes share it
    joined = quadratic[:, ~np.eye(d, dtype=bool)].any()
    rows = [
        [_of_column(quadratic[c], form.linear[c], origin, places, i) for i in range(d)]
        for c in range(k)
    ]
    constants = form.constant.tolist()
    if joined:
        whole = tuple(Sum((Number(b), *row)) for b, row in zip(constants, rows, strict=True))
        return [Term(tuple(places), whole, "refused")]
    terms = [Term((places[i],), tuple(row[i] for row in rows), "refused") for i in range(d)]
    return [*terms, Term((), tuple(map(Number, constants)))]


def _of_column(
    quadratic: NDArray[np.float64],
    linear: NDArray[np.float64],
    origin: NDArray[np.float64],
    places: Sequence[int],
    i: int,
) -> Expression:
    """ψ_i (w_i + A_ii ψ_i + 2 Σ_{j>i} A_ij ψ_j)."""
    slope: list[Expression] = [Number(float(linear[i]))]
    for j in range(i, len(places)):
        weight = float(quadratic[i, j]) * (1 if i == j else 2)
        if weight:
            slope.append(Product(Number(weight), _about(places[j], float(origin[j]))))
    factor = slope[0] if len(slope) == 1 else Sum(tuple(slope))
    return Product(factor, _about(places[i], float(origin[i])))


def design_terms(
    design: Design, weights: NDArray[np.float64], centre: NDArray[np.float64]
) -> tuple[list[Column], list[Term], NDArray[np.float64]]:
    """Columns, terms, and what they leave to the intercepts (k,), of Σ_j w_j (x_j − m_j).

    Parameters
    ----------
    weights : ndarray (k, p)
    centre : ndarray (p,)
        m; a number is measured from it, an indicator from 0. Where missing cells have a term, the
        intercepts are those of rows without the cell, from which its values differ.

    Raises
    ------
    ParameterError
        If a term is not of one cell.
    """
    _refuse_computed(design)
    columns: list[Column] = []
    terms: list[Term] = []
    rest = np.zeros(len(weights))
    for place, name in enumerate(design.columns):
        at = design.places([name])
        missing: Missing = "nothing" if name in design.missing else "refused"
        made: list[Expression]
        if name in design.categories or name in design.bins:
            rest -= weights[:, at] @ centre[at]
            by_value, by_none = added_by(design, name, weights)
            rest += by_none
            rows = (by_value - by_none[:, None]).tolist()
        if name in design.categories:
            values = design.categories[name].values
            columns.append(value_column(name, values))
            other = 0.0 if name in design.missing else None  # an unknown value is a missing one
            made = [Choice(place, tuple(zip(values, row, strict=True)), other) for row in rows]
        elif name in design.bins:
            columns.append(Column(name, "number"))
            starts = tuple(design.bins[name].cuts.tolist())
            made = [Steps(place, starts, tuple(row)) for row in rows]
        else:
            columns.append(Column(name, "number"))
            moved = _about(place, float(centre[at[0]]))
            made = [Product(Number(w), moved) for w in weights[:, at[0]].tolist()]
        terms.append(Term((place,), tuple(made), missing))
    return columns, terms, rest


def _refuse_computed(design: Design) -> None:
    """Refuse terms that other programs would have to compute."""
    if design.formula is not None:
        raise ParameterError(
            f"the model has the formula {design.formula.text}",
            "an export writes models whose terms are columns",
            "compute the terms as columns of the table, and fit these",
        )
    for name in design.words:
        raise ParameterError(
            f"column {name!r} holds text",
            "an export does not split texts into words as a fit does",
            "count the words as columns of the table, and fit these",
        )


def _about(place: int, origin: float) -> Any:
    return Sum((Cell(place), Number(-origin))) if origin else Cell(place)
