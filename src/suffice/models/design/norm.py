"""The norm of coefficients that does not depend on which value of a category has none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.formula import label
from suffice.models.design.matrix import Design

Column = tuple[frozenset[str], dict[str, tuple[int, bool]], tuple[int, ...]]
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
    terms: Design, category: str, shown: list[tuple[int, bool] | None]
) -> NDArray[np.float64]:
    """Return the factors of each product for all levels of a category, (products, m)."""
    levels = np.eye(len(terms.levels(category)))
    before = int(category in terms.ordered)
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
) -> tuple[list[Column], list[tuple[frozenset[str], frozenset[str]]]]:
    if terms.formula is None:
        products = [[[(name, name == terms.whole)]] for name in terms.columns]
    else:
        products = [
            [[(label(factor), full) for factor, full in product] for product in of_term]
            for of_term in terms.products
        ]
    columns: list[Column] = []
    groups = []
    for of_term in products:
        factors = {name for product in of_term for name, _ in product}
        coded = factors & terms.categories.keys()
        groups.append((frozenset(factors - coded), frozenset(coded)))
        for product in of_term:
            for index in np.ndindex(*(_size(terms, name, full) for name, full in product)):
                levels, numbers = dict[str, tuple[int, bool]](), dict[str, int]()
                for (name, full), i in zip(product, index, strict=True):
                    if name in coded:
                        levels[name] = i + (not full), full
                    else:
                        numbers[name] = i
                words = tuple(numbers[name] for name in sorted(numbers))
                columns.append((frozenset(numbers), levels, words))
    return columns, groups


def _size(terms: Design, name: str, full: bool) -> int:
    if name in terms.categories:
        return len(terms.levels(name)) - (not full)
    return len(terms.words[name]) if name in terms.words else 1
