"""What a logistic regression minimises: the options of an estimator, applied to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.errors import DataError, ParameterError
from suffice.models.alike import check_one_type
from suffice.models.centring import Centring, overview
from suffice.models.class_cells import ClassCells, SpreadSplit, joint_moments, plain_layout
from suffice.models.design import Design
from suffice.models.gaps import incomplete
from suffice.models.logistic_fit import Passes
from suffice.models.logistic_model import LogisticModel
from suffice.models.logistic_words import gaps
from suffice.models.objective import Objective
from suffice.models.options import Missing
from suffice.statistics.by_class import ByClass
from suffice.statistics.counts import Counts
from suffice.statistics.moments import Moments, require_spread
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ClassWeight", "Setting", "Task"]

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


@dataclass(frozen=True, eq=False)
class Task:
    """What a fit minimises, and what it leaves to the model.

    Parameters
    ----------
    objective : Objective
    passes : Passes
        Over the rows; those with gaps are spread over complete ones if they are modelled.
    centring : Centring
        How the rows of a table become rows of terms.
    left_out, unlabelled : float
        Weight of the rows that are left out for missing cells, and for missing labels.
    cells : ClassCells, optional
        What to expect in missing cells.
    remarks : tuple of str
        What did not converge.
    """

    objective: Objective
    passes: Passes
    centring: Centring
    left_out: float
    unlabelled: float
    cells: ClassCells | None = None
    remarks: tuple[str, ...] = ()

    @property
    def spread(self) -> bool:
        """Whether rows with gaps are spread over complete ones."""
        return self.objective.centring.layout is not self.centring.layout

    def start(self, before: LogisticModel | None) -> NDArray[np.float64] | None:
        """The coefficients of an earlier model, if it is of the same columns and classes."""
        if before is None or before.centring.design != self.centring.design:
            return None
        same = before.classes == self.objective.seen.classes
        return before.about(self.centring) if same else None


@dataclass(frozen=True, eq=False)
class Setting:
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

    def task(self, passes: Passes, declared: Vocabulary) -> Task:
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
        seen, left_out, unlabelled = self._seen(passes)
        check_one_type(declared, seen.classes, "the labels in `classes`", "those of this table")
        seen = seen.over(seen.classes | declared)
        self._check_classes(seen)
        for block, place in zip(seen.blocks, self.layout.blocks, strict=True):
            if isinstance(block, Moments):
                require_spread(block.too_small, place.columns.__getitem__)
        design = self._design(seen)
        centring = Centring.of(design, self.layout, seen, self.intercept, left_out > 0)
        if self.missing == "gaussian":
            return self._expecting(passes, seen, centring)
        return Task(self._objective(passes, seen, centring), passes, centring, left_out, unlabelled)

    def further(self, passes: Passes, model: LogisticModel) -> Task:
        """What to minimise over further rows of a model.

        Raises
        ------
        DataError
            If cells are missing and must not be, a label is new, or there is none.
        """
        seen, left_out, unlabelled = self._seen(passes)
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
        centring = replace(model.centring, complete=left_out > 0)
        seen = seen.over(model.classes)
        return Task(self._objective(passes, seen, centring), passes, centring, left_out, unlabelled)

    def _seen(self, passes: Passes) -> tuple[ByClass, float, float]:
        """The first pass, and the weights of rows left out for missing cells, and labels."""
        engine = passes.engine
        seen = engine.run(overview, (self.layout, False), passes.splits)
        lacking, unlabelled = gaps(seen, self.layout), float(seen.unlabelled.value)
        if not lacking or self.missing == "gaussian":
            return seen, 0.0, unlabelled
        if self.missing == "error":
            raise incomplete(lacking)
        complete = engine.run(overview, (self.layout, True), passes.splits)
        if not len(complete.classes):
            raise DataError(
                f"no labelled row is complete: values are missing, {lacking}",
                "missing='drop' learns from complete rows only",
                "leave columns out, or use missing='gaussian'",
            )
        left_out = float(seen.weight.value.sum() - complete.weight.value.sum())
        return complete, left_out, unlabelled

    def _expecting(self, passes: Passes, seen: ByClass, centring: Centring) -> Task:
        """What to minimise where missing cells are expected under Gaussians."""
        design, engine = centring.design, passes.engine
        unlabelled = float(seen.unlabelled.value)
        weight = self._factors(seen) * seen.weight.value
        moments = engine.run(joint_moments, centring, passes.splits)
        cells, remarks = ClassCells.of(moments, weight, design.terms)
        if not gaps(seen, self.layout):
            objective = self._objective(passes, seen, centring)
            return Task(objective, passes, centring, 0.0, unlabelled, cells, remarks)
        spread = [SpreadSplit(s, centring, seen.classes, cells) for s in passes.splits]
        plain = plain_layout(design)
        seen = engine.run(overview, (plain, False), spread)
        of_terms = Centring.of(Design(design.terms, ()), plain, seen, self.intercept, False)
        passes = Passes(engine, spread)
        centring = replace(of_terms, design=design, layout=self.layout)
        objective = self._objective(passes, seen, of_terms)
        return Task(objective, passes, centring, 0.0, unlabelled, cells, remarks)

    def _objective(self, passes: Passes, seen: ByClass, centring: Centring) -> Objective:
        """The function to be minimised over rows that are all there."""
        penalty = np.zeros(centring.width)
        penalty[1:] = (centring.scale**2 if self.standardize else 1.0) / self.variance
        used = np.concatenate([[self.intercept], centring.scale > 0])
        factors = self._factors(seen)
        return Objective(passes.run, centring, seen, factors, penalty, used, self.firth)

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
                f"penalty='firth' with {len(labels)} classes",
                "it is there for two classes",
                "use C=1.0, or compare the classes in pairs",
            )

    def _design(self, seen: ByClass) -> Design:
        names = self.layout.names
        coded = [block for block in seen.blocks if isinstance(block, Counts)]
        if not coded:
            return Design(names, ())
        values = dict(zip(self.layout.blocks[-1].columns, coded[0].vocabularies, strict=True))
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
