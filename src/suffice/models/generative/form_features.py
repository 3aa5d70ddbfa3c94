"""The features φ(x) that discriminant functions are evaluated on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.errors import ParameterError
from suffice.families import Family
from suffice.families.family import Form
from suffice.models.generative.model import GenerativeModel
from suffice.numerics.sparse import is_sparse
from suffice.sums.batch import Batch
from suffice.sums.block import in_block

__all__ = [
    "column_of",
    "family_of",
    "feature_names",
    "feature_order",
    "features_of",
    "forms_of",
    "stacked",
]


def forms_of(model: GenerativeModel) -> list[Form]:
    """The form of every part.

    Raises
    ------
    ParameterError
        If a part has none.
    """
    if not model.parts:
        raise ParameterError(
            "no column had a value so far", "a form weighs the values of columns", "learn some rows"
        )
    model.refuse_weights("a form")
    forms = []
    for b, part in enumerate(model.parts):
        form = model.parameters[b].form()
        if form is None:
            raise ParameterError(
                f"column {part.layout.columns[0]!r} is modelled by {part.family}",
                "its log-likelihood is neither linear nor quadratic",
                _remedy(part.family, model.statistic.blocks[b]),
            )
        forms.append(form)
    return forms


def _remedy(family: Family, sums: Any) -> str:
    """What estimation gives the family a form, if any does."""
    if getattr(family, "estimation", "mle") != "mle":
        options: Any = {"estimation": "mle"}
        if replace(family, **options).estimate(sums).form() is not None:
            return "fit it with estimation='mle'"
    return "choose another family for it"


def feature_names(model: GenerativeModel, forms: Sequence[Form]) -> list[Any]:
    """What the features are, part by part: the name of a column, or (column, value)."""
    names: list[Any] = []
    for part, form in zip(model.parts, forms, strict=True):
        columns = part.layout.columns
        names += (
            (columns[feature[0]], feature[1]) if isinstance(feature, tuple) else columns[feature]
            for feature in form.features
        )
    return names


def column_of(feature: Any) -> str:
    """The column that a feature is of."""
    name: str = feature[0] if isinstance(feature, tuple) else feature
    return name


def family_of(model: GenerativeModel, column: str) -> Family:
    """The family that models a column."""
    return next(part.family for part in model.parts if column in part.layout.columns)


def feature_order(model: GenerativeModel) -> NDArray[np.intp]:
    """Places, among the features of all parts, of the features in the order of the columns, (F,).

    Raises
    ------
    ParameterError
        If a part has no form.
    """
    place = {name: j for j, name in enumerate(model.layout.names)}
    columns = [place[column_of(feature)] for feature in feature_names(model, forms_of(model))]
    return np.argsort(columns, kind="stable")


def features_of(part: Part, params: tuple[GenerativeModel, NDArray[np.intp]]) -> list[Any]:
    """Kernel: the features φ (n, F) of the rows of a part, batch by batch."""
    model, order = params
    in_order = np.array_equal(order, np.arange(len(order)))

    def one(batch: Batch) -> Any:
        pieces = []
        for b, (parameters, block) in enumerate(zip(model.parameters, batch.blocks, strict=True)):
            with in_block(b):
                pieces.append(parameters.features(block))
        phi = stacked(pieces, axis=1)
        return phi if in_order else phi[:, order]

    return list(each_batch(part, model.layout, one))


def stacked(pieces: Sequence[Any], axis: int = 0) -> Any:
    """Join matrices; the result is a sparse array where one of them is."""
    if len(pieces) == 1:
        return pieces[0]
    if any(is_sparse(piece) for piece in pieces):
        from scipy.sparse import csr_array, hstack, vstack

        return csr_array((hstack if axis else vstack)(pieces))
    return np.concatenate(pieces, axis=axis)
