"""What to ask next: the information that a missing cell of a row is expected to give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import all_batches
from suffice.errors import DataError, ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.bayes_risk.possible_cells import possible_cells
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import exp, log, log_of
from suffice.numerics.in_print import Printed, Table
from suffice.statistics.batch import Batch

__all__ = ["NextQuestions", "next_question"]

LOG_2 = log_of(2.0)
SHOWN = 20  # columns in print


@dataclass(frozen=True, eq=False, repr=False)
class NextQuestions(Printed):
    """Missing cells of a row, the most informative first.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    bits : ndarray (g,)
        Information that each is expected to give, in bits; NaN where it is not known.
    entropy : float
        How uncertain the class is now, in bits.
    """

    columns: tuple[str, ...]
    bits: NDArray[np.float64]
    entropy: float

    def table(self) -> Table:
        """Return the first columns and their bits as a table."""
        bits = self.bits[:SHOWN].tolist()
        rows = [
            [name, "-" if np.isnan(one) else f"{one:.4f}"]
            for name, one in zip(self.columns, bits, strict=False)
        ]
        left = len(self.columns) - len(rows)
        more = [f"and {left} more"] if left else []
        title = f"{self.entropy:.4f} bits are open."
        return Table(title, ["column", "bits"], rows, more, bars=bits)


def next_question(model: GenerativeClassifier, row: Any) -> NextQuestions:
    """Return how much each missing cell of a row is expected to tell of its class.

    ::

        H(C | x) − Σ_v P(v | x) H(C | x, v),    P(v | x) = Σ_c P(c | x) P(v | c)

    over the values v of a missing cell, given the cells x that are known; H is the entropy in bits.
    It is the mutual information I(C; X_j | x) of the cell and the class, where columns are
    independent given the class. `suffice.models.bayes_risk.possible_cells` says what the values of
    numbers are: the bins of a histogram, or of quantiles of a density. With weights of columns
    P(c | x, v) ∝ P(c | x) P(v | c)^w, and the difference may be below 0, as what is counted is not
    what is expected to be seen: it is then given as 0.

    Parameters
    ----------
    model : generative classifier
        Naive Bayes, fitted.
    row : table of one row
        Such as a dictionary: columns that it does not name are missing.

    Returns
    -------
    NextQuestions

    Raises
    ------
    ParameterError
        If the model does not say how single columns look in a class.
    DataError
        If there is not one row.

    Source: T. M. Cover and J. A. Thomas, Elements of Information Theory, 2nd ed. (2006), eq.
    2.43; D. V. Lindley, On a measure of the information provided by an experiment (1956).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import NaiveBayes
    >>> table = pa.table({
    ...     "cough": ["yes", "yes", "no", "no"] * 5,
    ...     "shoe": ["left", "right"] * 10,
    ...     "ill": ["yes", "yes", "no", "no"] * 5,
    ... })
    >>> next_question(NaiveBayes.textbook().fit(table, "ill"), {})
    1.0000 bits are open.
    column    bits
    cough   0.5862
    shoe    0.0000
    """
    check_is_fitted(model)
    fitted = model.model_ if isinstance(model, GenerativeClassifier) else None
    if fitted is None or all(part.family.joint for part in fitted.parts):
        raise ParameterError(
            f"{type(model).__name__} does not say how a column alone looks in a class",
            "naive Bayes does",
            "fit NaiveBayes to be told what to ask",
        )
    fitted.refuse_pairs("next_question")
    batch = _only_row(model, row)
    answer = exp(fitted.partial_log_posterior(batch)[0])
    entropy = float(_entropy(answer))
    bits: dict[str, float] = {}
    for part, parameters, block, weights in zip(
        fitted.parts, fitted.parameters, batch.blocks, fitted.part_weights, strict=True
    ):
        names, missing = part.layout.columns, block.missing[0]
        is_text = len(missing) != len(names)
        if is_text and not missing.all():
            continue
        each, alone = np.broadcast_to(weights, len(names)), not (is_text or part.family.joint)
        for j in range(len(names)) if is_text else np.flatnonzero(missing).tolist():
            cells = possible_cells(parameters, j, len(answer)) if alone else None
            bits[names[j]] = np.nan
            if cells is not None:
                joint = answer[:, None] * cells ** each[j]
                total = joint.sum(axis=0)
                after = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
                shown = answer @ (cells / cells.sum(axis=1, keepdims=True))
                expected = float((shown * _entropy(after.T)).sum())
                bits[names[j]] = max(entropy - expected, 0.0)
    found = np.array(list(bits.values()), np.float64)
    order = np.argsort(-np.where(np.isnan(found), -1.0, found), kind="stable")
    columns = tuple(bits)
    return NextQuestions(tuple(columns[j] for j in order.tolist()), found[order], entropy)


def _only_row(model: GenerativeClassifier, row: Any) -> Batch:
    if isinstance(row, Mapping) and not row:
        names = model.layout_.names
        row = {str(names[0]): None} if model._is_named() else np.full((1, len(names)), np.nan)
    known = model._row(row)
    if known is not None:
        return known
    layout = model._layout_to_answer()
    batches = [batch for batch in model._batches(row, all_batches, layout) if batch.rows]
    if len(batches) != 1 or batches[0].rows != 1:
        rows = sum(batch.rows for batch in batches)
        raise DataError(f"there are {rows} rows", "one row is asked about", "give one of them")
    return batches[0]


def _entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """−Σ p log₂ p over the last axis."""
    return np.asarray(-(p * log(np.where(p > 0, p, 1.0))).sum(axis=-1) / LOG_2)
