"""Estimators whose model is a function of exact sums: fitted, added to, merged and compared."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Self, TypeVar

from suffice.data.table_source import to_learn
from suffice.engines.engine import engine_for, fit_context
from suffice.errors import DataError, ParameterError, warn
from suffice.models.base.forgotten import (
    DigestingEngine,
    Forgotten,
    joined,
    refuse_again,
    remembered,
    without,
)
from suffice.models.base.groups import ByColumns, ByPlace, key_columns, require_products
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.database_sums import Call, sums_elsewhere
from suffice.models.estimator import Estimator, fitted
from suffice.models.grouped_sums import GroupedModels, GroupedSums
from suffice.models.method import KeptSums, Learnt, Method, SumsReader, check_stream, forgettable
from suffice.models.opened import Opened
from suffice.models.reading import is_named, settle_columns
from suffice.rules import check
from suffice.sums.base import tree_sum
from suffice.sums.comparison import Comparison
from suffice.sums.keys import Keys

R = TypeVar("R", bound=SumsReader[Any])
S = TypeVar("S", bound=KeptSums)


class FittedFromSums(Estimator, Generic[R, S]):
    """An estimator whose model is a function of one exact statistic.

    A subclass gives its `method`, and opens tables: `_open_first` gives the first rows and what is
    said of their labels or targets, `_open_more` the rows of another table.

    Attributes
    ----------
    reader_ : SumsReader
        How tables are read.
    statistic_ : KeptSums
        Exact sums over all training rows so far.
    batches_ : tuple of KeptSums
        The statistics that it is the sum of: one, or one for each batch of a window.
    model_ : object
        Everything that follows from them.
    forgotten_ : tuple of bytes
        Keyed digests of the last 1,000 sets of rows that were forgotten, the latest last: see
        `forget`. Set it to ``()`` to drop them.
    """

    reader_: R
    statistic_: S
    batches_: tuple[S, ...]
    forgotten_: Forgotten = ()

    @abstractmethod
    def method(self) -> Method[R, S]:
        """Return the options as a method.

        Raises
        ------
        ParameterError
            If an option is outside its rule.
        """

    @abstractmethod
    def _open_first(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]: ...

    @abstractmethod
    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> Any: ...

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a table, forgetting all earlier rows.

        Parameters
        ----------
        X : table (n, d), or GroupedSums
            A NumPy array or SciPy sparse matrix; anything with ``__arrow_c_stream__`` (pandas,
            polars, pyarrow, duckdb); a dict of columns; a path, glob or list of paths (Parquet,
            Arrow IPC, CSV, TSV); or what `suffice.read_csv` returns. Or what `sums` returned: the
            model is then that of its rows.
        y : array-like (n,) or (n, t), str, or list of str
            Labels or targets, or the name of the column that holds them. A row without a label is
            left out and counted.
        sample_weight : array-like (n,) or str, optional
            Row weights, 0 or more, or the name of their column. In the sums, weight 2 is the row
            twice. Where a class learns from a sample of its rows (it has ``row_weight_``), weights
            are relative: all of them times 100, or every row twice, change no answer. Elsewhere
            pseudo-counts, and formulas with a number of rows, count Σw.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If a cell breaks a rule (it is named by column and row), or there is only one class.
        ParameterError
            If an option is outside its rule.
        """
        if isinstance(X, GroupedSums):
            return self._fit_sums(X, y, sample_weight)
        with fit_context(self):
            method = self.method()
            rows, said = self._open_first(X, y, sample_weight)
            engine = engine_for(rows)
            reader = method.reader(rows, said, engine)
            sums = method.sums(reader, rows, engine)
            method.require(sums, rows)
            self._set(method, Learnt(reader, (sums,)), rows)
            self.forgotten_ = ()
            return self

    def sums(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        by: Any = None,
        where: str | None = None,
        exact: bool = True,
    ) -> GroupedSums:
        """Return the sums over the rows of a table, or of each group, which `fit` takes.

        One pass over the rows; what is asked of the sums afterwards reads none. Columns of keys are
        no predictors. Weights of columns, which a naive Bayes learns from rows, go with the sums of
        all rows while they are in memory; in sums by group, and in a file, every column has the
        weight 1 until `calibrate`.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        by : str, list of str, or array-like (n,), optional
            The columns whose values are the keys of the groups, or the key of every row: strings,
            whole numbers, dates or booleans. A missing one is a key of its own.
        where : {"database", "view"}, optional
            Where the rows are summed. "database": where the rows of a `suffice.read_sql` are, none
            of which is read. "view": ``X`` are the rows of a view that `suffice.sql_of_sums` wrote.
            Default: here, from the rows.
        exact : bool
            In a database, whether numbers are cut into slices, so that the sums are those of the
            rows whatever their order. Else the database adds doubles, in less time.

        Returns
        -------
        GroupedSums

        Raises
        ------
        ParameterError
            If the options make a model that is no function of sums, or of none by group; or of
            none that a database makes: bins of densities, weights of columns, words, formulas.
        DataError
            If a cell breaks a rule, or a key is none.

        Examples
        --------
        >>> from suffice.naive_bayes import GaussianNB
        >>> x, y = [[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"]
        >>> sums = GaussianNB().sums(x, y, by=[2025, 2026, 2025, 2026])
        >>> GaussianNB().fit(sums.total()).theta_.ravel(), len(sums)
        (array([1.5, 5.5]), 2)
        """
        learner = self.unfitted()
        require_sums(learner)
        if where is not None:
            names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
            with fit_context():
                call = Call(learner, X, y, sample_weight, names, exact)
                reader, keys, sums = sums_elsewhere(where, call)
                learner.method().warn_of(sums)
            return GroupedSums(learner, reader, keys, sums, True).shown()
        names, given = key_columns(by, X)
        with fit_context():
            opened = Opened.of(self, X, y, sample_weight, names)
            if by is None:
                found = opened.as_one(opened.sums())
            else:
                found = opened.by_group(ByColumns(names) if given is None else ByPlace.of(given))
                require_products(found.sums)
            opened.method.warn_of(found.sums)
            return replace(found, sums=found.sums.canonical()).shown()

    def fit_each(self, sums: GroupedSums) -> GroupedModels:
        """Return a model for every group of rows, from their sums.

        What a naive Bayes chooses by the rows, such as the bins of densities, it chooses once, by
        all groups together.

        Parameters
        ----------
        sums : GroupedSums
            Made by `sums` with ``by``.

        Raises
        ------
        ParameterError
            If there are no groups, or the sums are those of other options.
        """
        if not (isinstance(sums, GroupedSums) and sums.by):
            raise ParameterError(
                f"{type(sums).__name__} is given, which has no groups of sums",
                "fit_each makes a model for every group",
                "make them by sums(X, y, by=...), or use fit",
            )
        learner = self.unfitted()
        method = learner.method()
        learner._read_alike(method, sums)
        require_sums(learner)
        pooled = self.unfitted().fit(sums.total()).model_ if method.chooses else None
        return GroupedModels(sums, learner, pooled)

    @abstractmethod
    def _columns_of(self, sums: GroupedSums) -> dict[str, Any]:
        """Return columns about the models of groups, by name, each (g,)."""

    @property
    def sums_(self) -> GroupedSums:
        """The sums that the model was fitted from; `fit` makes the model of them again."""
        check_is_fitted(self)
        require_sums(self)
        named = is_named(self)
        return GroupedSums(self.unfitted(), self.reader_, Keys.none(), self.statistic_, named)

    def _fit_sums(self, given: GroupedSums, y: Any, sample_weight: Any) -> Self:
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None:
                raise ParameterError(
                    f"{name} is given with sums",
                    "sums are of rows with their targets and weights",
                    f"leave {name} out",
                )
        with fit_context(self):
            method = self.method()
            reader, sums = self._read_alike(method, given), given.alone()
            method.require(sums)
            names = reader.layout.names
            settle_columns(self, len(names), names if given.named else None)
            self._set(method, reader.narrowed(sums))
            self.forgotten_ = ()
            return self

    def _read_alike(self, method: Method[R, S], given: GroupedSums) -> R:
        """Return the reader of sums; refuse those that this estimator would not have made."""
        theirs, name = given.estimator, type(self).__name__
        if theirs.kind.name != self.kind.name:
            raise ParameterError(
                f"the sums are those of {type(theirs).__name__}",
                f"{name} is fitted from others",
                f"take {name}().sums(...) of the rows",
            )
        for option in self.kind.reading:
            mine, other = (getattr(one, option, None) for one in (self, theirs))
            if repr(mine) != repr(other):
                raise ParameterError(
                    f"{option}={mine!r}, and the sums were made with {option}={other!r}",
                    "it says how tables are read",
                    "give both the same, or sum the rows again",
                )
        reader = method.adopted(given.reader)
        if method.shared(reader) != theirs.method().shared(given.reader):
            raise ParameterError(
                f"{self!r} needs other sums than {theirs!r}",
                "the options decide which sums are taken",
                "give both the same, or sum the rows again",
            )
        return reader

    def _set(
        self,
        method: Method[R, S],
        learnt: Learnt[R, S],
        rows: Any = None,
        before: Any = None,
        newest: S | None = None,
        saved: Any = None,
    ) -> Self:
        """Keep the sums normalised, and the model of them: see `Method.model`.

        Of what a file holds, ``saved``, choices are kept: see `Method.restored`.
        """
        reader = learnt.reader
        batches = tuple([batch.canonical() for batch in learnt.batches])
        sums = batches[0] if len(batches) == 1 else tree_sum(batches)
        if saved is None:
            model = method.model(reader, sums, rows, before, newest)
        else:
            model = method.restored(reader, sums, saved)
        self.reader_, self.model_ = reader, model
        self.__dict__.pop("clusters_", None)  # those of earlier rows
        if method.keeps_sums:
            self.batches_, self.statistic_ = batches, sums
        else:
            for name in ("statistic_", "batches_", "forgotten_"):
                self.__dict__.pop(name, None)
        for sentence in method.remarks(model, saved is None):
            warn(sentence)
        if saved is not None:
            self.forgotten_ = saved.forgotten
            # Sums that were moved to other pivots may break a rule that those of the file keep.
            for record in (*batches, *method.records(model)):
                check(record)
        return self

    @abstractmethod
    def _kept_reader(self, reader: R) -> dict[str, Any]:
        """Return the entries of a file that only this kind of reader has."""

    @abstractmethod
    def _reader_of(self, saved: Any) -> R: ...

    def _learn_more(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        decay: float,
        window: int | None,
        joined: Callable[[Any, R, S], R] | None = None,
    ) -> Self:
        """Learn from a batch; the first one settles how tables are read.

        Parameters
        ----------
        joined : function, optional
            Gives the reader once the rows of the batch are summed. Default: it stays.
        """
        check_stream(decay, window)
        with fit_context(self):
            method = self.method()
            if hasattr(self, "statistic_"):
                rows = to_learn(self._open_more(X, y, sample_weight))
                known, before = Learnt(self.reader_, self.batches_), self.model_
                digesting = DigestingEngine(engine_for(rows), [])
                engine = digesting if self.forgotten_ else digesting.engine
                try:
                    more = method.sums(known.reader, rows, engine, self.statistic_)
                except DataError:
                    wider = known.reader.widened(rows, digesting.engine)
                    if wider == known.reader:
                        raise
                    known = known.read_by(wider)
                    more = method.sums(wider, rows, engine, self.statistic_)
                kept = without(self.forgotten_, *digesting.found) if self.forgotten_ else ()
            else:
                rows, said = self._open_first(X, y, sample_weight)
                engine = engine_for(rows)
                known = Learnt(method.reader(rows, said, engine), ())
                more, before, kept = method.sums(known.reader, rows, engine), None, ()
            if joined is not None:
                known = known._replace(reader=joined(method, known.reader, more))
            learnt = known.followed_by(more, decay, window)
            every = rows if learnt.batches[0] is more else None
            self._set(method, learnt, every, before, more)
            self.forgotten_ = kept
            return self

    def forget(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, again: bool = False
    ) -> Self:
        """Take rows away again; the result is that of a `fit` without them.

        Labels, and values of categories, that no row shows any more are unknown.

        Sums do not record which rows they are of: rows that were never in fit, but could have been,
        are taken away like others. What the model remembers are the sets of rows that it has
        forgotten, the last 1,000, in memory and in its file: a set that comes again is refused, in
        whatever order and from whatever source. `merge` joins what both models remember, and
        `partial_fit` of such a set ends its being remembered.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        again : bool
            Whether the rows may be a set that was forgotten before, as if there were two of each.

        Raises
        ------
        ForgetError
            If the rows cannot have been in fit, were forgotten before, or are seen through a
            window.
        """
        before = fitted(self)
        require_sums(self)
        method = self.method()
        rows = to_learn(self._open_more(X, y, sample_weight))
        learnt = Learnt(self.reader_, self.batches_)
        forgettable(learnt.batches)  # refused before a row is read
        digesting = DigestingEngine(engine_for(rows), [])
        gone = method.sums(learnt.reader, rows, digesting, self.statistic_)
        (total,) = digesting.found
        if not again:
            refuse_again(self.forgotten_, total)
        rest = learnt.without(gone, self.kind.row)
        known = self.statistic_
        with fit_context(self):
            try:
                return self._set(method, rest, before=before)
            finally:
                if self.statistic_ is not known:  # a warning may have been made an error
                    self.forgotten_ = remembered(self.forgotten_, total)

    def merge(self, other: Self) -> Self:
        """Add the sums of another model of the same columns.

        Two windows are added batch by batch, the newest to the newest.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        """
        _require_alike(self, other, "merged")
        theirs = Learnt(other.reader_, other.batches_)
        both = Learnt(self.reader_, self.batches_).merged(theirs)
        forgotten = joined(self.forgotten_, other.forgotten_)
        with fit_context(self):
            self._set(self.method(), both, before=self.model_)
        self.forgotten_ = forgotten
        return self

    def compare(self, other: Self) -> Comparison:
        """Return what divides the rows of two models, column by column, the largest first.

        Neither reads rows again: a model holds the statistic of its rows. Numeric targets are
        columns like the others; the categories of a linear model are compared by their
        fractions, and may have other values. A missing cell is a value like others. The result
        prints as a verdict and a table, p adjusted by Holm's method, and is a record of
        `suffice.sums.comparison`.

        Parameters
        ----------
        other : FittedFromSums
            A model of the same columns, and families or targets, of the rows to compare with.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.

        Examples
        --------
        >>> from suffice.naive_bayes import GaussianNB
        >>> before = GaussianNB().fit([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]], [0, 1, 1])
        >>> after = GaussianNB().fit([[7.0, 5.0], [8.0, 4.0], [9.0, 9.0]], [0, 0, 1])
        >>> print(before.compare(after))
        Too few rows for tests; the most apart: x0, Hellinger 1.00, a large shift.
                  Hellinger     PSI  p  missing  within  class
        (labels)     0.2391  0.2554  -
        x0           0.9994      54  -    0.0 %  1.0000      0
        x1           0.0000       0  -    0.0 %  1.0000      0
        <BLANKLINE>
        3 and 3 rows; within: the class that differs most

        >>> from suffice.linear_model import LinearRegression
        >>> before = LinearRegression().fit([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]], [0, 1, 1])
        >>> after = LinearRegression().fit([[7.0, 5.0], [8.0, 4.0], [9.0, 9.0]], [0, 1, 1])
        >>> print(before.compare(after))
        Too few rows for tests; the most apart: x0, Hellinger 1.00, a large shift.
            Hellinger  PSI  p  missing
        x0     0.9994   54  -    0.0 %
        x1     0.0000    0  -    0.0 %
        y      0.0000    0  -    0.0 %
        <BLANKLINE>
        3 and 3 rows
        """
        _require_alike(self, other, "compared")
        return self.reader_.compare(self.statistic_, other.reader_, other.statistic_)


