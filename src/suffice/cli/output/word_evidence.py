"""What the words of a text add to an answer: each is asked of the model by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["word_evidence"]


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

    from suffice.data.text import split_words

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
