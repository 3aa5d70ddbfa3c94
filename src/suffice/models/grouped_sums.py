"""Sums as objects, of all rows or one for every group of rows; and the models of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from numbers import Integral, Real
from operator import add
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.errors import DataError, ForgetError, ParameterError, SchemaError
from suffice.models.base.saved import portable
from suffice.models.method import Method, forgetting
from suffice.numerics.in_print import Table, listed
from suffice.persist import write_model
from suffice.phrases import amount
from suffice.sums.by_class import ClassesByGroup
from suffice.sums.kept_rows import KeptRows
from suffice.sums.keys import KeyColumn, Keyed, Keys, ranked
from suffice.sums.row_sample import Sampled
from suffice.tree import named

KIND = " sums"  # what follows the name of an estimator in the kind of a file
TYPES = named(KeyColumn, ClassesByGroup)
SHOWN = 10  # groups that are printed
MOST_GROUPS = 64  # whose sums are kept one by one


@dataclass(frozen=True, eq=False, repr=False)
class GroupedSums:
    """The sufficient statistics that an estimator is fitted from, without the rows.

    `sums` of an estimator makes them, and its `fit` takes them in the place of a table. There is
    one for every group of rows that share the values of some columns, the keys; or one of all rows.
    A group is a site, a month, a cluster, a fold: what is asked afterwards reads no row again.

    Parameters
    ----------
    estimator : FittedFromSums
        The options, not fitted.
    reader : SumsReader
        How tables are read.
    keys : Keys
        Of the groups, in order.
    sums : KeptSums
        The sums; where there are keys, with an axis of groups.
    named : bool
        Whether columns have names.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import LinearRegression
    >>> trips = pa.table({
    ...     "city": ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn", "Bonn"],
    ...     "km": [1.0, 2.0, 3.0, 1.0, 2.0, 4.0],
    ...     "tip": [2.0, 3.0, 4.0, 1.0, 3.0, 7.0],
    ... })
    >>> sums = LinearRegression().sums(trips, "tip", by="city")
    >>> sums
    sums for LinearRegression by city: 2 groups
    city  rows
    Bonn     3
    Ulm      3
    >>> LinearRegression().fit(sums["Bonn"]).coef_
    array([2.])
    >>> LinearRegression().fit(sums.without(city="Bonn").total()).coef_
    array([1.])
    """

    estimator: Any
    reader: Any
    keys: Keys
    sums: Any
    named: bool

    # -- what there is

    @property
    def by(self) -> tuple[str, ...]:
        """The columns whose values are the keys of the groups."""
        return self.keys.names

    @property
    def target_names(self) -> tuple[str, ...]:
        """The columns that are predicted; none if labels came without the name of one."""
        design = getattr(self.reader, "design", None)
        if design is not None:
            return tuple(design.targets)
        label = self.reader.layout.label
        return () if label is None else (label,)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.keys)

    def __iter__(self) -> Iterator[Any]:
        """Yield the keys: a value, or a tuple of as many as there are columns."""
        for g in range(len(self)):
            key = self.keys.key(g)
            yield key[0] if len(key) == 1 else key

    @property
    def rows(self) -> NDArray[np.float64]:
        """Σw of the rows of every group, (g,); of a classifier, of those that have a label."""
        if isinstance(self.sums, ClassesByGroup):
            return self.sums.rows
        return self.sums.class_weight if self.by else np.array([float(self.sums.rows)])

    def table(self) -> pa.Table:
        """Return the keys and the weight of the rows of every group, as an Arrow table."""
        columns = dict(zip(self.by, self.keys.columns, strict=True))
        name = "rows"
        while name in columns:
            name += "_"
        return pa.table({**columns, name: self.rows})

    def __repr__(self) -> str:
        return str(self._in_print())

    def _repr_html_(self) -> str:
        return self._in_print().html()

    def _in_print(self) -> Table:
        name = type(self.estimator).__name__
        if not self.by:
            return Table(f"sums for {name}: {amount(float(self.rows[0]))} rows", (), ())
        first, rows = self.table().slice(0, SHOWN), []
        for *key, weight in zip(*(column.to_pylist() for column in first.columns), strict=True):
            texts = ["(missing)" if value is None else str(value) for value in key]
            rows.append([*texts, amount(weight)])
        title = (
            f"sums for {name} by {', '.join(self.by)}: {len(self):,} group{'s' * (len(self) != 1)}"
        )
        more = [f"and {len(self) - SHOWN:,} more"] if len(self) > SHOWN else []
        return Table(title, first.column_names, rows, more, range(len(self.by)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupedSums):
            return NotImplemented
        return self.keys == other.keys and bool(self.sums == other.sums)

    # -- groups of these

    def __getitem__(self, key: Any) -> GroupedSums:
        """Return the sums of a group: by its key, or a tuple of as many as there are columns."""
        values = key if isinstance(key, tuple) else (key,)
        if len(values) != len(self.by):
            raise ParameterError(
                f"the key {key!r} has {len(values)} values",
                f"the sums are by {listed(map(repr, self.by))}" if self.by else "there is no key",
                "give a value for each column, or use where(...)",
            )
        found = np.flatnonzero(self._chosen(dict(zip(self.by, values, strict=True))))
        if not len(found):
            raise ParameterError(
                f"no group has the key {key!r}",
                "a key is the values of a row in the columns of the sums",
                "see table() for the keys",
            )
        return self._alone(int(found[0]))

    def where(self, **keys: Any) -> GroupedSums:
        """Return the groups with these keys: a value of a column, or a list of values.

        Raises
        ------
        ParameterError
            If there is no such column, or no group has such a value.
        """
        return self._take(np.flatnonzero(self._chosen(keys))) if keys else self

    def without(self, **keys: Any) -> GroupedSums:
        """Return all groups but those with these keys: see `where`."""
        return self._take(np.flatnonzero(~self._chosen(keys)))

    def total(self, by: str | Sequence[str] = ()) -> GroupedSums:
        """Return the sums of all groups together, or of those that agree in some columns.

        Parameters
        ----------
        by : str or list of str
            Columns of the keys that stay; default: none.
        """
        names = (by,) if isinstance(by, str) else tuple(by)
        if names == self.by:
            return self
        keys, codes = self.keys.only(names)
        found = replace(self, sums=self.sums.gathered(codes, len(keys)))
        return replace(found, keys=keys) if names else found._alone(0)

    def others(self) -> Iterator[GroupedSums]:
        """Yield the sums of all groups but one, for each group: leave one out.

        ::

            Σ_{h<g} S(h) + Σ_{h>g} S(h)        of 64 groups or fewer
            Σ_h S(h) − S(g)                    of more

        Raises
        ------
        DataError
            If there are fewer than two groups.
        """
        if len(self) < 2:
            raise DataError(
                f"the number of groups is {len(self)}", "one is left out, and others have to stay"
            )
        if len(self) > MOST_GROUPS:
            total = self.total()
            yield from (total - self._alone(g) for g in range(len(self)))
            return
        own = [self._alone(g).sums for g in range(len(self))]
        before, after = list(accumulate(own[:-1])), list(accumulate(own[:0:-1]))[::-1]
        for sums in (after[0], *map(add, before[:-1], after[1:]), before[-1]):
            yield replace(self, keys=Keys.none(), sums=sums)

    def counted(self, times: NDArray[np.intp]) -> GroupedSums:
        """Return the sums of all groups together, each as often as ``times`` says, (g,)."""
        rounds = (np.flatnonzero(times > r) for r in range(int(times.max())))
        return reduce(add, (self._take(index).total() for index in rounds))

    def rolling(self, name: str, size: int) -> GroupedSums:
        """Return the sums of windows of so many successive values of a column.

        A window has the key of its last value. Values follow each other as they do among all
        groups, whatever the other keys are: a city without rows in a month has a window of fewer
        rows. There is no window before there are ``size`` values, and groups whose value is missing
        are in none.

        Parameters
        ----------
        name : str
            A column of the keys, such as the month.
        size : int
            Of a window, 1 or more.
        """
        column = self.keys.column(name)
        values = column.drop_null().unique().sort()
        whole = isinstance(size, Integral) and not isinstance(size, bool) and size >= 1
        if not whole or size > len(values):
            raise ParameterError(
                f"a window of {size!r} values",
                f"it is a whole number from 1 to {len(values)}, the values of {name!r}",
            )
        place = ranked(column)  # len(values) where it is missing
        others, combination = self.keys.only([other for other in self.by if other != name])
        known = np.flatnonzero(place < len(values))
        cells = combination[known] * len(values) + place[known]  # rows of values, one per other key
        order = np.argsort(cells)
        one = Keyed(Keys.numbered(cells[order]), self.sums.take(known[order]))
        found: Keyed | None = None
        done, length = 0, 1  # values in the windows so far, and in those of `one`
        while length <= size:
            if size & length:
                later = _later(one, done, len(values))
                found = later if found is None else found + later
                done += length
            one, length = one + _later(one, length, len(values)), 2 * length
        assert found is not None
        cells = np.asarray(found.keys.columns[0])
        ends = np.flatnonzero(cells % len(values) >= size - 1)
        combination, place = np.divmod(cells[ends], len(values))
        columns = dict(zip(others.names, others.take(combination).columns, strict=True))
        columns[name] = values.take(pa.array(place))
        keys = Keys(self.by, tuple(columns[column] for column in self.by), len(ends))
        both = Keyed(keys, found.sums.take(ends)).sorted()
        return replace(self, keys=both.keys, sums=both.sums)

    def _chosen(self, keys: dict[str, Any]) -> NDArray[np.bool_]:
        found = np.ones(len(self), np.bool_)
        for name, value in keys.items():
            found &= self.keys.having(name, value)
        return found

    def _take(self, index: NDArray[np.intp]) -> GroupedSums:
        return replace(self, keys=self.keys.take(index), sums=self.sums.take(index))

    def _alone(self, g: int) -> GroupedSums:
        if not self.by:
            return self
        method: Method[Any, Any] = self.estimator.method()
        sums = method.alone(self.reader, self.sums, g)
        return replace(self, keys=Keys.none(), sums=sums)

    def adjusted_means(
        self,
        arm: str,
        covariates: Sequence[str] | None = None,
        target: str | int | None = None,
        level: float = 0.95,
    ) -> Any:
        """Return the mean of a target in every arm of an experiment, adjusted for covariates.

        Parameters
        ----------
        arm : str
            A column of the keys.
        covariates : list of str, optional
            Columns of the sums; default: all. With none, means are as they are.
        target : str or int, optional
            Which target; needed if there are several.
        level : float
            Confidence of the intervals.

        Returns
        -------
        suffice.models.linear.adjusted.AdjustedMeans

        Raises
        ------
        ParameterError
            If these are no sums of a linear model, or there is no such column.
        DataError
            If an arm has no complete row, or there are no more rows than parameters.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from suffice import LinearRegression
        >>> trial = pa.table({
        ...     "arm": ["old"] * 4 + ["new"] * 4,
        ...     "before": [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 4.0, 5.0],
        ...     "after": [1.1, 1.9, 3.2, 3.9, 3.0, 3.9, 5.2, 5.8],
        ... })
        >>> sums = LinearRegression().sums(trial, "after", by="arm")
        >>> sums.adjusted_means("arm", covariates=["before"]).difference.round(2)
        array([ 0.  , -0.98])
        """
        if not hasattr(self.estimator, "_adjusted_means"):
            raise ParameterError(
                f"the sums are for {type(self.estimator).__name__}",
                "means are adjusted by a linear model",
                "take LinearRegression().sums(X, y, by=...)",
            )
        return self.estimator._adjusted_means(self.total(by=arm), covariates, target, level)

    # -- arithmetic

    def __add__(self, other: GroupedSums) -> GroupedSums:
        """Add the sums of further rows, group by group; a group that one lacks is new."""
        reader, keys, mine, theirs = self._beside(other, "added")
        return replace(self, reader=reader, keys=keys, sums=mine + theirs)

    def __sub__(self, other: GroupedSums) -> GroupedSums:
        """Take the sums of rows away; a group without rows is gone.

        Raises
        ------
        ForgetError
            If the rows cannot be among those of the sums.
        """
        _, keys, mine, theirs = self._beside(other, "subtracted")
        if len(keys) > len(self):
            _, mine, _ = self.keys.joined(other.keys, "subtracted")
            new = int(np.setdiff1d(np.arange(len(keys)), mine)[0])
            raise ForgetError(
                f"there is no group {keys.key(new)!r} to take rows away from",
                "only rows that are in the sums can be taken away",
            )
        with forgetting(self.reader.column):
            rest = mine - theirs
        return replace(self, sums=rest).shown()

    def scaled(self, factor: float) -> GroupedSums:
        """Return the sums of the same rows, their weights multiplied by a factor, 0 or more."""
        if not (isinstance(factor, Real) and 0 <= factor < np.inf):
            raise ParameterError(f"a factor of {factor!r}", "it is a finite number, 0 or more")
        return replace(self, sums=self.sums.scaled(float(factor))).shown()

    def shown(self) -> GroupedSums:
        """Return the groups that have rows: those of weight 0 count as absent."""
        if not self.by:
            return self
        shown = np.flatnonzero(self.sums.class_weight > 0)
        return self if len(shown) == len(self) else self._take(shown)

    def _beside(self, other: Any, verb: str) -> tuple[Any, Keys, Any, Any]:
        """Return the reader and the keys of both, and either's sums over these."""
        if not isinstance(other, GroupedSums):
            raise ParameterError(f"{other!r} is no sums", f"only sums can be {verb}")
        mine, theirs = type(self.estimator), type(other.estimator)
        if mine is not theirs:
            raise SchemaError(
                f"the sums are for {mine.__name__} here and for {theirs.__name__} there",
                f"only sums for one kind of model can be {verb}",
            )
        self.reader.check_compatible(self.sums, other.reader, other.sums, verb)
        reader = self.reader.merged(other.reader)
        keys, at, there = self.keys.joined(other.keys, verb)
        one = Keyed(self.keys, self.reader.moved(self.sums, reader))
        more = Keyed(other.keys, other.reader.moved(other.sums, reader))
        return reader, keys, one.over(keys, at), more.over(keys, there)

    # -- a model, and a file

    def alone(self) -> Any:
        """Return the sums of the only group, that of all rows."""
        if self.by:
            raise ParameterError(
                f"the sums are by {', '.join(map(repr, self.by))}",
                "a model is fitted to the sums of one group",
                "take sums.total() or sums[key], or fit_each",
            )
        return self.sums

    def save(self, path: str | PathLike[str]) -> None:
        """Write the sums to a file that `suffice.load` reads; there are no rows in it.

        Raises
        ------
        ModelFileError
            If the file cannot be written. A file that was there before is left as it was.
        ParameterError
            If the sums are the rows themselves, as those of a wide table are, or of no row.
        """
        if isinstance(self.sums, KeptRows):
            raise ParameterError(
                "the sums of a wide table are its rows",
                "no file keeps rows",
                "save the model instead, which has its coefficients",
            )
        if not self.rows.sum() > 0:
            raise DataError("the sums are of no row", "a file holds those of a row at least")
        sums = self.sums.plain if isinstance(self.sums, Sampled) else self.sums
        content = {**self.entries(), "sums": sums.canonical(), "keys": self.keys.saved()}
        types = {**self.estimator.kind.types, **TYPES}
        write_model(path, f"{type(self.estimator).__name__}{KIND}", content, types=types)

    def entries(self) -> dict[str, Any]:
        """Return what a file holds besides the sums: options, and how tables are read."""
        return {
            "params": portable(self.estimator.get_params(deep=False)),
            "layout": self.reader.layout,
            "format": self.reader.format,
            "named": self.named,
            "single_precision": self.reader.single,
            **self.estimator._kept_reader(self.reader),
        }