def keeps_sums(estimator: Any) -> bool:
    """Return whether an estimator keeps sums, or will."""
    unfitted = "model_" not in vars(estimator)
    return estimator.method().keeps_sums and (unfitted or "statistic_" in vars(estimator))


def require_sums(estimator: Any) -> None:
    """Refuse what needs sums where none are kept."""
    if not keeps_sums(estimator):
        descends = not estimator.method().keeps_sums
        fit = getattr(getattr(estimator, "model_", None), "fit", None)
        if not (descends or hasattr(fit, "loss_history")):
            raise ParameterError(
                "the model comes from a file, which holds its coefficients alone",
                "of fewer rows than columns sums are larger than the rows, and no file keeps rows",
                "fit the rows anew",
            )
        raise ParameterError(
            f"solver={estimator.solver!r}" if descends else "the fit was by descent",
            "gradient descent keeps no sums over the rows, only coefficients",
            "use solver='normal'",
        )


def _require_alike(mine: FittedFromSums[R, S], other: Any, verb: str) -> None:
    check_is_fitted(mine)
    name = mine.kind.name
    if not (isinstance(other, FittedFromSums) and other.kind.name == name):
        raise ParameterError(
            f"{other!r} is no {name}", f"only fitted {name}s can be {verb} with one"
        )
    check_is_fitted(other)
    for one in (mine, other):
        require_sums(one)
    mine.reader_.check_compatible(mine.statistic_, other.reader_, other.statistic_, verb)
