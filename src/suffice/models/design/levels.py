"""Categories by level and by term: what each level adds, and sums over the rows that show it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.terms import Terms
from suffice.sums.vocabulary import Vocabulary


def summed_up(coefficients: NDArray[np.float64], steps: Sequence[slice]) -> NDArray[np.float64]:
    """What each level adds, (…, p), of coefficients that are steps from the level below.

    Parameters
    ----------
    coefficients : ndarray (…, p)
    steps : sequence of slice
        Where the terms of each ordered category are, the lowest first.

    Examples
    --------
    >>> summed_up(np.array([2.0, 3.0, 9.0]), [slice(0, 2)])
    array([2., 5., 9.])
    """
    found = coefficients.copy()
    for places in steps:
        found[..., places] = coefficients[..., places].cumsum(axis=-1)
    return found


def summed_down(sums: NDArray[np.float64], steps: Sequence[slice]) -> NDArray[np.float64]:
    """Sums over the rows of this level and those above it, (…, p), of sums for every level.

    Examples
    --------
    >>> summed_down(np.array([7.0, 1.0, 9.0]), [slice(0, 2)])
    array([8., 1., 9.])
    """
    found = sums.copy()
    for places in steps:
        found[..., places] = sums[..., places][..., ::-1].cumsum(axis=-1)[..., ::-1]
    return found


def sums_of_terms(
    terms: Terms,
    values: NDArray[np.float64],
    missing: NDArray[np.float64],
    shown: Sequence[Vocabulary],
) -> NDArray[np.float64]:
    """Sums for every term of categories, of those for their values and for missing cells.

    Parameters
    ----------
    terms : Terms
    values : ndarray (…, M)
        Of the values that are ``shown``, those of one category after those of another.
    missing : ndarray (…, c)
    shown : sequence of c Vocabulary

    Examples
    --------
    >>> sizes = Vocabulary(("L", "M", "S"))
    >>> terms = Terms(("size",), (), {"size": sizes}, {"size": ("S", "M", "L")}, missing=("size",))
    >>> terms.terms
    ('size[>=M]', 'size[>=L]', 'size[(missing)]')
    >>> sums_of_terms(terms, np.array([1.0, 2.0, 4.0]), np.array([8.0]), [sizes])
    array([3., 1., 8.])
    """
    found, start = [], 0
    for j, (name, known) in enumerate(terms.categories.items()):
        own = values[..., start : start + len(shown[j])]
        start += len(shown[j])
        by_rank = np.zeros((*own.shape[:-1], 1 + len(known) - terms.first(name)))
        by_rank[..., terms.ranks(name)[known.index(shown[j].values, -1)]] = own
        if name in terms.ordered:
            by_rank = summed_down(by_rank, [slice(None)])
        found.append(by_rank[..., 1:])
        if name in terms.missing:
            found.append(missing[..., [j]])
    return np.concatenate(found, axis=-1)


def added_by(
    terms: Terms, name: str, weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each value of a category adds, or each bin of a number, (k, m); and no value, (k,).

    Parameters
    ----------
    terms : Terms
    name : str
        Of the column.
    weights : ndarray (k, p)
        What every term adds.

    Examples
    --------
    >>> sizes = Vocabulary(("L", "M", "S"))
    >>> terms = Terms(("size",), (), {"size": sizes}, missing=("size",))
    >>> terms.terms
    ('size[M]', 'size[S]', 'size[(missing)]')
    >>> added_by(terms, "size", np.array([[2.0, 3.0, 4.0]]))
    (array([[0., 2., 3.]]), array([4.]))
    """
    own, missing = weights[:, terms.places([name])], np.zeros(len(weights))
    if name in terms.missing:
        own, missing = own[:, :-1], own[:, -1]
    by_level = np.insert(own, 0, 0.0, axis=1)
    if name in terms.bins or name in terms.ordered:  # a weight is the step to its level
        by_level = by_level.cumsum(axis=1)
    if name in terms.bins:
        return by_level[:, 1 - terms.first(name) :], missing
    return by_level[:, terms.ranks(name)], missing


def shares_of(
    terms: Terms, name: str, mean: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Shares of the rows that show each value of a category, or each bin; and that show none.

    Parameters
    ----------
    terms : Terms
    name : str
        Of the column.
    mean : ndarray (q,)
        Means of its terms.

    Examples
    --------
    >>> from suffice.sums.pairs import CutBins
    >>> terms = Terms(("age",), (), bins={"age": CutBins(np.array([30.5, 65]))}, missing=("age",))
    >>> shares_of(terms, "age", np.array([0.75, 0.25, 0.125]))
    (array([0.125, 0.5  , 0.25 ]), 0.125)
    """
    missing = float(mean[-1]) if name in terms.missing else 0.0
    levels = mean[:-1] if name in terms.missing else mean
    if name in terms.bins or name in terms.ordered:  # a term says that the level is reached
        levels = levels - np.append(levels[1:], 0.0)[: len(levels)]
    shares = np.append(1 - missing - levels.sum(), levels)
    return shares[1 - terms.first(name) :] if name in terms.bins else shares[
        terms.ranks(name)
    ], missing
