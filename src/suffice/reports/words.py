"""Words of a text column, as the page holds them: the most telling ones, where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.export.json import finite
from suffice.families.complement import ComplementParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.numerics.elementary import exp, log

TYPICAL, MOST_CLASSES = 12, 8  # words of each class that are shown, and classes
MOST_WORDS = 20_000  # of a page: 0.2 MB
MOST_NUMBERS = 10_000  # that these words add, of words that differ in them: 0.2 MB


def is_text(parameters: Any) -> bool:
    events = MultinomialParameters | ComplementParameters
    return isinstance(parameters, events) and not parameters.events.closed


def text_term(parameters: Any, prior: NDArray[np.float64]) -> dict[str, Any]:
    """The term of a text: what one word of it adds in every class.

    Words that add the same are written as one string, with line feeds between them. Of more words
    than a page holds, those are kept that tell the most of the class,
    Σ_c P(c) θ_cw |log θ_cw / Σ_b P(b) θ_bw|; ``left_out`` is the number of the others, which add
    nothing in the page.
    """
    said = parameters.form().linear  # (k, M)
    events = parameters.events.values
    share = parameters.theta
    whole = prior @ share
    ratio = np.divide(share, whole, out=np.ones_like(share), where=(share > 0) & (whole > 0))
    telling = prior @ (share * np.abs(log(ratio)))
    order = np.argsort(-telling, kind="stable")
    _, first, which = np.unique(said[:, order].T, axis=0, return_index=True, return_inverse=True)
    different = np.bincount(first, minlength=len(order)).cumsum()  # among the words so far
    kept = min(int((different <= MOST_NUMBERS // len(said)).sum()), MOST_WORDS)
    alike: dict[int, list[str]] = {}
    for i, one in zip(order[:kept].tolist(), which.ravel()[:kept].tolist(), strict=True):
        alike.setdefault(one, []).append(events[i])
    return {
        "missing": "nothing",
        "words": ["\n".join(words) for words in alike.values()],
        "table": [[finite(v) for v in said[:, order[first[one]]].tolist()] for one in alike],
        "others": [0.0] * len(said),
        "left_out": len(events) - kept,
    }


def typical_words(parameters: Any, labels: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The words with the largest θ_cw log(k θ_cw / Σ_b θ_bw) of the first of k classes."""
    share = exp(parameters.form().linear)
    mean = share.mean(axis=0)
    found = []
    for label, own in zip(labels[:MOST_CLASSES], share, strict=False):
        says = own * log(np.where(own > 0, own / np.where(mean > 0, mean, 1.0), 1.0))
        most = np.argsort(-says, kind="stable")[:TYPICAL].tolist()
        found.append((label, [str(parameters.events.values[i]) for i in most if says[i] > 0]))
    return found
