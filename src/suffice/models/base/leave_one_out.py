"""Leave-one-out of a fitted model: what the models of all other rows say of every row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.models.base.judge import Judge
from suffice.sums.batch import Batch

__all__ = ["LeaveOneOut", "answers_left_out"]

Answers = NDArray[np.float64]


@dataclass(frozen=True)
class LeaveOneOut:
    """A model that answers every row without having learnt it, in closed form.

    Parameters
    ----------
    judge : Judge
        What an evaluation of the rows learnt needs.
    answer : callable
        What is said of a batch of these rows, (n, ...): NaN where there is no closed form.
    methods : mapping
        What `predict` and its like make of these answers, by name.
    """

    judge: Judge
    answer: Callable[[Batch], Answers]
    methods: Mapping[str, Callable[[Answers], NDArray[Any]]]


def answers_left_out(part: Part, params: tuple[Callable[[Batch], Answers], Any]) -> list[Answers]:
    """Kernel: the answers to a part, batch by batch."""
    answer, layout = params
    return list(each_batch(part, layout, answer))
