"""What a logistic regression minimises: the options of an estimator, applied to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.errors import DataError, ParameterError
from suffice.models.base.checks import check_one_type
from suffice.models.base.missing_cells import incomplete, without_value
from suffice.models.base.options import Missing
from suffice.models.design.matrix import Design
from suffice.models.logistic.centred_design import CentredDesign, first_pass
from suffice.models.logistic.fit import DataLoop
from suffice.models.logistic.messages import missing_cells_message
from suffice.models.logistic.missing_cells import (
    ClassGaussians,
    SpreadSplit,
    joint_moments,
    plain_layout,
)
from suffice.models.logistic.model import LogisticModel
from suffice.models.logistic.objective import Objective
from suffice.phrases import Option, Phrase
from suffice.statistics.by_class import ByClass
from suffice.statistics.counts import Counts
from suffice.statistics.moments import Moments, require_spread
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ClassWeight", "LossOptions", "Problem"]

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


@dataclass(frozen=True, eq=False)
class Problem:
    """What a fit minimises, and what it leaves to the model.

    Parameters
    ----------
    objective : Objective
    data : DataLoop
        Over the rows; those with gaps are spread over complete ones if they are modelled.
    centred : CentredDesign
        How the rows of a table become rows of terms.
    left_out, unlabelled : float
        Weight of the rows that are left out for missing cells, and for missing labels.
    cells : ClassGaussians, optional
        What to expect in missing cells.
    remarks : tuple of str
        What did not converge.
    """

    objective: Objective
    data: DataLoop
    centred: CentredDesign
    left_out: float
    unlabelled: float
    cells: ClassGaussians | None = None
    remarks: tuple[str, ...] = ()

    @property
    def spread(self) -> bool:
        """Whether rows with missing cells are replaced by complete ones."""
        return self.objective.centred.layout is not self.centred.layout

    def start(self, before: LogisticModel | None) -> NDArray[np.float64] | None:
        """The coefficients of an earlier model, if it is of the same columns and classes."""
        if before is None or before.centred.design != self.centred.design:
            return None
        same = before.classes == self.objective.seen.classes
        return before.about(self.centred) if same else None


@dataclass(frozen=True, eq=False)
class LossOptions:
    """The options that say what is minimised.

    Parameters
    ----------
    layout : Layout
        How a table is read.
    intercept : bool
        Whether b is estimated.
    missing : {"error", "drop", "gaussian"}
    class_weight : mapping of label to float, or "balanced", optional
    variance : float
        C of the prior; infinite without one.
    standardize : bool
        Whether the prior is of coefficients of standardised columns.
    firth : bool
        Whether the prior is that of Jeffreys.
    """

    layout: Layout
    intercept: bool
    missing: Missing
    class_weight: ClassWeight
    variance: float
    standardize: bool
    firth: bool

    def task(self, data: DataLoop, declared: Vocabulary) -> Problem:
        """What to minimise over rows whose columns are new; further labels may be declared.

        Raises
        ------
        DataError
            If cells are missing and must not be, there is only one class, or the values of a column
            differ by too little.
        ParameterError
            If the options do not suit the classes.
        SchemaError
            If the declared labels are of another type.
        """
        seen, left_out, unlabelled = self._seen(data)
        check_one_type(declared, seen.classes, "the labels in `classes`", "those of this table")
        seen = seen.over(seen.classes | declared)
        self._check_classes(seen)
        for block, place in zip(seen.blocks, self.layout.blocks, strict=True):
            if isinstance(block, Moments):
                require_spread(block.too_small, place.columns.__getitem__)
        design = self._design(seen)
        centred = CentredDesign.of(design, self.layout, seen, self.intercept, left_out > 0)
        if self.missing == "gaussian":
            return self._expecting(data, seen, centred)
        return Problem(self._objective(data, seen, centred), data, centred, left_out, unlabelled)

    def further(self, data: DataLoop, model: LogisticModel) -> Problem:
        """What to minimise over further rows of a model.

        Raises
        ------
        DataError
            If cells are missing and must not be, a label is new or of another type, or there is
            none.
        """
        seen, left_out, unlabelled = self._seen(data)
        check_one_type(model.classes, seen.classes, "the labels learnt", "those of this table")
        known = model.classes.values
        for label in seen.classes.values:
            if label not in known:
                raise DataError(
                    f"label {label!r} was never seen",
                    f"the classes are {', '.join(map(repr, known))}",
                    "list all labels in classes=... at the first partial_fit",
                )
        if not len(seen.classes):
            raise _no_label()
        centred = replace(model.centred, complete=left_out > 0)
        seen = seen.over(model.classes)
        return Problem(self._objective(data, seen, centred), data, centred, left_out, unlabelled)

    def _seen(self, data: DataLoop) -> tuple[ByClass, float, float]:
        """The first pass, and the weights of rows left out for missing cells, and labels."""
        engine = data.engine
        seen = engine.run(first_pass, (self.layout, False), data.splits)
        listed_missing, unlabelled = (
            missing_cells_message(seen, self.layout),
            float(seen.unlabelled.value),
        )
        if not listed_missing or self.missing == "gaussian":
            return seen, 0.0, unlabelled
        if self.missing == "error":
            raise incomplete(listed_missing)
        complete = engine.run(first_pass, (self.layout, True), data.splits)
        if not len(complete.classes):
            raise DataError(
                f"no labelled row is complete: values are missing, {listed_missing}",
                Phrase(Option.of("missing", "drop"), " learns from complete rows only"),
                Phrase("leave columns out, or use ", Option.of("missing", "gaussian")),
            )
        left_out = float(seen.weight.value.sum() - complete.weight.value.sum())
        return complete, left_out, unlabelled

    def _expecting(self, data: DataLoop, seen: ByClass, centred: CentredDesign) -> Problem:
        """What to minimise where missing cells are expected under Gaussians."""
        design, engine = centred.design, data.engine
        unlabelled = float(seen.unlabelled.value)
        weight = self._factors(seen) * seen.weight.value
        moments = engine.run(joint_moments, centred, data.splits)
        cells, remarks = ClassGaussians.of(moments, weight, design.terms)
        if not missing_cells_message(seen, self.layout):
            objective = self._objective(data, seen, centred)
            return Problem(objective, data, centred, 0.0, unlabelled, cells, remarks)
        spread = [SpreadSplit(s, centred, seen.classes, cells) for s in data.splits]
        plain = plain_layout(design)
        seen = engine.run(first_pass, (plain, False), spread)
        of_terms = CentredDesign.of(Design(design.terms, ()), plain, seen, self.intercept, False)
        data = DataLoop(engine, spread)
        centred = replace(of_terms, design=design, layout=self.layout)
        objective = self._objective(data, seen, of_terms)
        return Problem(objective, data, centred, 0.0, unlabelled, cells, remarks)

    def _objective(self, data: DataLoop, seen: ByClass, centred: CentredDesign) -> Objective:
        """The function to be minimised over rows that are all there."""
        penalty = np.zeros(centred.width)
        penalty[1:] = (centred.scale**2 if self.standardize else 1.0) / self.variance
        used = np.concatenate([[self.intercept], centred.scale > 0])
        factors = self._factors(seen)
        return Objective(data.run, centred, seen, factors, penalty, used, self.firth)

    def _check_classes(self, seen: ByClass) -> None:
        labels = seen.classes.values
        if not labels:
            raise _no_label()
        if len(labels) < 2:
            raise DataError(
                f"there is one class: every label is {labels[0]!r}",
                "a classifier needs two classes or more",
                "check the label column and the weights",
            )
        if self.firth and len(labels) > 2:
            raise ParameterError(
                Phrase(Option.of("penalty", "firth"), f" with {len(labels)} classes"),
                "it is there for two classes",
                Phrase("use ", Option("C", "1.0"), ", or compare the classes in pairs"),
            )

    def _design(self, seen: ByClass) -> Design:
        names = self.layout.names
        coded = [block for block in seen.blocks if isinstance(block, Counts)]
        if not coded:
            return Design(names, ())
        values = dict(zip(self.layout.blocks[-1].columns, coded[0].vocabularies, strict=True))
        for name in (name for name, vocabulary in values.items() if not len(vocabulary)):
            raise without_value(name)
        return Design(names, (), values)

    def _factors(self, seen: ByClass) -> NDArray[np.float64]:
        k, weight = len(seen.classes), seen.weight.value
        if self.class_weight is None:
            return np.ones(k)
        if isinstance(self.class_weight, str):
            return np.asarray(weight.sum() / (k * weight))
        labels = seen.classes.values
        strange = [label for label in self.class_weight if label not in labels]
        if strange and any(label not in self.class_weight for label in labels):
            raise ParameterError(
                f"class_weight has {', '.join(map(repr, strange))}",
                f"the classes are {', '.join(map(repr, labels))}",
            )
        return np.array([self.class_weight.get(label, 1.0) for label in labels], float)


def _no_label() -> DataError:
    return DataError(
        "there is no labelled row whose weight is not zero",
        "a classifier needs two classes or more",
        "check the label column and the weights",
    )