def _later(windows: Keyed, lag: int, values: int) -> Keyed:
    """Move windows to later values, as far as there are some."""
    cells = np.asarray(windows.keys.columns[0])
    kept = np.flatnonzero(cells % values + lag < values)
    return Keyed(Keys.numbered(cells[kept] + lag), windows.sums.take(kept))


@dataclass(frozen=True, eq=False, repr=False)
class GroupedModels(Mapping[Any, Any]):
    """A model for every group of rows.

    Parameters
    ----------
    sums : GroupedSums
        By group.
    estimator : FittedFromSums
        The options, not fitted.
    pooled : object
        The model of all rows, whose choices of families are those of every group; None where
        nothing is chosen.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import LinearRegression
    >>> rows = pa.table({"shop": ["a"] * 4 + ["b"] * 4, "x": [1.0, 2, 3, 4] * 2,
    ...                  "y": [2.0, 4, 6, 8, 3, 4, 6, 7]})
    >>> sums = LinearRegression().sums(rows, "y", by="shop")
    >>> models = LinearRegression().fit_each(sums)
    >>> models["b"].predict({"x": [5.0]})
    array([8.5])
    >>> models.table().column("x").to_pylist()
    [2.0, 1.4]
    """

    sums: GroupedSums
    estimator: Any
    pooled: Any = None

    def __getitem__(self, key: Any) -> Any:
        """Return the fitted estimator of a group; its errors are those of a fit to its rows."""
        found = self.estimator.unfitted().fit(self.sums[key])
        if self.pooled is not None:
            found.model_ = found.method().chosen_as(found.model_, self.pooled)
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sums)

    def __len__(self) -> int:
        return len(self.sums)

    def __repr__(self) -> str:
        name = type(self.estimator).__name__
        return f"{len(self):,} {name} models by {', '.join(self.sums.by)}"

    def table(self) -> pa.Table:
        """Return an Arrow table with a row for every group.

        Its first columns are the keys, then ``n``, the weight of the rows. Of a linear model follow
        the coefficients, under the names of their terms, the standard errors (``se_`` before the
        name), ``r_squared``; with several targets, each name ends with that of its target. What the
        rows of a group do not determine is null, as errors are where there are no more rows than
        coefficients. Of a classifier follows the weight of the rows of every class.
        """
        keys = dict(zip(self.sums.by, self.sums.keys.columns, strict=True))
        return pa.table({**keys, **self.estimator._columns_of(self.sums)})
