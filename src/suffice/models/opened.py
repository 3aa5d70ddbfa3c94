"""Sums over the rows of tables that an estimator opens; and sums that a file holds."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from suffice.data.table_source import to_learn
from suffice.engines.engine import engine_for, fit_context
from suffice.errors import DataError
from suffice.models.base.groups import ByColumns, ByPlace
from suffice.models.estimator import unfitted_of
from suffice.models.grouped_sums import GroupedSums
from suffice.models.method import Method
from suffice.models.reading import is_named, settle_columns
from suffice.rules import check
from suffice.sums.by_class import ClassesByGroup
from suffice.sums.keys import Keys
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True)
class Opened:
    """A table that an estimator has opened to fit: the way to models of groups of rows."""

    learner: Any  # which is not fitted yet
    method: Method[Any, Any]
    reader: Any
    rows: Any

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        by: tuple[str, ...] = (),
    ) -> Opened:
        """Open a table as `fit` does; columns of keys, ``by``, are no predictors."""
        learner = estimator.unfitted()
        learner._by = by
        method = learner.method()
        rows, said = learner._open_first(X, y, sample_weight)
        return cls(learner, method, method.reader(rows, said, engine_for(rows)), rows)

    @property
    def shared(self) -> Any:
        return type(self.learner), self.method.shared(self.reader)

    def sums(self) -> Any:
        with fit_context(self.learner):
            return self.method.sums(self.reader, self.rows, engine_for(self.rows))

    def as_one(self, sums: Any) -> GroupedSums:
        """Return the sums over all rows as an object."""
        named = is_named(self.learner)
        return GroupedSums(self.learner.unfitted(), self.reader, Keys.none(), sums, named)

    def by_group(self, groups: ByColumns | ByPlace) -> GroupedSums:
        with fit_context(self.learner):
            engine = engine_for(self.rows)
            found = self.method.sums_by_group(self.reader, self.rows, engine, groups)
        return replace(self.as_one(found.sums), keys=found.keys)

    def fitted(self, sums: Any) -> Any:
        """Return the estimator that `fit` makes of rows with these sums."""
        self.method.require(sums)
        learnt = self.reader.narrowed(sums)
        return copy(self.learner)._set(self.method, learnt)


class Read(NamedTuple):
    """The values of the first tables, which the opening of a further one asks a model for."""

    known_values: Mapping[str, Vocabulary]
    classes: Vocabulary | None


def sums_read_alike(
    like: GroupedSums, known: Mapping[str, Vocabulary], X: Any, y: Any, sample_weight: Any
) -> GroupedSums:
    """Return the sums over the rows of another table, read as those of given sums were.

    Values of categories that are ``known`` are no missing cells, whatever they are called.
    """
    learner = like.estimator.unfitted()
    names = like.reader.layout.names
    settle_columns(learner, len(names), names if like.named else None)
    learner.reader_ = like.reader
    learner.model_ = Read(known, getattr(like.sums, "classes", None))
    with fit_context():
        method = learner.method()
        rows = to_learn(learner._open_more(X, y, sample_weight))
        sums = method.sums(like.reader, rows, engine_for(rows), like.sums).canonical()
        method.warn_of(sums)
    return replace(like, sums=sums)


# -- of files


def restored_sums(cls: Any, content: Any) -> GroupedSums:
    """Rebuild sums from what their file holds, by the rules of the file of a model of them."""
    entries = dict(content)
    sums, keys = entries.pop("sums"), Keys.of_file(entries.pop("keys"))
    together = sums
    if keys.names:
        if getattr(sums, "k", None) != len(keys):
            raise DataError("the sums are of another number of groups than there are keys")
        together = sums.gathered(np.zeros(len(keys), np.intp), 1)
        if isinstance(together, ClassesByGroup):
            found = together.alone(0)
            pairs = zip(entries["parts"], found.blocks, strict=True)
            together = replace(found, blocks=tuple([part.together(b) for part, b in pairs]))
    # Sums of groups keep the rules of their kinds, and all together that of a model's.
    saved = cls.kind.saved.of(entries | {"batches": (together,)})
    check(saved.batches[0])
    return _sums_of(cls, saved, keys, sums)


def sums_without_rows(cls: Any, entries: Mapping[str, Any], sums: Any) -> GroupedSums:
    """Return sums of no row, and how tables are read, from `GroupedSums.entries`."""
    saved = cls.kind.saved.of({**entries, "batches": (sums,)})
    return _sums_of(cls, saved, Keys.none(), sums)


def _sums_of(cls: Any, saved: Any, keys: Keys, sums: Any) -> GroupedSums:
    estimator: Any = unfitted_of(cls, saved)
    return GroupedSums(estimator, estimator._reader_of(saved), keys, sums, saved.named)
