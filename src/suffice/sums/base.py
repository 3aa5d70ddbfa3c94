"""The base of all sums: addition, scaling and a class axis, read from their annotations.

A kind of sums is a frozen dataclass that says what its fields are, as `suffice.rules` reads them::

    @dataclass(frozen=True, eq=False, repr=False)
    class Counts(ClassSums):
        vocabularies: Annotated[tuple[Vocabulary, ...], Shape("d")]
        count: Annotated[DoubleDouble, Shape("k", "M"), NONNEGATIVE]

        k, d = axis("k"), axis("d")

A `DoubleDouble` is added element by element, and not below 0 after a subtraction where its range
says so. An axis ``k`` that comes first is that of the classes. Fields that are sums themselves, or
tuples of them, follow. All other fields describe: they are equal in two sums that are added, once
`Sums.aligned` has put these over the same classes, values and bins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import cache
from operator import add, methodcaller, sub
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from suffice.errors import ForgetError, SchemaError
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.exact import DoubleDouble
from suffice.rules import Shape, Within

if TYPE_CHECKING:
    from suffice.sums.comparison import Divergences

FORGOTTEN_NOISE = 2.0**-90  # what rounding may leave of a sum whose rows are all taken away
S = TypeVar("S", bound="Statistic")


class Statistic(Protocol):
    """Anything that is added: exact sums over rows, or what stands for them in a test."""

    def __add__(self, other: Self) -> Self: ...


class FadingStatistic(Statistic, Protocol):
    """Sums that a model keeps: their rows can be forgotten, lose weight, and leave no trace."""

    def __sub__(self, other: Self) -> Self: ...

    def scaled(self, factor: float) -> Self:
        """Return the sums of the same rows with their weights multiplied by a factor."""
        ...

    def canonical(self) -> Self:
        """Return the sums normalised: see `Sums.canonical`."""
        ...


class Sums:
    """Frozen exact sums over rows: a commutative group up to the last bit after rounding.

    Laws: a + b = b + a; (a + b) + c = a + (b + c); a + empty = a; (a + b) − b = a; a row of
    weight 2 equals the row twice; no operation writes to its inputs.
    """

    def aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both over the same classes, values or bins, so that their fields can be added."""
        return self, other

    def pruned(self) -> Self:
        """Return the sums without what no row contains, where that is not given."""
        return self

    def column_at(self, field: str, place: int) -> int | None:
        """Return the column of an element of a field, by its last index; None if it has none."""
        return place

    def __add__(self, other: Self) -> Self:
        mine, theirs = self.aligned(other)
        names = axes_of(cast(Any, type(mine))).added
        found = {name: _each(add, getattr(mine, name), getattr(theirs, name)) for name in names}
        return cast(Self, replace(cast(Any, mine), **found))

    def __sub__(self, other: Self) -> Self:
        mine, theirs = self.aligned(other)
        axes, found = axes_of(cast(Any, type(mine))), {}
        for name in axes.added:
            a, b = getattr(mine, name), getattr(theirs, name)
            try:
                found[name] = nonnegative(a - b, a) if name in axes.weights else _each(sub, a, b)
            except ForgetError as error:
                if error.column is not None:
                    error.column = mine.column_at(name, error.column)
                raise
        return cast(Self, replace(cast(Any, mine), **found)).pruned()

    def scaled(self, factor: float) -> Self:
        """Return the sums of the same rows, their weights multiplied by a factor, 0 or more.

        Weight 0 is absence.
        """
        scaled, names = methodcaller("scaled", factor), axes_of(cast(Any, type(self))).added
        found = {name: _each(scaled, getattr(self, name)) for name in names}
        return cast(Self, replace(cast(Any, self), **found)).pruned()

    def canonical(self) -> Self:
        """Return the sums normalised, so that they keep no trace of single rows.

        Twice is once, and a difference has this form.
        """
        records = axes_of(cast(Any, type(self))).records
        if not records:
            return self
        found = {name: _each(methodcaller("canonical"), getattr(self, name)) for name in records}
        return cast(Self, replace(cast(Any, self), **found))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = (field.name for field in fields(cast(Any, self)))
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)


