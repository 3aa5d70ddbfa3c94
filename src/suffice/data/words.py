"""Texts into word counts, by the rules of scikit-learn's vectoriser, with a growing vocabulary."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from suffice.sums.block import SparseBlock
from suffice.sums.vocabulary import Vocabulary

WORD = re.compile(r"(?u)\b\w\w+\b")  # the default token pattern of CountVectorizer


def split_words(texts: Sequence[str | None], ngrams: int = 1) -> SparseBlock:
    """Lower-case texts, None = missing, and count their words of two letters or more.

    Up to ``ngrams`` neighbouring words are counted together too. Words have codes in the order of
    their first appearance.
    """
    codes: dict[str, int] = {}
    indices: list[int] = []
    counts: list[int] = []
    ends = [0]
    for text in texts:
        row: dict[int, int] = {}
        words = WORD.findall(text.lower()) if text is not None else []
        single = len(words)
        for size in range(2, ngrams + 1):
            words += (" ".join(words[i : i + size]) for i in range(single - size + 1))
        for word in words:
            code = codes.setdefault(word, len(codes))
            row[code] = row.get(code, 0) + 1
        indices += row
        counts += row.values()
        ends.append(len(indices))
    return SparseBlock(
        np.array(counts, np.float64),
        np.array(indices, np.int64),
        np.array(ends, np.int64),
        Vocabulary(tuple(codes)),
        np.array([text is not None for text in texts], np.bool_),
    )
