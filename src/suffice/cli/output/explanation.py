"""One prediction taken apart: what every column says for the answer, in decibans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from suffice.cli import documents
    from suffice.models.base.evidence import Evidence

__all__ = ["Contribution", "Explanation", "explanation_facts", "explanations", "word_evidence"]


@dataclass(frozen=True)
class Contribution:
    """What one cell says, in decibans."""

    column: str
    value: Any
    decibans: float
    counted: float = 1.0  # how often, as other columns may say the same
    words: tuple[tuple[str, float], ...] = ()  # of a text, with their decibans, the largest first


@dataclass(frozen=True)
class Explanation:
    """Why one row was answered as it was.

    Parameters
    ----------
    prediction, against : object
        The most probable label, and the next.
    probability : float
        P(prediction | row).
    start : str
        What there is before any column is looked at: the class prior, or the average row.
    prior : float
        Evidence of that for the first against the second, in decibans: ten of them are odds of 10
        to 1, twenty of 100 to 1.
    contributions : tuple of Contribution
        What every column adds, the largest first.
    interval : pair of float, optional
        95 % interval of the probability, as the parameters were learnt from so many rows.
    """

    prediction: Any
    against: Any
    probability: float
    start: str
    prior: float
    contributions: tuple[Contribution, ...]
    interval: tuple[float, float] | None = None

    @property
    def total(self) -> float:
        """Prior and contributions, added up."""
        return self.prior + sum(part.decibans for part in self.contributions)


def explanations(
    evidence: Evidence,
    rows: Sequence[Mapping[str, Any]],
    ends: NDArray[np.float64] | None = None,
    counted: Mapping[str, float] | None = None,
    words: Sequence[Mapping[str, Mapping[str, NDArray[np.float64]]]] | None = None,
) -> list[Explanation]:
    """Take the answers apart.

    Parameters
    ----------
    evidence : Evidence
        Of n rows.
    rows : sequence of n mappings
        Their cells, by column.
    ends : ndarray (n, k, 2), optional
        Of the intervals of the probabilities.
    counted : mapping, optional
        How often each column is counted, where that is not once.
    words : sequence of n mappings, optional
        What the words of texts add to the classes, by column and word.

    Raises
    ------
    DataError
        If the model knows one class only.
    """
    if len(evidence.classes) < 2:
        raise DataError(
            f"the model knows one class, {evidence.classes[0]!r}",
            "an explanation compares two",
            "let it learn rows of another class",
        )
    return [
        _explanation(evidence, i, cells, ends, counted or {}, words[i] if words else {})
        for i, cells in enumerate(rows)
    ]


def _explanation(
    evidence: Evidence,
    i: int,
    cells: Mapping[str, Any],
    ends: NDArray[np.float64] | None,
    counted: Mapping[str, float],
    words: Mapping[str, Mapping[str, NDArray[np.float64]]],
) -> Explanation:
    from suffice.models.base.evidence import DECIBAN

    probability = evidence.probabilities[i]
    second, first = probability.argsort(kind="stable")[-2:]
    prior, columns = evidence.log_odds(first, second)

    def of_words(column: str) -> tuple[tuple[str, float], ...]:
        said = words.get(column, {})
        told = [(word, float((k[first] - k[second]) * DECIBAN)) for word, k in said.items()]
        return tuple(sorted(told, key=lambda one: -abs(one[1])))

    parts = [
        Contribution(
            name,
            cells.get(name, ""),
            float(nats * DECIBAN),
            counted.get(name, 1.0),
            of_words(name),
        )
        for name, nats in zip(evidence.columns, columns[i], strict=True)
    ]
    parts.sort(key=lambda part: -abs(part.decibans))
    return Explanation(
        evidence.classes[first],
        evidence.classes[second],
        float(probability[first]),
        evidence.start,
        float(prior * DECIBAN),
        tuple(parts),
        None if ends is None else (float(ends[i, first, 0]), float(ends[i, first, 1])),
    )


def explanation_facts(why: Explanation) -> documents.Explanation:
    """The same for ``--json``."""
    facts: documents.Explanation = {
        "prediction": why.prediction,
        "probability": why.probability,
        "against": why.against,
        "columns": [_column(part) for part in why.contributions],
        "sum": why.total,
    }
    facts["prior" if why.start == "prior" else "average_row"] = why.prior
    if why.interval is not None:
        facts["interval"] = list(why.interval)
    return facts


def _column(part: Contribution) -> documents.ColumnEvidence:
    facts: documents.ColumnEvidence = {
        "column": part.column,
        "value": part.value,
        "counted": part.counted,
        "decibans": part.decibans,
    }
    if part.words:
        facts["words"] = dict(part.words)
    return facts


def word_evidence(
    model: Any, head: pa.RecordBatch, row: int
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """What every word of a row adds to the scores of the classes, or to the predicted numbers.

    Counts of words enter these scores one by one, so the words of a text add up to what the text
    adds, but for what a text without words does.

    Parameters
    ----------
    model : estimator
        With `explain`.
    head : pyarrow.RecordBatch
        First rows of a table.
    row : int
        Which of them.

    Returns
    -------
    dict
        For every column of texts, by word: (k,) or (t,).
    """
    import numpy as np
    import pyarrow as pa

    from suffice.data.words import split_words

    found: dict[str, dict[str, NDArray[np.float64]]] = {}
    blocks = [block for block in model.layout_.blocks if block.encoding == "events"]
    for name in (name for block in blocks for name in block.columns):
        text = head.column(name)[row].as_py() if name in head.schema.names else None
        if not isinstance(text, str):
            continue
        counted = split_words([text])
        words = counted.vocabulary.values
        alone = [" ".join([word] * int(n)) for word, n in zip(words, counted.data, strict=True)]
        rows = pa.Table.from_batches([head.take(pa.array([row] * (1 + len(words))))])
        asked = rows.set_column(rows.column_names.index(name), name, pa.array(["", *alone]))
        explained = model.explain(asked)
        if not words or name not in explained.columns:
            continue
        added = explained.contributions[:, explained.columns.index(name)]
        with np.errstate(invalid="ignore"):
            found[name] = dict(zip(words, added[1:] - added[0], strict=True))
    return found
