"""What a logistic regression minimises: the options of an estimator, applied to rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.errors import DataError, ParameterError
from suffice.models.base.checks import ClassWeight, class_weights
from suffice.models.base.options import incomplete
from suffice.models.design.empty_columns import learnt_rows, without_rows, without_value
from suffice.models.design.matrix import Design
from suffice.models.logistic.centred_design import CentredDesign
from suffice.models.logistic.first_pass import first_pass
from suffice.models.logistic.messages import columns_without_value, listed, missing_cells_message
from suffice.models.logistic.model import LogisticModel
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.options import Missing
from suffice.models.logistic.rows import DataLoop
from suffice.models.logistic.term_rows import Coded, LaidOut
from suffice.sums.by_class import ByClass
from suffice.sums.moments import refuse_underflow
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What is to be minimised over which rows.

    Parameters
    ----------
    data : DataLoop
        Over the rows of the table.
    layout : Layout
        How these are read.
    intercept : bool
        Whether b is estimated.
    incomplete : {"error", "drop", "indicator"}
    class_weight : mapping of label to float, or "balanced", optional
    variance : float
        C of the prior; infinite without one.
    standardize : bool
        Whether the prior is of coefficients of standardised columns.
    firth : bool
        Whether the prior is that of Jeffreys.
    l1_ratio : float
        The part of the penalty that is of absolute values.
    laid_out : LaidOut, optional
        What the columns are, where ``data`` has terms in their place.
    """

    data: DataLoop
    layout: Layout
    intercept: bool
    incomplete: Missing
    class_weight: ClassWeight
    variance: float
    standardize: bool
    firth: bool
    l1_ratio: float = 0.0
    laid_out: LaidOut | None = None

    @cached_property
    def objective(self) -> Objective:
        """The function to be minimised."""
        centred, seen = self.rows, self.seen
        unit = centred.scale if self.standardize else np.ones_like(centred.scale)
        penalty, absolute = np.zeros((2, centred.width))
        penalty[1:] = (1.0 - self.l1_ratio) * unit**2 / self.variance
        absolute[1:] = self.l1_ratio * unit / self.variance
        used = np.concatenate([[self.intercept], centred.scale > 0])
        class_weights = self._class_weights(seen)
        of_rows = self.data, centred, seen, class_weights, penalty, used, self.firth
        return Objective(*of_rows, absolute=absolute if absolute.any() else None)

    # -- the model of these rows

    @cached_property
    def table(self) -> CentredDesign:
        """How rows of the table become the rows that the coefficients are of."""
        of_table = self.laid_out
        if of_table is not None:
            return replace(self.rows, design=of_table.design, layout=of_table.layout)
        return replace(self.rows, layout=self.layout)

    def start(self, before: LogisticModel) -> NDArray[np.float64] | None:
        """The coefficients of an earlier model, if it is of the same columns and classes."""
        same = before.centred.design == self.table.design and before.classes == self.seen.classes
        return before.about(self.table) if same else None

    def model(
        self, coefficients: NDArray[np.float64], root: NDArray[np.float64] | None = None
    ) -> LogisticModel:
        """The model of coefficients and their inverse information."""
        return LogisticModel(self.table, self.seen.classes, coefficients, self.intercept, root)

    @property
    def has_likelihood(self) -> bool:
        """Whether what is minimised is a likelihood of the rows, without a prior."""
        return self.variance == np.inf

    @property
    def constant(self) -> tuple[str, ...]:
        """What to say of constant columns."""
        constant = np.flatnonzero(self.table.scale == 0)
        if not len(constant):
            return ()
        return (f"{listed(constant, self.table.design.terms)}: constant, so the coefficient is 0",)

    # -- the rows

    @cached_property
    def seen(self) -> ByClass:
        """The first pass over the rows of the fit."""
        seen = self._first_pass
        self._check_classes(seen)
        for block, place in zip(seen.blocks, self.layout.blocks, strict=True):
            refuse_underflow(block.too_small, place.columns.__getitem__)
        return seen

    @cached_property
    def rows(self) -> CentredDesign:
        """How rows of the table become rows of terms."""
        of_rows = self._design, self.layout, self.seen, self.intercept, self.left_out > 0
        return CentredDesign.of(*of_rows)

    @property
    def left_out(self) -> float:
        """Weight of the rows that are left out for missing cells."""
        return float(self._all_rows.weight.value.sum() - self.learnt)

    @property
    def learnt(self) -> float:
        """Weight of the rows that are learnt from."""
        return float(self._first_pass.weight.value.sum())

    @property
    def labels(self) -> Vocabulary:
        """The labels of rows whose weight is above 0."""
        return self._all_rows.classes

    @property
    def unlabelled(self) -> float:
        """Weight of the rows that are left out for missing labels."""
        return float(self._all_rows.unlabelled.value)

    @cached_property
    def _all_rows(self) -> ByClass:
        return self._read(complete=False)

    def _read(self, complete: bool) -> ByClass:
        """A first pass, over complete rows or all."""
        return self.data.engine.run(first_pass, (self.layout, complete), self.data.parts)

    @cached_property
    def _missing_cells(self) -> str:
        """How many cells are missing, by column; nothing where all are there, or have a term."""
        own = () if self.laid_out is None else self.laid_out.design.missing
        return missing_cells_message(self._all_rows, self._by_column, own)

    @property
    def _by_column(self) -> Layout:
        return self.layout if self.laid_out is None else self.laid_out.by_column

    @cached_property
    def _first_pass(self) -> ByClass:
        """The first pass over the rows that are not left out."""
        if not self._missing_cells:
            return self._all_rows
        sums, names = self._all_rows, self._by_column
        for name in columns_without_value(sums, names):
            raise without_value(name, rows=learnt_rows(sums, self.layout))
        if self.incomplete != "drop":
            raise incomplete(self._missing_cells, self._otherwise)
        complete = self._read(complete=True)
        if not len(complete.classes):
            raise DataError(
                f"no labelled row is complete: values are missing, {self._missing_cells}",
                "incomplete='drop' learns from complete rows only",
                f"leave columns out, or use {self._otherwise}",
            )
        return complete

    @property
    def _otherwise(self) -> str:
        """What keeps rows with missing cells: a term for them, where numbers are cut into bins."""
        indicator = "incomplete='indicator'"
        if isinstance(self.laid_out, Coded):
            return indicator
        return f"{indicator} with numbers='bins'"

    # -- classes and categories

    def _check_classes(self, seen: ByClass) -> None:
        labels = seen.classes.values
        if not labels:
            raise without_rows(labelled=True)
        if len(labels) < 2:
            raise DataError(
                f"there is one class: every label is {labels[0]!r}",
                "a classifier needs two classes or more",
                "check the label column and the weights",
            )
        if self.firth and len(labels) > 2:
            raise ParameterError(
                f"penalty='firth' with {len(labels)} classes",
                "it is there for two classes",
                "use C=1.0, or compare the classes in pairs",
            )

    @property
    def _design(self) -> Design:
        if self.laid_out is not None:
            return self.laid_out.terms
        names = self.layout.names
        last, sums = self.layout.blocks[-1], self.seen.blocks[-1]
        if last.encoding != "category":
            return Design(names, ())
        values = dict(zip(last.columns, sums.vocabularies, strict=True))
        for name in (name for name, vocabulary in values.items() if not len(vocabulary)):
            raise without_value(name, rows=learnt_rows(self.seen, self.layout))
        return Design(names, (), values).spanning(self.intercept)

    def _class_weights(self, seen: ByClass) -> NDArray[np.float64]:
        return class_weights(self.class_weight, seen.weight.value, seen.classes.values)
