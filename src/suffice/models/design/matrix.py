"""The design matrix of a linear model: terms that columns become, their names, and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Numbered
from suffice.errors import SchemaError
from suffice.models.design.bins import BELOW, binned, levels_of, steps
from suffice.models.design.formula import Coded, Formula, is_column, label, names, products
from suffice.models.design.words import Words
from suffice.numerics.in_print import listed
from suffice.numerics.rows import is_sparse
from suffice.rules import rule
from suffice.sums.batch import Batch
from suffice.sums.block import (
    BadCell,
    CodedBlock,
    RealBlock,
    SparseBlock,
    converted,
    require_held,
)
from suffice.sums.kept_rows import LEAST_COLUMNS
from suffice.sums.pairs import CutBins
from suffice.sums.vocabulary import KINDS, Vocabulary, check_one_type

MISSING = "(missing)"
INTERCEPT = "(Intercept)"
TILE_ROWS = 4_096  # rows laid out at a time: of 16 columns, 512 kB, which stay in cache
LAID_OUT = 2**22  # cells of rows of many terms that are laid out at a time
TILE_CELLS = 32_768  # or few cells of rows, whose memory is not asked of the system each time
UNSEEN = "a category must be one of those of the first fit"
SHOW_ALL = "fit with unseen='reference', or to rows that show it too"

Compressed = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Rows as a CSR matrix has them: where each begins (n + 1,), columns of cells, and cells."""


