"""The norm of coefficients that does not depend on which value of a category has none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.formula import Coded, Factor, is_column, label, quoted
from suffice.models.design.matrix import Design

Column = tuple[frozenset[Factor], dict[Factor, tuple[int, bool]], tuple[int, ...]]
"""Numbers of a product, the level of each category and whether it is full; which of its words."""


def norm_of_coefficients(terms: Design) -> NDArray[np.float64]:
    """H, (p, p): wᵀHw is the least Σγ² of coefficients γ of all values that predict the same.

    With A such that w = Aγ, and an intercept that takes up what is the same in all rows,

    ::

        H = (AAᵀ)⁻¹

    A product of categories has a γ for every combination. Its row of A is a product of one vector
    for each category: that of the level less the reference, of the level alone where all levels
    have a term, or of the reference where the category is not in the product. What a product lacks
    is in those of one category more, if all levels of that have a term.

    Examples
    --------
    >>> from suffice.sums.vocabulary import Vocabulary
    >>> terms = Design(("hue",), ("y",), {"hue": Vocabulary(("blue", "green", "red"))})
    >>> norm_of_coefficients(terms).round(3)
    array([[ 0.667, -0.333],
           [-0.333,  0.667]])
    """
    covariance = np.zeros((len(terms), len(terms)))
    columns, groups = _columns(terms)
    for numbers, categories in groups:
        places = [
            place
            for place, (of, levels, _) in enumerate(columns)
            if of == numbers and {f for f, (_, full) in levels.items() if not full} <= categories
        ]
        if not places:  # of a category with one value
            continue
        words = np.array([columns[place][2] for place in places], np.intp).reshape(len(places), -1)
        shared = (words[:, None] == words).all(axis=2).astype(np.float64)
        for category in categories:
            shown = [columns[place][1].get(category) for place in places]
            vectors = _vectors(terms, category, shown)
            shared *= vectors @ vectors.T
        covariance[np.ix_(places, places)] += shared
    return np.asarray(np.linalg.inv(covariance))


def _vectors(
    terms: Design, category: Factor, shown: list[tuple[int, bool] | None]
) -> NDArray[np.float64]:
    """Return the factors of each product for all levels of a category, (products, m)."""
    levels = np.eye(len(terms.levels(label(category))))
    before = int(label(category) in terms.ordered)
    return np.array(
        [
            levels[0]
            if one is None
            else levels[one[0]] - (0.0 if one[1] else levels[(one[0] - 1) * before])
            for one in shown
        ]
    )


def _columns(
    terms: Design,
) -> tuple[list[Column], list[tuple[frozenset[Factor], frozenset[Factor]]]]:
    if terms.formula is None:
        products: Sequence[Sequence[Coded]] = [
            [((quoted(name), name == terms.whole),)] for name in terms.columns
        ]
    else:
        products = terms.products
    columns: list[Column] = []
    groups = []
    for of_group in products:
        factors = {factor for product in of_group for factor, _ in product}
        coded = {f for f in factors if is_column(f) and label(f) in terms.categories}
        groups.append((frozenset(factors - coded), frozenset(coded)))
        for product in of_group:
            sizes = [_size(terms, factor, full) for factor, full in product]
            for index in np.ndindex(*sizes):
                levels = {
                    factor: (i + (not full), full)
                    for (factor, full), i in zip(product, index, strict=True)
                    if factor in coded
                }
                numbers = {f: i for (f, _), i in zip(product, index, strict=True) if f not in coded}
                words = tuple(numbers[factor] for factor in sorted(numbers))
                columns.append((frozenset(numbers), levels, words))
    return columns, groups


def _size(terms: Design, factor: Factor, full: bool) -> int:
    name = label(factor)
    if is_column(factor) and name in terms.categories:
        return len(terms.levels(name)) - (not full)
    return len(terms.words[name].terms(name)) if is_column(factor) and name in terms.words else 1
