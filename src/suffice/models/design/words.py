"""Words of a text as columns of numbers: counted each, or hashed into a few places."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.rules import Within, rule
from suffice.sums.block import BadCell, SparseBlock
from suffice.sums.vocabulary import Vocabulary

LEAST_PLACES, MOST_WORDS = 2, 1_000
UNKNOWN = "a counted word must be one of those of the first fit"
HASH = "hash the words of texts with words=256, or fit the model to rows that show them all"


@dataclass(frozen=True)
class Words:
    """How often a text has each of its words: m columns.

    Words are lower-case and of two letters or more, as in naive Bayes. Counted, each known word is
    a column; hashed, the words share m places, and a place counts all words that fall there.

    Parameters
    ----------
    places : int
        m of hashed words; 0 where they are counted.
    known : Vocabulary
        The m words that are counted; none where they are hashed.

    Examples
    --------
    >>> Words(0, Vocabulary(("cat", "dog"))).terms("pets")
    ('pets[cat]', 'pets[dog]')
    >>> Words(2).terms("pets")
    ('pets[#0]', 'pets[#1]')
    """

    places: Annotated[int, Within(0, MOST_WORDS)] = 0
    known: Vocabulary = field(default_factory=lambda: Vocabulary(()))

    @rule("words are hashed into places, or counted")
    def _has_columns(self) -> bool:
        return not (self.places and len(self.known))

    def __len__(self) -> int:
        return self.places or len(self.known)

    def terms(self, name: str) -> tuple[str, ...]:
        """Names of the columns that a text becomes."""
        if self.places:
            return tuple(f"{name}[#{place}]" for place in range(self.places))
        return tuple(f"{name}[{word}]" for word in self.known.values)

    def counts(self, block: SparseBlock) -> NDArray[np.float64]:
        """Counts (n, m) of the words of texts; NaN where a text is missing."""
        found = self._counted(block).toarray()
        found[~block.present] = np.nan
        return np.asarray(found, np.float64)

    def sparse_counts(self, block: SparseBlock, start: int, width: int) -> Any:
        """Return a CSR array (n, width) with the counts from column ``start`` on.

        The first is NaN where a text is missing.
        """
        from scipy.sparse import csr_array

        found = self._counted(block)
        cells = found.data, found.indices + start, found.indptr
        rows = np.flatnonzero(~block.present)
        gaps = np.full(len(rows), np.nan), (rows, np.full(len(rows), start))
        shape = block.rows, width
        counts = csr_array(cells, shape=shape)
        return counts + csr_array(gaps, shape=shape) if len(rows) else counts

    def _counted(self, block: SparseBlock) -> Any:
        """Counts (n, m) as a CSR array."""
        from scipy.sparse import csr_array

        if not self.places:
            return block.counts(self.known)
        cells = block.data, self._places(block.vocabulary)[block.indices], block.indptr
        found = csr_array(cells, shape=(block.rows, self.places))
        found.sum_duplicates()
        return found

    def require_known(self, block: SparseBlock, rows: NDArray[np.bool_], name: str) -> None:
        """Refuse words that are not counted, in the given rows."""
        if self.places:
            return
        unknown = block.reindex(self.known) == len(self.known)
        row = np.repeat(np.arange(block.rows), np.diff(block.indptr))
        for q in np.flatnonzero(unknown & rows[row])[:1].tolist():
            raise BadCell(
                int(row[q]), name, block.vocabulary.values[block.indices[q]], UNKNOWN, HASH
            )

    def _places(self, vocabulary: Vocabulary) -> NDArray[np.intp]:
        """The place of every word."""
        values = vocabulary.values
        return np.fromiter((hashed(word) % self.places for word in values), np.intp, len(values))


@lru_cache(1 << 16)
def hashed(word: str) -> int:
    """The first 8 bytes of BLAKE2b of a word, lowest first: the same everywhere and for ever.

    Examples
    --------
    >>> hashed("word") % 256
    74
    """
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