class ClassSums(Sums):
    """Sums of d columns with one slice for each of k classes."""

    if TYPE_CHECKING:

        @property
        def k(self) -> int:
            """Number of classes."""

        @property
        def d(self) -> int:
            """Number of columns."""

        @property
        def class_weight(self) -> Floats:
            """Σw of the rows of each class, (k,), where it is known."""

        @property
        def total(self) -> Floats:
            """Σw of the observed cells, (k, d)."""

        def divergences(self, other: Self) -> Divergences:
            """Return how far the columns of every class are from another table's, (k, d)."""

    def __repr__(self) -> str:
        kind, k, d = type(self).__name__, self.k, self.d
        return f"{kind}({k} class{'es' * (k != 1)}, {d} column{'s' * (d != 1)})"

    @property
    def too_small(self) -> Bools:
        """Return whether values that are squared differ by too little for it, (d,)."""
        return np.zeros(self.d, np.bool_)

    def shares_left(self, rest: Self) -> Floats:
        """Return the share of each scatter that the rest of these rows has, (·, d); else 1."""
        return np.ones((1, self.d))

    @property
    def one_class(self) -> Self:
        """The sums of the same rows as if they were of one class."""
        return self._by_class(lambda sums: sums.sum(axis=0)[None], lambda part: part.one_class)

    @property
    def together(self) -> Self:
        """Return the sums with their products pooled over the classes, where there are such."""
        return self

    def place(self, index: Ints, k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""

        def placed(sums: Any) -> Any:
            if isinstance(sums, DoubleDouble):
                return sums.scatter(index, (k, *sums.shape[1:]))
            out = np.zeros((k, *sums.shape[1:]))
            out[index] = sums
            return out

        return self._by_class(placed, lambda part: part.place(index, k))

    def padded(self, k: int) -> Self:
        """Return the sums of k classes, of which the last ones are empty."""
        return self if k == self.k else self.place(np.arange(self.k), k)

    def gathered(self, index: Ints, k: int) -> Self:
        """Add class c to class ``index[c]`` of k; one of index −1 is left out.

        Classes that go to one are added in pairs, then the pairs, and so on.
        """
        order = np.argsort(index, kind="stable")
        order = order[np.searchsorted(index[order], 0) :]
        found, index = self.take(order), index[order]
        while len(index) and (repeated := index[1:] == index[:-1]).any():
            first = np.flatnonzero(np.append(True, ~repeated))
            rank = np.arange(len(index)) - np.repeat(first, np.diff(first, append=len(index)))
            left, right = np.flatnonzero(rank % 2 == 0), np.flatnonzero(rank % 2)
            partner = np.searchsorted(left, right - 1)
            found = found.take(left) + found.take(right).place(partner, len(left))
            index = index[left]
        return found.place(index, k)

    def take(self, index: Ints) -> Self:
        """Keep the classes at ``index``, in that order."""
        if len(index) == self.k and np.array_equal(index, np.arange(self.k)):
            return self
        return self._by_class(lambda sums: sums[index], lambda part: part.take(index))

    def mapped(self, terms: Any, constant: Floats) -> Self:
        """Return the sums of T z + c of the first columns z, T sparse (p, q) of 0, 1 and −1.

        The columns that follow stay. A missing z leaves those missing of which T stores a cell.

        Raises
        ------
        SchemaError
            If they do not follow from these sums.
        """
        raise SchemaError(
            "the models differ in the values of their categories",
            f"what {type(self).__name__} hold of a category does not tell that of more values",
            "fit one model to the rows of both",
        )

    def _by_class(self, of_sums: Callable[[Any], Any], of_record: Callable[[Any], Any]) -> Self:
        axes = axes_of(cast(Any, type(self)))
        found = {name: of_sums(getattr(self, name)) for name in axes.of_classes}
        found |= {name: _each(of_record, getattr(self, name)) for name in axes.records}
        return cast(Self, replace(cast(Any, self), **found))


class Axes(NamedTuple):
    """Fields of a kind of sums by what their annotations say, by name."""

    added: tuple[str, ...]  # all that + adds
    weights: frozenset[str]  # of these, the ones that are never below 0
    of_classes: tuple[str, ...]  # arrays whose first axis is that of the classes
    records: tuple[str, ...]  # sums, and tuples of sums
    letters: Mapping[str, tuple[str, int]]  # a field, and which of its axes a letter stands for


@cache
def axes_of(kind: Any) -> Axes:
    """Read the annotations of a kind of sums.

    Examples
    --------
    >>> from suffice.sums.counts import Events
    >>> axes_of(Events).added, axes_of(Events).of_classes, axes_of(Events).records
    (('count', 'documents', 'missing'), ('count', 'documents'), ('missing',))
    """
    hints = get_type_hints(kind, include_extras=True)
    added, weights, of_classes, records = [], set(), [], []
    letters: dict[str, tuple[str, int]] = {}
    for name in [field.name for field in fields(kind)]:
        hint = hints[name]
        plain, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        is_array = plain is DoubleDouble or get_origin(plain) is np.ndarray
        dims = next((extra.dims for extra in extras if isinstance(extra, Shape)), ())
        for place, letter in enumerate(dims):
            letters.setdefault(str(letter), (name, place))
        if _is_record(plain):
            records.append(name)
        elif is_array and dims[:1] == ("k",):
            of_classes.append(name)
        if plain is DoubleDouble or _is_record(plain):
            added.append(name)
        if any(isinstance(extra, Within) and extra.least >= 0 for extra in extras):
            weights.add(name)
    return Axes(tuple(added), frozenset(weights), tuple(of_classes), tuple(records), letters)


def axis(letter: str) -> Any:
    """Make the property of how long an axis is, from the first field whose shape names it.

    Without such a field it is that of the first sums in these.
    """

    def length(sums: Any) -> int:
        axes = axes_of(cast(Any, type(sums)))
        if letter not in axes.letters:
            return int(getattr(getattr(sums, axes.records[0]), letter))
        name, place = axes.letters[letter]
        field = getattr(sums, name)
        return int(field.shape[place]) if hasattr(field, "shape") else len(field)

    return property(length)


def _is_record(hint: Any) -> bool:
    if get_origin(hint) is tuple:
        return _is_record(get_args(hint)[0])
    return isinstance(hint, type) and issubclass(hint, Sums)


def _each(change: Callable[..., Any], *parts: Any) -> Any:
    """Call with fields, or with the members of tuples."""
    if not isinstance(parts[0], tuple):
        return change(*parts)
    return tuple([change(*members) for members in zip(*parts, strict=True)])


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def nonnegative(difference: DoubleDouble, before: DoubleDouble) -> DoubleDouble:
    """Check that a difference of weights is one, and clear what rounding left of empty sums."""
    noise = FORGOTTEN_NOISE * before.hi
    negative = difference.hi < -noise
    if negative.any():
        column = int(np.argwhere(negative)[0, -1]) if negative.ndim else None
        raise forgotten("fewer rows than are to be forgotten", column)
    kept = difference.hi > noise
    return DoubleDouble(np.where(kept, difference.hi, 0.0), np.where(kept, difference.lo, 0.0))


def forgotten(fact: str, column: int | None = None) -> ForgetError:
    """Make the error of rows that are taken away from sums in which they are not."""
    error = ForgetError(fact, "only rows that were learnt can be forgotten")
    error.column = column
    return error


# -- builders of sums


class Accumulator(Protocol):
    """The mutable builder of sums by class inside one worker."""

    def add(self, block: Any, codes: Ints, weights: Floats, k: int) -> None:
        """Add the rows of a block: class codes (n,), −1 to leave a row out; weights (n,) or ().

        Raises
        ------
        BadCell
            If a cell cannot be summed.
        """
        ...

    def statistic(self) -> Any:
        """Freeze what was added."""
        ...


# -- sums of many terms


class TreeSum(Generic[S]):
    """A sum in the making, added pairwise as a binary counter does, so that few terms are alive.

    A term is in it, and counted, or it is not: an exception may come at any moment, that of Ctrl-C
    too, and what is summed so far is whole.

    Parameters
    ----------
    stack : iterable of (int, Statistic)
        Of a sum that was begun before: it goes on as if it had never stopped.
    done : int
        How many terms are in it.

    Examples
    --------
    >>> begun = TreeSum()
    >>> for term in [1, 2, 3]:
    ...     begun.add(term)
    >>> begun.stack, TreeSum(begun.stack, begun.done).total()
    ([(1, 3), (0, 3)], 6)
    """

    def __init__(self, stack: Iterable[tuple[int, S]] = (), done: int = 0) -> None:
        self._state = list(stack), done

    @property
    def stack(self) -> list[tuple[int, S]]:
        """Sums of 2^level neighbours, the largest ones first."""
        return self._state[0]

    @property
    def done(self) -> int:
        """Number of terms in the sum."""
        return self._state[1]

    def add(self, statistic: S) -> None:
        before, done = self._state
        stack, (level, total) = before.copy(), (0, statistic)
        while stack and stack[-1][0] == level:
            level, total = level + 1, stack.pop()[1] + total
        stack.append((level, total))
        self._state = stack, done + 1

    def total(self) -> S:
        if not self.stack:
            raise ValueError("tree_sum needs at least one statistic")
        *rest, (_, total) = self.stack
        for _, statistic in reversed(rest):
            total = statistic + total
        return total


def tree_sum(statistics: Iterable[S]) -> S:
    """Add sums, one at least, as `TreeSum` does.

    Examples
    --------
    >>> tree_sum([1, 2, 3, 4, 5])
    15
    """
    sum_ = TreeSum[S]()
    for statistic in statistics:
        sum_.add(statistic)
    return sum_.total()
