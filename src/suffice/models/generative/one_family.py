"""A classifier whose columns are all modelled by one family, as scikit-learn's are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from suffice.data.array_source import ArraySource
from suffice.data.schema import KIND_OF, Column, Kind, UniformColumns
from suffice.data.table_source import TableSource
from suffice.errors import ParameterError
from suffice.families import Family
from suffice.models.base.checks import check_same_classes
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.family_columns import whole
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.reader import GenerativeReader
from suffice.numerics.rows import is_sparse
from suffice.sums.by_class import ByClass
from suffice.sums.vocabulary import Vocabulary

__all__ = ["OneFamilyClassifier"]


class OneFamilyClassifier(GenerativeClassifier):
    """All columns in one family; a single class is accepted, as scikit-learn does."""

    fewest_classes = 1
    array_dtype: ClassVar[str | None] = "numeric"

    @abstractmethod
    def _family(self) -> Family:
        """The family, from the parameters."""

    def _parts(self, columns: Sequence[Column]) -> tuple[FamilyColumns, ...]:
        return whole(self._family(), columns)

    def _joined(
        self,
        reader: GenerativeReader,
        statistic: ByClass,
        labels: Sequence[Any],
        declared: Vocabulary,
    ) -> GenerativeReader:
        joined = super()._joined(reader, statistic, labels, declared)
        if declared.values and hasattr(self, "statistic_"):
            check_same_classes(labels[1], self.classes_)
        return joined

    def _described(self, source: TableSource | ArraySource) -> Sequence[Column]:
        if not isinstance(source, ArraySource):
            return source.columns()
        threshold = self._reading().get("threshold")
        # Cells that are not stored are left alone where 0 is the outcome 0.
        stored = is_sparse(source.x) and (threshold is None or threshold >= 0)
        kind: Kind = "text" if stored else KIND_OF[self._family().encodings[0]]
        return UniformColumns(source.names, "number", kind, f"as {type(self).__name__} reads it")

    def _check_saved(self, saved: Any) -> None:
        super()._check_saved(saved)
        family = self._family()
        if [type(part.family) for part in saved.parts] != [type(family)]:
            raise ParameterError(
                f"the families are {', '.join(str(part.family) for part in saved.parts)}",
                f"{type(self).__name__} has one for all columns, {family}",
            )

    @property
    def _estimates(self) -> Any:
        (parameters,) = self.model_.parameters
        return parameters

    @property
    def _sums(self) -> Any:
        (block,) = self.model_.statistic.blocks
        return block
