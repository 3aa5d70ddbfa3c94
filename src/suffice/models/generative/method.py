"""Generative classifiers as methods: class prior times families, and weights of columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import KIND_OF, BlockLayout, Column, Kind, UniformColumns
from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError
from suffice.families import Family, density
from suffice.models.base.answers import expected_costs
from suffice.models.base.checks import ClassWeight, check_class_weight, require_weights
from suffice.models.base.groups import ByColumns, ByPlace, sums_by_group
from suffice.models.base.judge import LeaveOneOut
from suffice.models.classifier import costs_of, warn_of_unlabelled
from suffice.models.generative.calibration import CalibrationName
from suffice.models.generative.leave_one_out import GenerativeLeftOut
from suffice.models.generative.model import GenerativeModel, Prior, class_prior
from suffice.models.generative.part import (
    FamilyColumns,
    sampled,
    summarise,
    summarise_groups,
    whole,
)
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.saved import SavedGenerative
from suffice.models.generative.weights import sample_rows, weighted
from suffice.models.method import Method
from suffice.numerics.in_print import NAMED
from suffice.numerics.logspace import log_normalise, normalise
from suffice.sums.by_class import ByClass, ClassesByGroup
from suffice.sums.keys import Keyed
from suffice.sums.moments import refuse_underflow
from suffice.sums.row_sample import Sampled, in_rows

Rows = TableSource | ArraySource
Choice = tuple[Sequence[Column], tuple[FamilyColumns, ...]]
"""Columns of a table, and their families."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GenerativeMethod(Method[GenerativeReader, ByClass]):
    """Class prior times families; a subclass chooses these, see `columns`.

    ::

        P(x, c) = P(c) Π_b p(x_b | c)
    """

    prior: Prior  # P(c); see `class_prior`
    class_weight: ClassWeight = None  # what the rows of a class are multiplied by in P(c)
    option: str = "class_prior"  # what errors call the prior
    family: Family | None = None  # the one of all columns
    reading: Mapping[str, Any] = field(default_factory=dict)  # options of the layout
    # a third value of a binary column counts as missing in rows to be answered
    lenient: bool = False
    calibration: CalibrationName = "none"  # how much of what columns say is counted
    # weights of columns, or bins of densities, are fitted to a sample of the rows
    samples: bool = False

    same_classes: ClassVar[bool] = False
    """Whether a later call that names classes names all that are known, as scikit-learn has it."""
    fewest_classes: ClassVar[int] = 2
    reader_type: ClassVar[type[GenerativeReader]] = GenerativeReader
    keeps_sums = True

    @property
    def is_of_sums(self) -> bool:
        return not self.samples

    # -- reader, sums, model

    @abstractmethod
    def columns(self, rows: Rows, engine: Engine) -> Choice:
        """Describe the columns of the first table, and choose their families."""

    def is_given(self, column: str) -> bool:
        """Return whether the user gave the family of a column."""
        return False

    def reader(
        self, rows: Rows, label_dtype: np.dtype[Any] | None, engine: Engine
    ) -> GenerativeReader:
        if self.class_weight is not None:
            check_class_weight(self.class_weight)
        columns, parts = self.columns(rows, engine)
        blocks = tuple([part.layout for part in parts])
        more: dict[str, Any] = {"label_dtype": label_dtype, "lenient": self.lenient, "parts": parts}
        return self.reader_type.of(rows, columns, blocks, self.reading, self.is_given, **more)

    def sums(
        self, reader: GenerativeReader, rows: Rows, engine: Engine, like: ByClass | None = None
    ) -> ByClass:
        """Sum the rows; of some, a sample goes along with the sums."""
        if self.samples and not isinstance(engine, CheckpointedEngine):
            return self.sample(reader, rows, engine)
        parts = rows.parts(reader.layout, engine.workers)
        found = engine.run(summarise, (reader.parts, reader.layout), parts)
        if not self.samples:
            return found
        # The checkpoint keeps the sums; the rows of the sample are chosen in another reading, which
        # starts anew after a stop.
        sample = self.sample(reader, rows, engine).sample
        return Sampled(found.classes, found.weight, found.unlabelled, found.blocks, sample)

    def sample(self, reader: GenerativeReader, rows: Rows, engine: Engine) -> Sampled:
        """Sum the rows, and keep some of them."""
        if isinstance(engine, CheckpointedEngine):
            engine = engine.engine  # no file holds rows
        parts, size = rows.parts(reader.layout, engine.workers), sample_rows(reader.parts)
        return engine.run(sampled, (reader.parts, reader.layout, size), parts)

    def sums_by_group(
        self, reader: GenerativeReader, rows: Rows, engine: Engine, groups: ByColumns | ByPlace
    ) -> Keyed:
        params = reader.parts, reader.layout
        return sums_by_group(summarise_groups, params, engine, rows, reader.layout, groups)

    def alone(self, reader: GenerativeReader, sums: ClassesByGroup, g: int) -> ByClass:
        found = sums.alone(g)
        pairs = zip(reader.parts, found.blocks, strict=True)
        return replace(found, blocks=tuple([part.together(block) for part, block in pairs]))

    def model(
        self,
        reader: GenerativeReader,
        sums: ByClass,
        rows: Rows | None = None,
        before: GenerativeModel | None = None,
        newest: ByClass | None = None,
    ) -> GenerativeModel:
        """Return the model; with weights of columns in a second stage, from the sample."""
        if not self.samples:
            return self.plain(reader, sums)
        row_weight = 1.0 if before is None else before.row_weight
        if isinstance(sums, Sampled) and sums.stands_for_all:
            row_weight = sums.row_weight
        sums = in_rows(sums, row_weight)
        found = replace(self.plain(reader, sums), row_weight=row_weight)
        if self.calibration == "none":
            return found
        more = None if newest is None else in_rows(newest, row_weight)
        return weighted(found, sums, self.calibration, before, more)

    def plain(self, reader: GenerativeReader, sums: ByClass) -> GenerativeModel:
        """Return the model of sums that counts every column once."""
        if reader.declared.values:
            sums = sums.over(reader.classes(sums))
        prior = class_prior(sums, self.prior, self.class_weight, self.option)
        for part, block in zip(reader.parts, sums.blocks, strict=True):
            if (too_small := block.too_small).any():
                refuse_underflow(too_small, part.column)
        return GenerativeModel(reader.parts, reader.layout, sums.classes, prior, sums)

    def prior_of_others(self, sums: ByClass) -> NDArray[np.float64]:
        """Return P(c) without a row, if a fit makes sense with the others."""
        self.require(sums)
        return class_prior(sums, self.prior, self.class_weight, self.option)

    def restored(
        self, reader: GenerativeReader, sums: ByClass, saved: SavedGenerative
    ) -> GenerativeModel:
        row_weight = saved.row_weight if self.samples else 1.0
        found = self.plain(reader, in_rows(sums, row_weight))
        found = replace(found, chosen=saved.chosen, row_weight=row_weight)
        if saved.calibration is None:
            return found
        return replace(found, calibration=saved.calibration, sampled=saved.sampled)

    # -- what is refused, and what is said

    def require(self, sums: ByClass, rows: Rows | None = None) -> None:
        """Refuse rows of fewer classes than a fit makes sense with; count rows without a label."""
        too_few = 0 < len(sums.classes.values) < self.fewest_classes
        if rows is not None:
            if too_few:
                require_weights(rows, sums.classes, self.fewest_classes)
            if sums.unlabelled.hi:
                warn_of_unlabelled(float(sums.unlabelled.hi))
        if too_few:
            raise DataError(
                f"there is one class: every label is {sums.classes.values[0]!r}",
                "a classifier needs two classes or more",
                "check the label column",
            )

    def warn_of(self, sums: ByClass | ClassesByGroup) -> None:
        warn_of_unlabelled(float(np.sum(sums.unlabelled.value)))

    @property
    def chooses(self) -> bool:
        return True

    def chosen_as(self, model: GenerativeModel, pooled: GenerativeModel) -> GenerativeModel:
        chosen = tuple(map(density.Chosen.of, pooled.parameters))
        return replace(model, chosen=chosen) if any(chosen) else model

    def adopted(self, reader: GenerativeReader) -> GenerativeReader:
        parts = reader.parts
        if self.family is not None:
            parts = tuple([replace(part, family=self.family) for part in parts])
        return replace(reader, parts=parts, lenient=self.lenient)

    def shared(self, reader: GenerativeReader) -> Any:
        return reader.layout, tuple(
            [part.family.sums(part.layout.encoding) for part in reader.parts]
        )

    def remarks(self, model: GenerativeModel, of_rows: bool) -> Iterator[str]:
        """Yield warnings about these estimates; of rows also what was decided for the user."""
        for number, part in enumerate(model.parts):
            if not part.family.lazy:  # those that are lazy make no remarks
                parameters = model.parameters[number]
                yield from parameters.remarks(part.layout.columns, model.classes.values)
        if not of_rows:
            return
        if model.calibration is not None and model.calibration.stale:
            ones = bool((model.calibration.weights == 1.0).all())
            yield (
                f"the weights of the columns are {'1' if ones else 'those of earlier rows'}, as no "
                "rows are kept in sums and files; calibrate learns them anew."
            )
        if names := list(map(repr, model.identifiers)):
            one, more = len(names) == 1, len(names) - NAMED
            first = ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
            said = f"column {first} tells" if one else f"columns {first} tell"
            yield (
                f"{said} one row from another, as an identifier does, and "
                f"{'is' if one else 'are'} left out; a family keeps "
                f"{'it' if one else 'them'}, such as families={{{names[0]}: 'categorical'}}."
            )

    def check_parts(self, parts: Sequence[FamilyColumns]) -> None:
        """Refuse the families of a file that the options do not lead to."""
        if self.family is not None and [type(p.family) for p in parts] != [type(self.family)]:
            raise ParameterError(
                f"the families are {', '.join(str(part.family) for part in parts)}",
                f"all columns have one, {self.family}",
            )

    def left_out(self, estimator: Any, rows: Any) -> LeaveOneOut | None:
        model, layout = estimator.model_, estimator.reader_.layout
        parts = zip(model.parts, model.statistic.blocks, strict=True)
        families = [part.leave_one_out(block) for part, block in parts]
        if None in families:
            return None
        others = GenerativeLeftOut(model, layout, families, self.prior_of_others)
        judge = replace(estimator._judge(rows), model=others, layout=layout)
        return LeaveOneOut(judge, others.answers, from_logs(estimator))

    def records(self, model: GenerativeModel) -> Sequence[Any]:
        return model.parameters


