"""A model without what its file would tell about fewer than m rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from suffice.errors import DataError, ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.exact import DoubleDouble
from suffice.privacy.audit import check_min_count
from suffice.privacy.doubts import rounded_doubts
from suffice.privacy.suppression import suppressed
from suffice.statistics.by_class import ByClass

__all__ = ["reduced"]

M = TypeVar("M", bound=GenerativeClassifier)


def reduced(model: M, min_count: float = 10) -> M:
    """Return a model without what its file would tell about fewer than m rows.

    Classes, categories, words and combinations of fewer than m rows of a class are left out, as if
    these cells had been missing. Of numbers, mean and spread of at least m rows of a class stay,
    and neighbouring cells of the grid are put together until each holds m rows. Where fewer than m
    rows of a class have no value, the gap is closed in proportion. Groups of fewer than m rows that
    miss the same cells are left out. Weights of columns stay. The doubts that sets of classes rest
    on are kept at levels m rows apart, and rounded. Columns far from 0, whose shape is known from a
    sample of rows only, become Gaussian. Rows that were kept (``keep_sample``) go.

    Three things stay, and `audit` shows them: that all rows of a class have one number, a sum that
    few rows carry, and of discriminant models numbers that are 0 or 1 and one of both in few rows.
    A reduced model answers nearly as before. It cannot forget rows, as what
    was left out cannot be taken away again, and a model merged with it is not that of all rows.

    Parameters
    ----------
    model : estimator
        A fitted naive Bayes, or discriminant model of numbers, without a window.
    min_count : float, default 10
        m, above 0; weights count as rows.

    Returns
    -------
    estimator
        A new model; ``model`` stays as it is. ``reader_.min_count`` is m.

    Raises
    ------
    ParameterError
        If ``min_count`` is no number above 0, or the model is of another kind.
    DataError
        If fewer than two classes have m rows.

    Source: A. Hundepool et al., Statistical Disclosure Control (2012), chapter 4.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.privacy import audit
    >>> rows = {"town": ["Ulm"] * 3 + ["Bonn"] * 3 + ["Kiel"]}
    >>> model = NaiveBayes.textbook().fit(rows, ["well"] * 3 + ["ill"] * 4)
    >>> print(audit(reduced(model, 2), 2))
                     column  facts  rows   for example
    listed values  (labels)      1     -  2: ill, well
    listed values      town      1     -  2: Bonn, Ulm
    """
    check_min_count(min_count)
    if not isinstance(model, GenerativeClassifier):
        raise ParameterError(
            f"{model!r} is no naive Bayes or discriminant model",
            "others keep no sums by class that can be reduced",
        )
    check_is_fitted(model)
    if len(model.batches_) > 1:
        raise ParameterError(
            f"the model keeps {len(model.batches_)} batches, which it sees through a window",
            "a batch of few rows would be left out whole",
            "fit all rows without window",
        )
    m, declared = float(min_count), model.reader_.declared
    batch = _of_many_rows(model.batches_[0], m)
    known = batch.classes.index(declared.values, -1)
    entries = model._entries() | {
        "batches": (batch,),
        "declared": declared.take(np.flatnonzero(known >= 0)),
        "min_count": max(m, model.reader_.min_count),
    }
    if entries.get("sampled") is not None:
        entries["sampled"] = None  # counts of rows of a sample
    calibration = entries.get("calibration")
    if calibration is not None:
        doubts = rounded_doubts(calibration.label_doubts, m)
        entries["calibration"] = replace(calibration, doubts=doubts.quantiles)
    if entries.pop("samples", ()):
        entries["params"] = {**entries["params"], "keep_sample": False}
    return type(model).restored(entries)


def _of_many_rows(batch: ByClass, m: float) -> ByClass:
    """The same sums without what they tell about fewer than m rows."""
    large = np.flatnonzero(batch.weight.value >= m)
    if len(large) < 2:
        raise DataError(
            f"{len(large) or 'no'} class of {len(batch.classes)} has {m:g} rows",
            "a classifier needs two classes or more",
            "give a smaller number",
        )
    weight = batch.weight[large]
    unlabelled = batch.unlabelled.value
    return ByClass(
        batch.classes.take(large),
        weight,
        DoubleDouble.of(np.where(unlabelled >= m, unlabelled, 0.0)),
        tuple(suppressed(block.take(large), weight.value, m) for block in batch.blocks),
    )
