"""Values at prediction that no training row showed, where these are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.sums.block import BadCell, CodedBlock
from suffice.sums.vocabulary import Vocabulary

__all__ = ["UNSEEN_RULE", "refuse_unseen"]

UNSEEN_RULE = "the value was never seen in training"


def refuse_unseen(
    block: CodedBlock, codes: NDArray[Any], vocabularies: tuple[Vocabulary, ...]
) -> None:
    """Refuse a block whose ``codes`` into the vocabularies of the training rows lead beyond them.

    Raises
    ------
    BadCell
        Naming the first value that was never seen.
    """
    found = np.argwhere(codes == [len(v) for v in vocabularies])
    if len(found):
        row, column = map(int, found[0])
        value = block.vocabularies[column].values[block.codes[row, column]]
        raise BadCell(row, column, value, UNSEEN_RULE)
