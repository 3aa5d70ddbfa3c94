"""Words of a text as columns of numbers: counted each, or hashed into places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from numbers import Integral
from typing import Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError, SchemaError
from suffice.numerics.elementary import log
from suffice.rules import POSITIVE, Within, check_options, rule
from suffice.sums.block import BadCell, SparseBlock
from suffice.sums.vocabulary import Vocabulary

LEAST_PLACES, MOST_PLACES = 2, 2**20
LONGEST = 5  # words that are counted together
UNKNOWN = "a counted word must be one of those of the first fit"
HASH = "hash the words of texts with words=256, or fit the model to rows that show them all"
SHAPE = "words={'ngrams': 2, 'weights': 'tf-idf', 'min_count': 2}"

Ways = int | Literal["counted", "tf-idf"] | Mapping[str, Any]
"""Into how many places the words of a text are hashed, or how each is counted."""


@dataclass(frozen=True)
class Counting:
    """Options of counting words."""

    # how many neighbouring words are counted together, at most
    ngrams: Literal[1, 2, 3, 4, 5] = 1
    weights: Literal["counts", "tf-idf"] = "counts"
    min_count: Annotated[float, POSITIVE] = 1.0  # weight of the rows that have to show a word


def counting(words: Ways) -> Counting | None:
    """Return how words are counted; None where they are hashed.

    Raises
    ------
    ParameterError
        If they are neither counted nor hashed into places.

    Examples
    --------
    >>> counting("tf-idf")
    Counting(ngrams=2, weights='tf-idf', min_count=1.0)
    >>> counting({"min_count": 3})
    Counting(ngrams=1, weights='counts', min_count=3)
    """
    known = {"counted": Counting(), "tf-idf": Counting(2, "tf-idf")}
    if isinstance(words, str) and words in known:
        return known[words]
    if isinstance(words, Mapping):
        try:
            found = Counting(**words)
            check_options(found)
        except (TypeError, ParameterError) as error:
            rule = error.rule if isinstance(error, ParameterError) else "it has other keys"
            raise ParameterError(f"words={words!r}", rule, SHAPE) from None
        return found
    whole = isinstance(words, Integral) and not isinstance(words, bool)
    if whole and LEAST_PLACES <= int(cast(int, words)) <= MOST_PLACES:
        return None
    raise ParameterError(
        f"words={words!r}",
        "it is 'counted', 'tf-idf', or a whole number of places from "
        f"{LEAST_PLACES} to {MOST_PLACES:,}",
        f"or write {SHAPE}",
    )


@dataclass(frozen=True)
class Words:
    """Counts of words of a text: m columns.

    Words are lower-case and of two letters or more, as in naive Bayes. Counted, each known word is
    a column; hashed, the words share m places, and a place counts all words that fall there.
    With tf-idf weights, a count is multiplied by log((1 + n)/(1 + n_w)) + 1, with n_w of the n rows
    of the first fit that show the word, and the row of a text has length 1.

    Source: G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval (1988);
    smoothed as in scikit-learn's ``TfidfVectorizer``.

    Examples
    --------
    >>> Words(0, Vocabulary(("cat", "dog"))).terms("pets")
    ('pets[cat]', 'pets[dog]')
    >>> Words(2).terms("pets")
    ('pets[#0]', 'pets[#1]')
    """

    places: Annotated[int, Within(0, MOST_PLACES)] = 0  # m of hashed words; 0 if counted
    known: Vocabulary = field(default_factory=lambda: Vocabulary(()))
    ngrams: Annotated[int, Within(1, LONGEST)] = 1  # neighbours that are counted together
    idf: tuple[float, ...] = ()  # the m factors of tf-idf weights; none of counts
    complete: bool = True  # whether a fit refuses words that are not known

    @rule("words are hashed into places, or counted")
    def _has_columns(self) -> bool:
        return not (self.places and len(self.known))

    @rule("every counted word has a factor, or none has")
    def _has_factors(self) -> bool:
        positive = all(np.isfinite(factor) and factor > 0 for factor in self.idf)
        return positive and len(self.idf) in (0, len(self.known))

    @classmethod
    def of(cls, how: Counting, shown: Vocabulary, rows: NDArray[np.float64], n: float) -> Words:
        """Return the words that rows of a weight (m,) show, of n in all."""
        kept = np.flatnonzero(rows >= how.min_count)
        factors = log((1.0 + n) / (1.0 + rows[kept])) + 1.0
        idf = tuple(np.asarray(factors).tolist()) if how.weights == "tf-idf" else ()
        return cls(0, shown.take(kept), int(how.ngrams), idf, how == Counting())

    def __len__(self) -> int:
        return self.places or len(self.known)

    @property
    def is_open(self) -> bool:
        """Return whether words of more rows can be counted too."""
        return self.complete and not (self.places or self.idf)

    def terms(self, name: str) -> tuple[str, ...]:
        """Names of the columns that a text becomes."""
        if self.places:
            return tuple(f"{name}[#{place}]" for place in range(self.places))
        return tuple(f"{name}[{word}]" for word in self.known.values)

    def narrowed(self, known: Vocabulary) -> Words:
        """Fewer of the words that are counted."""
        kept = self.known.index(known.values, -1).tolist()
        idf = tuple(self.idf[code] for code in kept) if self.idf else ()
        return Words(0, known, self.ngrams, idf, self.complete)

    def joined(self, other: Words, name: str) -> Words:
        """Return the words that either counts."""
        if self == other:
            return self
        if not self.is_open or replace(self, known=other.known) != other:
            raise SchemaError(
                f"the words of {name!r} are weighted by the rows of each model, or some left out",
                "only counts of all words add up",
                "fit one model to the rows of both, or both with words=256",
            )
        return replace(self, known=self.known | other.known)

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
        """Counts, or their weights, (n, m) as a CSR array."""
        from scipy.sparse import csr_array

        if self.places:
            cells = block.data, self._places(block.vocabulary)[block.indices], block.indptr
            found = csr_array(cells, shape=(block.rows, self.places))
            found.sum_duplicates()
            return found
        found = csr_array(block.counts(self.known))
        if self.idf:
            found.data = found.data * self._factors[found.indices]
            length = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)))
            found.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(found.indptr))
        return found

    @cached_property
    def _factors(self) -> NDArray[np.float64]:
        return np.array(self.idf)

    def require_known(self, block: SparseBlock, rows: NDArray[np.bool_], name: str) -> None:
        """Refuse words that are not counted, in the given rows."""
        if self.places or not self.complete:
            return
        unknown = block.reindex(self.known) == len(self.known)
        row = np.repeat(np.arange(block.rows), np.diff(block.indptr))
        for q in np.flatnonzero(unknown & rows[row])[:1].tolist():
            raise BadCell(
                int(row[q]), name, block.vocabulary.values[block.indices[q]], UNKNOWN, HASH
            )

    def _places(self, vocabulary: Vocabulary) -> NDArray[np.intp]:
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