def from_logs(classifier: Any) -> dict[str, Callable[[NDArray[np.float64]], NDArray[Any]]]:
    """Return what is predicted from log P(x, c), (n, k), by the name of the method."""
    model, costs = classifier.model_, costs_of(classifier, classifier.costs)

    def proba(logs: NDArray[np.float64]) -> NDArray[np.float64]:
        return normalise(logs.copy(order="K"), model.prior)[0]

    def labels(logs: NDArray[np.float64]) -> NDArray[Any]:
        if costs is None:
            codes = np.empty(len(logs), np.intp)
            model.best(logs, codes)
        else:
            codes = expected_costs(proba(logs), costs).argmin(axis=1)
        return np.asarray(classifier.classes_.take(codes))

    return {
        "predict": labels,
        "predict_proba": proba,
        "predict_log_proba": lambda logs: log_normalise(logs, model.log_prior)[0],
        "predict_joint_log_proba": lambda logs: logs,
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class OneFamilyMethod(GenerativeMethod):
    """All columns in one family; a single class is accepted."""

    family: Family
    name: str  # of the estimator

    same_classes = True
    fewest_classes = 1

    def columns(self, rows: Rows, engine: Engine) -> Choice:
        family, threshold = self.family, self.reading.get("threshold")
        if not isinstance(rows, ArraySource):
            columns = rows.columns()
            return columns, whole(family, columns)
        encoding = family.encodings[0]
        # Cells that are not stored are left alone where 0 is the outcome 0.
        sparse = not isinstance(rows.x, np.ndarray) and (threshold is None or threshold >= 0)
        kind: Kind = "text" if sparse else KIND_OF[encoding]
        if kind == "text" and "events" in family.encodings:
            encoding = "events"
        uniform = UniformColumns(rows.names, "number", kind, f"as {self.name} reads it")
        return uniform, (FamilyColumns(family, BlockLayout(encoding, rows.names)),)
