"""The columns of a design matrix: what each column of a table becomes, and what it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Numbered
from suffice.errors import SchemaError
from suffice.models.design.bins import BELOW, steps
from suffice.models.design.formula import Coded, Formula, label, names
from suffice.models.design.words import Words
from suffice.numerics.rows import is_sparse
from suffice.rules import rule
from suffice.sums.pairs import CutBins
from suffice.sums.vocabulary import KINDS, Vocabulary

MISSING = "(missing)"


@dataclass(frozen=True)
class Terms:
    """The p terms that d columns become, and the t targets.

    A number is one term. A category of m values is m − 1 terms, indicators of all values but the
    reference that they are compared with: the first, or the one that is named. Of an ordered
    category they are indicators of this level and those above it, so that a coefficient is the
    step from one level to the next. A number that is cut into bins is an ordered category of these.
    Without an intercept, the first of these columns has a term of its first level too, so that
    predictions do not depend on which level is the first.
    A text is as many terms as there are words, or places for them. With a formula, the terms are
    its products.

    Parameters
    ----------
    columns : sequence of str
        The d columns.
    targets : tuple of str
        The t targets.
    categories : mapping of str to Vocabulary
        The values of those columns that are categories.
    ordered : mapping of str to tuple
        The levels of those categories that are ordered, the lowest first; no row need show one.
    words : mapping of str to Words
        What the words of those columns that are texts become.
    formula : Formula, optional
        The terms, where they are not the columns.
    reference : mapping of str to object
        The values that those of unordered categories are compared with, where it is not the first.
    bins : mapping of str to CutBins
        The bins of those numbers that are cut.
    missing : tuple of str
        The categories, and numbers that are cut, of which a missing cell has a term of its own.
    whole : str
        The category, or number that is cut, whose first level has a term too; "" for none.

    Examples
    --------
    >>> size = Vocabulary(("L", "M", "S"))
    >>> Terms(("age", "size"), ("price",), {"size": size}).terms
    ('age', 'size[M]', 'size[S]')
    >>> Terms(("age", "size"), ("price",), {"size": size}, {"size": ("S", "M", "L")}).terms
    ('age', 'size[>=M]', 'size[>=L]')
    >>> Terms(("age",), (), bins={"age": CutBins(np.array([30.5, 65]))}, missing=("age",)).terms
    ('age[>=30.5]', 'age[>=65]', 'age[(missing)]')
    >>> Terms(("age", "size"), ("price",), {"size": size}, whole="size").terms
    ('age', 'size[L]', 'size[M]', 'size[S]')
    """

    columns: Sequence[str]
    targets: tuple[str, ...]
    categories: Mapping[str, Vocabulary] = field(default_factory=dict)
    ordered: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    words: Mapping[str, Words] = field(default_factory=dict)
    formula: Formula | None = None
    reference: Mapping[str, Any] = field(default_factory=dict)
    bins: Mapping[str, CutBins] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    whole: str = ""

    @rule("categories and texts are among the columns, and those of an array are numbers")
    def _has_categories(self) -> bool:
        listed = set(() if isinstance(self.columns, Numbered) else self.columns)
        return self.categories.keys() <= listed and self.words.keys() <= listed - {*self.categories}

    @rule("levels are distinct, and have every value of an ordered category")
    def _has_levels(self) -> bool:
        return self.ordered.keys() <= self.categories.keys() and all(
            len(set(levels)) == len(levels) and set(self.categories[name].values) <= set(levels)
            for name, levels in self.ordered.items()
        )

    @rule("references are values of unordered categories")
    def _has_reference(self) -> bool:
        return self.reference.keys() <= self.categories.keys() - self.ordered.keys() and all(
            isinstance(value, KINDS) and value in self.categories[name].codes
            for name, value in self.reference.items()
        )

    @rule("a formula is of the columns, and computes with numbers only")
    def _has_formula(self) -> bool:
        if self.formula is None:
            return True
        if self.formula.left and len(self.formula.left) != len(self.targets):
            return False
        inner, read = self.formula.functions_of, set(self.formula.columns)
        return read <= set(self.columns) and not inner & {*self.categories, *self.words}

    @rule("bins are of numbers, of all in an array, without a formula")
    def _has_bins(self) -> bool:
        cut = self.bins.keys()
        if not cut:
            return True
        if self.formula or (isinstance(self.columns, Numbered) and len(cut) < len(self.columns)):
            return False
        return cut <= set(self.columns) - {*self.categories, *self.words}

    @rule("only categories and bins have a term of missing cells, once each, without a formula")
    def _has_missing(self) -> bool:
        distinct = len(set(self.missing)) == len(self.missing)
        known = set(self.missing) <= {*self.categories, *self.bins}
        return distinct and known and not (self.missing and self.formula)

    @rule("only a category, or bins, has a term of its first level, without a formula")
    def _has_whole(self) -> bool:
        known = {*self.categories, *self.bins} if self.formula is None else set[str]()
        return not self.whole or self.whole in known

    @property
    def is_plain(self) -> bool:
        """Return whether terms are numbers, or indicators of all values but the first."""
        more = self.ordered or self.words or self.formula or self.reference
        return not (more or self.bins or self.missing or self.whole)

    @property
    def allows_intercept(self) -> bool:
        """Return whether no sum of terms is 1 in every row, as that of all levels is."""
        return not self.whole and (self.formula is None or self.formula.intercept)

    def spanning(self, intercept: bool) -> Self:
        """Return terms with that of a first level where there is no intercept.

        Examples
        --------
        >>> size = Vocabulary(("L", "M"))
        >>> Terms(("age", "size"), ("price",), {"size": size}).spanning(False).terms
        ('age', 'size[L]', 'size[M]')
        """
        if self.formula is not None:
            kept = self.formula.intercept and intercept
            return replace(self, formula=replace(self.formula, intercept=kept))
        if intercept or not (self.categories or self.bins):
            return replace(self, whole="")
        coded = {*self.categories, *self.bins}
        return replace(self, whole=next(name for name in self.columns if name in coded))

    @property
    def is_of_cells(self) -> bool:
        """Return whether every term is of one cell, and no count of words."""
        return not (self.words or self.formula)

    @cached_property
    def numbers(self) -> Sequence[str]:
        """The columns that are numbers."""
        if not (self.categories or self.words):
            return self.columns
        others = {*self.categories, *self.words}
        return tuple(name for name in self.columns if name not in others)

    @property
    def groups(self) -> Sequence[str]:
        """Return the owners of the terms: columns, or the products of a formula."""
        return self.columns if self.formula is None else self.formula.labels

    @property
    def blocks(self) -> tuple[BlockLayout, ...]:
        """Return the layout: numbers together, then categories, then every text."""
        real = (BlockLayout("real", self.numbers),) if len(self.numbers) else ()
        texts = (BlockLayout("events", (n,), ngrams=w.ngrams) for n, w in self.words.items())
        return (*real, *self.category_block, *texts)

    @property
    def category_block(self) -> tuple[BlockLayout, ...]:
        return (BlockLayout("category", tuple(self.categories)),) if self.categories else ()

    @property
    def left(self) -> tuple[str, ...]:
        """Return what is modelled: targets, or the functions of them that a formula names."""
        functions = (self.formula.left if self.formula else ()) or ("",) * len(self.targets)
        pairs = zip(functions, self.targets, strict=True)
        return tuple(f"{function}({name})" if function else name for function, name in pairs)

    @property
    def has_functions(self) -> bool:
        """Return whether functions of targets are modelled."""
        return self.left != self.targets

    def modelled(self, y: NDArray[np.float64], first: int = 0) -> NDArray[np.float64]:
        """Return what is modelled, (n, t), of targets (n, t); ``first`` is the number of row 0."""
        return self.formula.modelled(y, self.targets, first) if self.formula else y

    def undone(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return answers in units of the targets, (n, t, ...), from those of what is modelled."""
        return self.formula.undone(answers) if self.formula else answers

    @property
    def target_block(self) -> BlockLayout:
        return BlockLayout("real", self.targets)

    @cached_property
    def terms(self) -> Sequence[str]:
        """Names of the columns of the design matrix."""
        if not self.categories and self.is_plain:
            return tuple(self.columns)
        return tuple(term for names in self._terms_by_group for term in names)

    @property
    def reference_terms(self) -> tuple[str, ...]:
        """The values that the others of their categories are compared with: they have no term.

        Examples
        --------
        >>> size = Vocabulary(("L", "M", "S"))
        >>> Terms(("age", "size"), ("price",), {"size": size}).reference_terms
        ('size[L]',)
        """
        shown, found = set(self.terms) if self.categories else set(), list[str]()
        for name in self.categories:
            values = [f"{name}[{value}]" for value in self.levels(name)]
            absent = [value for value in values if value not in shown]
            found += absent if len(absent) == 1 < len(values) else []
        return tuple(found)

    @cached_property
    def _terms_by_group(self) -> Sequence[Sequence[str]]:
        if self.formula is None:
            return [self._named(name) for name in self.columns]
        return [
            [
                term
                for product in products
                for term in names([self._named(label(f), full) for f, full in product])
            ]
            for products in self.products
        ]

    @cached_property
    def products(self) -> tuple[tuple[Coded, ...], ...]:
        """The products of a formula, with their factors."""
        assert self.formula is not None
        return self.formula.coded(self.categories)

    def _named(self, name: str, full: bool = False) -> Sequence[str]:
        """Names of what a column, or an expression, becomes."""
        if name in self.words:
            return self.words[name].terms(name)
        own = [f"{name}[{MISSING}]"] if name in self.missing else []
        if name in self.bins:
            starts = (*([BELOW] if name == self.whole else []), *steps(self.bins[name]))
            return [*(f"{name}[>={start}]" for start in starts), *own]
        if name not in self.categories:
            return (name,)
        levels = self.levels(name)
        if full:
            return [f"{name}[{value}]" for value in levels]
        at_least = ">=" if name in self.ordered else ""
        return [*(f"{name}[{at_least}{value}]" for value in levels[self.first(name) :]), *own]

    def levels(self, name: str) -> tuple[Any, ...]:
        """The values of a category: the reference and the others, sorted; or in their order."""
        values = self.categories[name]
        if name in self.reference:
            first = self.reference[name]
            return (first, *(value for value in values.values if value != first))
        if name not in self.ordered:
            return values.values
        return tuple(level for level in self.ordered[name] if level in values.codes)

    def first(self, name: str) -> int:
        """Return the number of levels without a term: 1, or 0 with a term of every level."""
        return int(name != self.whole)

    def has_each_value(self, name: str) -> bool:
        """Return whether a formula has a category by itself, with an indicator of every value."""
        return self.formula is not None and any(
            [(label(factor), full) for factor, full in product] == [(name, True)]
            for products in self.products
            for product in products
        )

    def ranks(self, name: str) -> NDArray[np.intp]:
        """The place among the levels of every value of a category, (m,).

        It counts from 0 for a level without a term, and so from 1 where every level has one.
        """
        place = {level: rank for rank, level in enumerate(self.levels(name), 1 - self.first(name))}
        return np.array([place[value] for value in self.categories[name].values], np.intp)

    def __len__(self) -> int:
        if not self.categories and self.is_plain:
            return len(self.columns)
        return len(self.terms)

    def places(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Return the indices of the terms of columns, or products of a formula, increasing."""
        found = [self._terms_of_group[name] for name in set(names) & self._terms_of_group.keys()]
        return np.sort(np.concatenate([np.empty(0, np.intp), *found]))

    @cached_property
    def _terms_of_group(self) -> dict[str, NDArray[np.intp]]:
        """Indices of the terms of every column, or product of a formula."""
        groups: dict[str, list[int]] = {}
        for j, group in enumerate(self._group_of_term):
            groups.setdefault(group, []).append(j)
        return {group: np.array(places, np.intp) for group, places in groups.items()}

    def places_of(self, fewer: Terms) -> NDArray[np.intp]:
        """Return the indices of the terms of another design, in its order."""
        own = {pair: j for j, pair in enumerate(zip(self._group_of_term, self.terms, strict=True))}
        pairs = list(zip(fewer._group_of_term, fewer.terms, strict=True))
        for _, term in (pair for pair in pairs if pair not in own):
            raise SchemaError(
                f"there are no sums of the term {term!r}",
                "a model of some columns, or with another intercept, needs all of its terms",
                "fit it anew",
            )
        return np.array([own[pair] for pair in pairs], np.intp)

    def column(self, place: int) -> str:
        """The column, product or target that makes a term; targets come after the terms."""
        p = len(self)
        return self._group_of_term[place] if place < p else self.targets[place - p]

    @property
    def outline(self) -> Mapping[str, tuple[str, ...]]:
        """All but the values of categories, by what it is called."""
        return {
            "columns": tuple(self.columns),
            "categories": tuple(self.categories),
            "targets": self.targets,
            "orders of categories": tuple(f"{n}: {v}" for n, v in self.ordered.items()),
            "reference levels": tuple(f"{n}: {v}" for n, v in self.reference.items()),
            "texts": tuple(f"{n}: {w.places or 'counted'}" for n, w in self.words.items()),
            "bins": tuple(f"{n}: {', '.join(steps(b))}" for n, b in self.bins.items()),
            "terms of missing cells": self.missing,
            "columns with a term of every level": (self.whole,) if self.whole else (),
            "terms of formulas": self.formula.terms if self.formula else (),
            "left sides": self.left,
        }

    def keep(self, names: Sequence[str]) -> Self:
        """The design of some of the columns, or of some products of a formula."""
        formula = self.formula
        if formula is not None:
            formula = formula.keep(names)
            names = formula.columns
        chosen = set(names)
        return type(self)(
            tuple(c for c in self.columns if c in chosen),
            self.targets,
            {name: values for name, values in self.categories.items() if name in chosen},
            {name: levels for name, levels in self.ordered.items() if name in chosen},
            {name: words for name, words in self.words.items() if name in chosen},
            formula,
            {name: value for name, value in self.reference.items() if name in chosen},
            {name: bins for name, bins in self.bins.items() if name in chosen},
            tuple(name for name in self.missing if name in chosen),
            self.whole if self.whole in chosen else "",
        )

    @property
    def told_by_sums(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Categories, and texts of counted words, that have terms of their own.

        Sums of the terms tell which values and words rows show.
        """
        widths = {
            name: len(values) - (0 if self.has_each_value(name) else self.first(name))
            for name, values in self.categories.items()
        }
        widths |= {name: len(words) for name, words in self.words.items() if not words.places}
        own = {name for name, width in widths.items() if len(self.places([name])) == width}
        if self.formula is not None:
            own &= set(self.formula.labels)
        return tuple(n for n in self.categories if n in own), tuple(
            n for n in self.words if n in own
        )

    def narrowed(
        self, categories: Mapping[str, Vocabulary], counted: Mapping[str, Vocabulary] | None = None
    ) -> tuple[Self, NDArray[np.intp]]:
        """The design of fewer values and words, and which terms it keeps, increasing.

        Parameters
        ----------
        categories : mapping of str to Vocabulary
            The values that are left of some of the categories.
        counted : mapping of str to Vocabulary, optional
            The words that are left of some of the texts.

        Examples
        --------
        >>> color = Vocabulary(("blue", "green", "red"))
        >>> design = Terms(("size", "color"), ("price",), {"color": color})
        >>> fewer, kept = design.narrowed({"color": Vocabulary(("green", "red"))})
        >>> fewer.terms, kept
        (('size', 'color[red]'), array([0, 2]))
        """
        words = {name: self.words[name].narrowed(left) for name, left in (counted or {}).items()}
        left_of = {**self.categories, **categories}
        fewer = replace(
            self,
            categories=left_of,
            words={**self.words, **words},
            reference={n: v for n, v in self.reference.items() if v in left_of[n].codes},
        )
        if self.formula is not None:
            left = set(fewer.terms)
            return fewer, np.flatnonzero([term in left for term in self.terms])
        kept = [
            value is None or value in left
            for name in self.columns
            for before, left in [(self._terms_of(name), set(fewer._terms_of(name)))]
            for value in before
        ]
        return fewer, np.flatnonzero(kept)

    def _terms_of(self, name: str) -> Sequence[Any]:
        if name in self.words:
            words = self.words[name]
            return range(words.places) if words.places else words.known.values
        return self.levels(name)[self.first(name) :] if name in self.categories else (None,)

    @cached_property
    def _group_of_term(self) -> Sequence[str]:
        if not self.categories and self.is_plain:
            return self.columns
        groups = zip(self.groups, self._terms_by_group, strict=True)
        return tuple(group for group, names in groups for _ in names)

    def by_column(self, terms: Any) -> NDArray[np.float64]:
        """Sums over the terms of each group, (…, d), of what there is of every term, (…, p).

        Rows (n, p) of few cells may be a sparse array.
        """
        if is_sparse(terms):
            from scipy.sparse import csr_array

            place = {name: j for j, name in enumerate(self.groups)}
            group = [place[name] for name in self._group_of_term]
            cells = np.ones(len(group)), group, np.arange(len(group) + 1)
            return np.asarray((terms @ csr_array(cells, shape=(len(group), len(place)))).toarray())
        if not self.categories and self.is_plain:
            return np.asarray(terms)
        places = map(self.places, ([name] for name in self.groups))
        return np.stack([terms[..., place].sum(axis=-1) for place in places], axis=-1)


def summed_up(coefficients: NDArray[np.float64], steps: Sequence[slice]) -> NDArray[np.float64]:
    """Sum coefficients that are steps from the level below, (…, p).

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
    """Return the contribution of each value of a category, or bin, (k, m); and of none, (k,).

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