@dataclass(frozen=True)
class Design:
    """The p terms that d columns become, the t targets, and the rows (n, p) that a table becomes.

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
    >>> Design(("age", "size"), ("price",), {"size": size}).terms
    ('age', 'size[M]', 'size[S]')
    >>> Design(("age", "size"), ("price",), {"size": size}, {"size": ("S", "M", "L")}).terms
    ('age', 'size[>=M]', 'size[>=L]')
    >>> Design(("age",), (), bins={"age": CutBins(np.array([30.5, 65]))}, missing=("age",)).terms
    ('age[>=30.5]', 'age[>=65]', 'age[(missing)]')
    >>> Design(("age", "size"), ("price",), {"size": size}, whole="size").terms
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
        more = self.ordered or self.reference or self.missing or self.whole
        return not (more or self.words or self.formula or self.bins)

    @property
    def is_of_numbers(self) -> bool:
        """Return whether the terms are the columns themselves, which are numbers."""
        return not (self.categories or self.words or self.formula or self.bins)

    @property
    def allows_intercept(self) -> bool:
        """Return whether no sum of terms is 1 in every row, as that of all levels is."""
        return not self.whole and (self.formula is None or self.formula.intercept)

    def spanning(self, intercept: bool) -> Self:
        """Return terms with that of a first level where there is no intercept.

        Examples
        --------
        >>> size = Vocabulary(("L", "M"))
        >>> Design(("age", "size"), ("price",), {"size": size}).spanning(False).terms
        ('age', 'size[L]', 'size[M]')
        """
        if self.formula is not None or intercept or not (self.categories or self.bins):
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
        coded = (BlockLayout("category", tuple(self.categories)),) if self.categories else ()
        return (*real, *coded, *texts)

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

    @cached_property
    def terms(self) -> Sequence[str]:
        """Names of the columns of the design matrix."""
        if self.is_of_numbers:
            return tuple(self.columns)
        return tuple(term for names in self._terms_by_group for term in names)

    @property
    def reference_terms(self) -> tuple[str, ...]:
        """The values that the others of their categories are compared with: they have no term.

        Examples
        --------
        >>> size = Vocabulary(("L", "M", "S"))
        >>> Design(("age", "size"), ("price",), {"size": size}).reference_terms
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
        """The place among the levels of every value of a category, or of every bin, (m,).

        It counts from 0 for a level without a term, and so from 1 where every level has one.
        """
        if name in self.bins:
            return np.arange(len(self.bins[name])) + 1 - self.first(name)
        place = {level: rank for rank, level in enumerate(self.levels(name), 1 - self.first(name))}
        return np.array([place[value] for value in self.categories[name].values], np.intp)

    def __len__(self) -> int:
        return len(self.columns if self.is_of_numbers else self.terms)

    def places(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Return the indices of the terms of columns, or products of a formula, increasing."""
        found = [self._terms_of_group[name] for name in set(names) & self._terms_of_group.keys()]
        return np.sort(np.concatenate([np.empty(0, np.intp), *found]))

    @cached_property
    def _place_of_term(self) -> dict[tuple[str, str], int]:
        pairs = zip(self._group_of_term, self.terms, strict=True)
        return {pair: j for j, pair in enumerate(pairs)}

    @cached_property
    def _terms_of_group(self) -> dict[str, NDArray[np.intp]]:
        groups: dict[str, list[int]] = {}
        for j, group in enumerate(self._group_of_term):
            groups.setdefault(group, []).append(j)
        return {group: np.array(places, np.intp) for group, places in groups.items()}

    def places_of(self, fewer: Design) -> NDArray[np.intp]:
        """Return the indices of the terms of another design, in its order."""
        for _, term in (pair for pair in fewer._place_of_term if pair not in self._place_of_term):
            raise SchemaError(
                f"there are no sums of the term {term!r}",
                "a model of some columns, or with another intercept, needs all of its terms",
                "fit it anew",
            )
        return np.array([self._place_of_term[pair] for pair in fewer._place_of_term], np.intp)

    def joined(self, other: Design) -> Self:
        """Return the design of the values and counted words of either.

        Examples
        --------
        >>> one = Design(("size",), (), {"size": Vocabulary(("L", "S"))})
        >>> one.joined(Design(("size",), (), {"size": Vocabulary(("M", "S"))})).terms
        ('size[M]', 'size[S]')
        """
        pairs = {name: (values, other.categories[name]) for name, values in self.categories.items()}
        for name, (mine, theirs) in pairs.items():
            one, more = f"values of {name!r} in this model", "those in the other"
            check_one_type(mine, theirs, one, more, "values of a category")
        missing = {*self.missing, *other.missing}
        return replace(
            self,
            categories={name: mine | theirs for name, (mine, theirs) in pairs.items()},
            words={name: own.joined(other.words[name], name) for name, own in self.words.items()},
            missing=tuple(name for name in self.categories if name in missing),
        )

    def terms_from(self, fewer: Design) -> tuple[Any, NDArray[np.float64]]:
        """Return the map of the terms z (q,) of a design of fewer values to those of this one.

        ::

            T z + c

        An indicator of a value that is new is 0, and that of a value without a term is 1 less the
        others of its column. A stored 0 of T says with which term one is missing.

        Returns
        -------
        T : scipy.sparse.csr_array (p, q)
        c : ndarray (p,)

        Raises
        ------
        SchemaError
            If a product of a formula is compared with another value.

        Examples
        --------
        >>> one = Design(("size",), (), {"size": Vocabulary(("M", "S"))})
        >>> both = one.joined(Design(("size",), (), {"size": Vocabulary(("L", "XL"))}))
        >>> T, c = both.terms_from(one)
        >>> both.terms, T.toarray().T, c
        (('size[M]', 'size[S]', 'size[XL]'), array([[-1.,  1.,  0.]]), array([1., 0., 0.]))
        """
        from scipy.sparse import csr_array

        for name in self.categories if self.formula is not None else ():
            first, other = self.levels(name)[0], fewer.levels(name)[0]
            ordered = name in self.ordered and self.categories[name] != fewer.categories[name]
            if first != other or ordered:
                raise SchemaError(
                    f"the values of {name!r} begin with {first!r}, in one model with {other!r}",
                    "products of a formula add up where the reference is one, and no order",
                    f"fit both with reference={{{name!r}: {other!r}}}",
                )
        cells, constant = list[tuple[int, int, float]](), np.zeros(len(self))
        for (name, term), i in self._place_of_term.items():
            places = fewer._terms_of_group.get(name, ())
            if (name, term) in fewer._place_of_term:
                cells.append((i, fewer._place_of_term[name, term], 1.0))
                continue
            source = self._source(name, i - int(self._terms_of_group[name][0]), fewer)
            if source > 0:
                cells.append((i, int(places[source - 1]), 1.0))
                continue
            constant[i] = float(source == 0)
            sign = -constant[i] if name not in self.ordered else 0.0
            cells += [(i, int(j), sign) for j in places]
        row, column, value = np.array(cells, np.float64).reshape(-1, 3).T
        at = row.astype(np.intp), column.astype(np.intp)
        return csr_array((value, at), shape=(len(self), len(fewer))), constant

    def _source(self, name: str, place: int, fewer: Design) -> int:
        """Number the term of fewer values that a term is, from 1; 0: that without one; −1: none."""
        if self.formula is not None or name not in self.categories:
            return -1
        levels, old = self.levels(name)[self.first(name) :], fewer.levels(name)
        if place >= len(levels):
            return -1
        order = self.ordered.get(name, ())
        reached = order[order.index(levels[place]) :] if order else levels[place : place + 1]
        found = [old.index(level) for level in reached if level in old]
        return found[0] + 1 - fewer.first(name) if found else -1

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
        """The design of some of the columns, without a formula."""
        chosen, kept = set(names), dict[str, Any]()
        for part in ("categories", "ordered", "words", "reference", "bins"):
            mapping = getattr(self, part)
            kept[part] = {name: mapping[name] for name in mapping if name in chosen}
        for part in ("columns", "missing"):
            kept[part] = tuple(name for name in getattr(self, part) if name in chosen)
        return replace(self, **kept, whole=self.whole if self.whole in chosen else "")

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

        Examples
        --------
        >>> color = Vocabulary(("blue", "green", "red"))
        >>> design = Design(("size", "color"), ("price",), {"color": color})
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
        return fewer, self.places_of(fewer)

    @cached_property
    def _group_of_term(self) -> Sequence[str]:
        if self.is_of_numbers:
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
        if self.is_of_numbers:
            return np.asarray(terms)
        places = map(self.places, ([name] for name in self.groups))
        return np.stack([terms[..., place].sum(axis=-1) for place in places], axis=-1)

    def sums_of_terms(
        self,
        values: NDArray[np.float64],
        missing: NDArray[np.float64],
        shown: Sequence[Vocabulary],
    ) -> NDArray[np.float64]:
        """Sums for every term of the c categories, of those for their values and missing cells.

        Parameters
        ----------
        values : ndarray (…, M)
            Of the values that are ``shown``, those of one category after those of another.
        missing : ndarray (…, c)
        shown : sequence of c Vocabulary

        Examples
        --------
        >>> sizes = Vocabulary(("L", "M", "S"))
        >>> order = {"size": ("S", "M", "L")}
        >>> design = Design(("size",), (), {"size": sizes}, order, missing=("size",))
        >>> design.terms
        ('size[>=M]', 'size[>=L]', 'size[(missing)]')
        >>> design.sums_of_terms(np.array([1.0, 2.0, 4.0]), np.array([8.0]), [sizes])
        array([3., 1., 8.])
        """
        found, start = [], 0
        for j, (name, known) in enumerate(self.categories.items()):
            own = values[..., start : start + len(shown[j])]
            start += len(shown[j])
            by_rank = np.zeros((*own.shape[:-1], 1 + len(known) - self.first(name)))
            by_rank[..., self.ranks(name)[known.index(shown[j].values, -1)]] = own
            if name in self.ordered:
                by_rank = _summed_down(by_rank)
            found.append(by_rank[..., 1:])
            if name in self.missing:
                found.append(missing[..., [j]])
        return np.concatenate(found, axis=-1)

    def added_by(
        self, name: str, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what each value of a category, or bin, adds, (k, m); and a missing one, (k,).

        ``weights`` (k, p) are what every term adds.

        Examples
        --------
        >>> sizes = Vocabulary(("L", "M", "S"))
        >>> design = Design(("size",), (), {"size": sizes}, missing=("size",))
        >>> design.terms
        ('size[M]', 'size[S]', 'size[(missing)]')
        >>> design.added_by("size", np.array([[2.0, 3.0, 4.0]]))
        (array([[0., 2., 3.]]), array([4.]))
        """
        own, missing = weights[:, self.places([name])], np.zeros(len(weights))
        if name in self.missing:
            own, missing = own[:, :-1], own[:, -1]
        by_level = np.insert(own, 0, 0.0, axis=1)
        if name in self.bins or name in self.ordered:  # a weight is the step to its level
            by_level = by_level.cumsum(axis=1)
        return by_level[:, self.ranks(name)], missing

    def shares_of(self, name: str, mean: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Shares of the rows that show each value of a category, or each bin; and that show none.

        ``mean`` (q,) are the means of the terms of this column.

        Examples
        --------
        >>> ages = CutBins(np.array([30.5, 65]))
        >>> design = Design(("age",), (), bins={"age": ages}, missing=("age",))
        >>> design.shares_of("age", np.array([0.75, 0.25, 0.125]))
        (array([0.125, 0.5  , 0.25 ]), 0.125)
        """
        missing = float(mean[-1]) if name in self.missing else 0.0
        levels = mean[:-1] if name in self.missing else mean
        if name in self.bins or name in self.ordered:  # a term says that the level is reached
            levels = levels - np.append(levels[1:], 0.0)[: len(levels)]
        shares = np.append(1 - missing - levels.sum(), levels)
        return shares[self.ranks(name)], missing

    # -- rows

    def rows(self, batch: Batch) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield rows of x with the number of the first of them.

        Missing cells are NaN. At least one part comes, without rows if the batch has none.
        """
        if self.bins:
            yield from self.coded.rows(self.recoded(batch))
            return
        blocks: Iterator[Any] = iter(batch.blocks)
        nothing = np.empty((batch.rows, 0))
        numbers: Any = _numbers(next(blocks)) if len(self.numbers) else nothing
        codes = self._codes(next(blocks)) if self.categories else nothing
        texts = [next(blocks) for _ in self.words]
        p = len(self)
        tile = max(1, min(TILE_ROWS, LAID_OUT // max(1, p)))
        for start in range(0, max(batch.rows, 1), tile):
            part = slice(start, min(start + tile, batch.rows))
            values = numbers[part].toarray() if is_sparse(numbers) else numbers[part]
            _require_held(values, start, self.numbers)
            cut = [text.cut(part.start, part.stop) for text in texts]
            if self.is_of_numbers:
                yield start, np.asarray(values, np.float64)
            elif self.formula is not None:
                yield start, self._multiplied(values, codes[part], cut, start)
            else:
                x = np.empty((part.stop - start, p))
                self._lay_out(x, values, codes[part], cut)
                yield start, x

    def targets_of(self, batch: Batch) -> NDArray[np.float64]:
        """Return the targets (n, t), which are the last block of rows that have them."""
        values = cast(RealBlock, batch.blocks[-1]).values
        _require_held(values, 0, self.targets)
        return np.asarray(values, np.float64)

    def compressed_rows(
        self, batch: Batch, origin: NDArray[np.float64]
    ) -> Iterator[tuple[slice, Compressed]]:
        """Yield some rows x of a design of cells with categories, each as few cells.

        They are the numbers less those of ``origin`` (p,), and 1 for the level of every category,
        also of an ordered one: `by_level` gives the coefficients of these. The other indicators are
        0. A missing category that has no term of its own is as the one without a term.
        """
        blocks: Any = batch.blocks
        *numbers, coded = blocks
        codes = self._codes(coded)
        q, d = len(self.numbers), len(self.categories)
        first, count, cell, zero = self._cells_of_values
        place, present = first + np.maximum(count, 1) - 1, (count > 0) & (cell == 1.0)
        tile = max(TILE_CELLS // (q + d), 1)
        for start in range(0, batch.rows, tile):
            part = slice(start, min(start + tile, batch.rows))
            n = part.stop - start
            columns, cells = np.empty((n, q + d), np.int32), np.empty((n, q + d))
            if q:
                values = numbers[0].values[part]
                _require_held(values, start, self.numbers)
                columns[:, :q] = self._number_places
                np.subtract(values, origin[self._number_places], out=cells[:, :q])
            one = zero + codes[part]
            columns[:, q:], cells[:, q:] = place[one], present[one]
            yield part, (np.arange(n + 1) * (q + d), columns.ravel(), cells.ravel())

    @cached_property
    def is_sparse(self) -> bool:
        """Return whether a row has few cells: there are many terms, of categories and words."""
        return (
            len(self) >= LEAST_COLUMNS
            and self.formula is None
            and not self.bins
            and bool(self.categories or self.words)
        )

    @property
    def level_blocks(self) -> tuple[slice, ...]:
        """Return the positions of the levels of unordered categories, if a row has few cells."""
        spans = self._spans if self.is_sparse else {}
        unordered = (span for name, span in spans.items() if name not in self.ordered)
        return tuple(span for span in unordered if span.stop > span.start)

    def sparse_rows(self, batch: Batch) -> Any:
        """Return rows x (n, p) as a CSR array, if they come or are laid out so; else None.

        The first term of a category or text that is missing is NaN, unless its missing cells have
        a term.
        """
        blocks: Iterator[Any] = iter(batch.blocks)
        if not self.is_sparse:
            block = batch.blocks[0]
            return _numbers(block) if isinstance(block, SparseBlock) and not self.words else None
        from scipy.sparse import csr_array

        n, d = batch.rows, len(self.numbers)
        values = next(blocks).values if d else np.empty((n, 0))
        _require_held(values, 0, self.numbers)
        codes = self._codes(next(blocks)) if self.categories else np.empty((n, 0), np.intp)
        # Every number is a cell, and every category those of the terms of its value.
        first, count, cell, zero = self._cells_of_values
        one, own = zero + codes, np.arange(len(self))[self._number_places]
        terms = np.hstack([np.broadcast_to(own, (n, d)), first[one]]).ravel()
        many = np.hstack([np.ones((n, d), np.intp), count[one]]).ravel()
        ends = np.append(0, np.cumsum(many))
        columns = np.arange(ends[-1]) + np.repeat(terms - ends[:-1], many)
        cells = np.repeat(np.hstack([values, cell[one]]).ravel(), many)
        starts = ends[:: d + len(zero)] if len(many) else np.zeros(n + 1, np.intp)
        x = csr_array((cells, columns, starts), shape=(n, len(self)))
        x.eliminate_zeros()
        x.sort_indices()
        for (name, words), text in zip(self.words.items(), blocks, strict=False):
            x = x + words.sparse_counts(text, int(self.places([name])[0]), len(self))
        return x

    def _lay_out(
        self,
        z: NDArray[np.float64],
        numbers: NDArray[Any],
        codes: NDArray[Any],
        texts: Sequence[SparseBlock],
    ) -> None:
        z[:, self._number_places] = numbers
        lacking = (codes < 0).any()
        for code, (name, span) in zip(codes.T, self._spans.items(), strict=True):
            levels = np.arange(1, 1 + span.stop - span.start)
            z[:, span] = indicators(self._ranks[name][code], levels, name in self.ordered)
            if lacking:
                z[code < 0, span] = 0.0 if name in self.missing else np.nan
            if name in self.missing:
                z[:, span.stop] = code < 0
        for (name, words), text in zip(self.words.items(), texts, strict=True):
            z[:, self.places([name])] = words.counts(text)

    def _multiplied(
        self,
        numbers: NDArray[Any],
        codes: NDArray[Any],
        texts: Sequence[SparseBlock],
        first: int,
    ) -> NDArray[np.float64]:
        """The products of a formula, (n, p)."""
        assert self.formula is not None
        rows = len(numbers)
        columns = np.asarray(numbers, np.float64).T
        cells = dict(zip(self.numbers, columns, strict=True))
        code = dict(zip(self.categories, codes.T, strict=True))
        counts = {
            name: words.counts(text)
            for (name, words), text in zip(self.words.items(), texts, strict=True)
        }
        values = self.formula.values(cells, first)

        def factor(text: str, full: bool) -> NDArray[np.float64]:
            name = label(text)
            if not is_column(text):
                return values[text][:, None]
            if name in counts:
                return counts[name]
            if name not in code:
                return np.asarray(cells[name][:, None])
            ranks = self._ranks[name]
            levels = np.arange(int(not full), len(ranks))
            at_least = name in self.ordered and not full
            found = indicators(ranks[code[name]], levels, at_least).astype(np.float64)
            found[code[name] < 0] = np.nan
            return found

        parts = (
            products([factor(text, full) for text, full in coded], rows)
            for group in self.products
            for coded in group
        )
        return np.concatenate([np.empty((rows, 0)), *parts], axis=1)

    @cached_property
    def _number_places(self) -> Any:
        return self.places(self.numbers) if len(self.numbers) < len(self) else slice(0, len(self))

    @cached_property
    def _ranks(self) -> dict[str, NDArray[np.intp]]:
        return {name: self.ranks(name) for name in self.categories}

    @cached_property
    def _spans(self) -> dict[str, slice]:
        """Return the terms of the values of each category; that of missing cells follows them."""
        found = {}
        for name in self.categories:
            places = self.places([name])
            first = int(places[0]) if len(places) else 0
            found[name] = slice(first, first + len(places) - (name in self.missing))
        return found

    @cached_property
    def _has_term(self) -> NDArray[np.bool_]:
        return np.array([name in self.missing for name in self.categories], np.bool_)

    @cached_property
    def _cells_of_values(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Any, NDArray[np.intp]]:
        """Return the cells of the codes −1, 0, 1, ... of every category.

        The first of their terms, how many follow each other, the cell of these, NaN where a missing
        one has no term; and where code 0 of each category is.
        """
        zero = 1 + np.cumsum(1 + self._sizes) - (1 + self._sizes)
        first, count = np.zeros((2, int((1 + self._sizes).sum())), np.intp)
        cell = np.ones(len(first))
        for at, (name, span) in zip(zero.tolist(), self._spans.items(), strict=True):
            ranks, known = self._ranks[name], slice(at, at + len(self._ranks[name]))
            steps = ranks if name in self.ordered else np.minimum(ranks, 1)
            first[known], count[known] = span.start + ranks - steps, steps
            own = name in self.missing
            first[at - 1] = span.stop if own else span.start
            count[at - 1] = own or span.stop > span.start
            cell[at - 1] = 1.0 if own else np.nan
        return first, count, cell, zero

    # -- numbers that are cut into bins

    @cached_property
    def coded(self) -> Design:
        """Return the design in which binned numbers are ordered categories."""
        levels = {name: levels_of(self.bins[name]) for name in self.numbers if name in self.bins}
        values = {name: vocabulary for name, (vocabulary, _) in levels.items()} | {
            **self.categories
        }
        return replace(
            self,
            categories={name: values[name] for name in self.columns if name in values},
            ordered={**self.ordered} | {name: order for name, (_, order) in levels.items()},
            bins={},
        )

    def recoded(self, batch: Batch) -> Batch:
        """Return rows whose binned numbers are among the categories, in their order."""
        blocks: list[Any] = list(batch.blocks)
        values = blocks.pop(0).values
        own: Any = blocks.pop(0).coded() if self.categories else None
        at = {name: j for j, name in enumerate(self.numbers)}
        place = {name: j for j, name in enumerate(self.categories)}
        widths = [len(bins) for bins in self.bins.values()]
        widths += [] if own is None else map(len, own.vocabularies)
        narrow = np.int16 if max(widths, default=0) < np.iinfo(np.int16).max else np.int32
        codes = np.empty((batch.rows, len(self.coded.categories)), narrow)
        vocabularies = []
        for j, name in enumerate(self.coded.categories):
            if name in place:
                codes[:, j] = own.codes[:, place[name]]
                vocabularies.append(own.vocabularies[place[name]])
                continue
            vocabulary, levels = levels_of(self.bins[name])
            code = np.array([*vocabulary.index(levels, -1), -1], np.int32)  # the last is that of −1
            try:
                x = converted(values[:, [at[name]]])[:, 0]
                codes[:, j] = code[binned(self.bins[name], x)]
            except BadCell as bad:
                bad.column = name
                raise
            vocabularies.append(vocabulary)
        left = [j for name, j in at.items() if name not in self.bins]
        rest = (RealBlock(values[:, left]),) if left else ()
        return replace(batch, blocks=(*rest, CodedBlock(codes, tuple(vocabularies)), *blocks))

    # -- ordered categories, by level in place of by step

    @cached_property
    def _steps(self) -> list[slice]:
        """Places of the terms of each ordered category, the lowest first."""
        return [self._spans[name] for name in self.categories if name in self.ordered]

    def by_level(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum steps from level to level, (…, p).

        Examples
        --------
        >>> sizes = Vocabulary(("L", "M", "S"))
        >>> design = Design(("size",), (), {"size": sizes}, {"size": ("S", "M", "L")})
        >>> design.by_level(np.array([2.0, 3.0])), design.by_step(np.array([7.0, 1.0]))
        (array([2., 5.]), array([8., 1.]))
        """
        found = coefficients.copy()
        for places in self._steps:
            found[..., places] = coefficients[..., places].cumsum(axis=-1)
        return found

    def by_step(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the rows of this level and those above it, (…, p), of sums for every level."""
        found = sums.copy()
        for places in self._steps:
            found[..., places] = _summed_down(sums[..., places])
        return found

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return np.array([len(vocabulary) for vocabulary in self.categories.values()], np.intp)

    def known(self, batch: Batch, every: bool = True) -> Batch:
        """Return rows in which an unknown category is missing.

        Of ``every`` column, or of those only whose missing cells have a term of their own.
        """
        if not self.categories:
            return batch
        codes = self._coded(batch).recode(tuple(self.categories.values()))
        return self._without(batch, (codes == self._sizes) & (every | self._has_term))

    @cached_property
    def known_values(self) -> dict[str, Vocabulary]:
        """The values of categories, and the words of texts that are counted, by column."""
        words = {name: words.known for name, words in self.words.items() if not words.places}
        return {**self.categories, **words}

    def answerable(self, batch: Batch, as_reference: bool, expecting: bool) -> Batch:
        """Return rows with what is taken for an unknown category, or can be expected of it.

        As the reference, an unknown or missing category is the one without a term, and stays
        missing where that has a term of its own.
        """
        if not as_reference:
            return self.known(batch, expecting) if expecting or self.missing else batch
        if not self.categories:
            return batch
        first = np.array([int(ranks.argmin()) for ranks in self._ranks.values()])
        values = tuple(self.categories.values())
        codes = self._coded(batch).recode(values)
        absent = (codes == self._sizes) | ((codes < 0) & ~self._has_term)
        return self._with_codes(batch, np.where(absent, first, codes), values)

    def complete(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which rows have a value in every cell, and no unknown category, (n,)."""
        blocks: Iterator[Any] = iter(self.known(batch).blocks)
        complete = np.ones(batch.rows, np.bool_)
        if len(self.numbers):
            numbers = next(blocks)
            if isinstance(numbers, SparseBlock):
                complete &= ~numbers.missing[:, 0]
            elif numbers.values.dtype.kind == "f":
                there = numbers.values[:, self._needed(self.numbers)]
                complete &= ~np.isnan(there).any(axis=1)
        if self.categories:
            codes = next(blocks).codes
            complete &= (codes[:, self._needed(tuple(self.categories))] >= 0).all(axis=1)
        for _ in self.words:
            complete &= ~next(blocks).missing[:, 0]
        return complete

    def _needed(self, columns: Sequence[str]) -> Any:
        return [name not in self.missing for name in columns] if self.missing else slice(None)

    def present(self, batch: Batch) -> Batch:
        """Return rows in which one of no weight or label is absent, without any category."""
        if not self.categories:
            return batch
        absent = self._absent(batch)
        return self._without(batch, absent[:, None]) if absent.any() else batch

    def require_words(self, batch: Batch) -> None:
        """Refuse words that the first fit did not count, where a row has a class and a weight."""
        rows = ~self._absent(batch)
        first = int(len(self.numbers) > 0) + int(len(self.categories) > 0)
        for (name, words), block in zip(self.words.items(), batch.blocks[first:], strict=False):
            words.require_known(cast(SparseBlock, block), rows, name)

    @staticmethod
    def _absent(batch: Batch) -> NDArray[np.bool_]:
        absent = np.zeros(batch.rows, np.bool_)
        for gone in (batch.weights == 0, batch.codes < 0):
            if len(gone):
                absent |= gone
        return absent

    def _coded(self, batch: Batch) -> CodedBlock:
        return cast(CodedBlock, batch.blocks[int(len(self.numbers) > 0)]).coded()

    def _without(self, batch: Batch, gone: NDArray[np.bool_]) -> Batch:
        """Return rows in which some cells of categories are missing."""
        block = self._coded(batch)
        return self._with_codes(batch, np.where(gone, -1, block.codes), block.vocabularies)

    def _with_codes(
        self, batch: Batch, codes: NDArray[Any], values: tuple[Vocabulary, ...]
    ) -> Batch:
        blocks = list(batch.blocks)
        blocks[int(len(self.numbers) > 0)] = CodedBlock(codes, values)
        return replace(batch, blocks=tuple(blocks))

    def _codes(self, block: CodedBlock) -> NDArray[Any]:
        codes = block.recode(tuple(self.categories.values()))
        if not (unseen := codes == self._sizes).any():
            return codes
        j = int(unseen.any(axis=0).argmax())
        row = int(unseen[:, j].argmax())
        name, values = list(self.categories.items())[j]
        value = block.vocabularies[j].values[block.codes[row, j]]
        raise BadCell(row, name, value, f"{UNSEEN}: {listed(map(repr, values.values))}", SHOW_ALL)


def _summed_down(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over the rows of this level and those above it, of sums for every level, (…, m)."""
    return sums[..., ::-1].cumsum(axis=-1)[..., ::-1]


def indicators(
    rank: NDArray[Any], levels: NDArray[Any], at_least: bool = False
) -> NDArray[np.bool_]:
    """Return which rows (n,) have each level, or this one and those above it, (n, m).

    Examples
    --------
    >>> indicators(np.array([0, 2]), np.array([1, 2])).astype(int)
    array([[0, 0],
           [0, 1]])
    """
    column = rank[:, None]
    return np.asarray(column >= levels if at_least else column == levels)


def _numbers(block: Any) -> Any:
    """The cells of a block of numbers (n, d); compressed as they come."""
    if not isinstance(block, SparseBlock):
        return block.values
    from scipy.sparse import csr_array

    whole = block.merged()
    return csr_array((whole.data, whole.indices, whole.indptr), shape=(block.rows, block.width))


def _require_held(values: NDArray[Any], first: int, names: Sequence[str]) -> None:
    try:
        require_held(values, first)
    except BadCell as bad:
        bad.column = names[cast(int, bad.column)]
        raise
