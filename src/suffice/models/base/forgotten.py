"""Sets of rows that were forgotten: keyed digests, by which a set that comes again is known.

::

    T(rows) = Σ_i w_i a_i, Σ_i w_i a_i²  mod 2⁶⁴, with a = mixed(h(row)): 128 bits
    digest  = BLAKE2b(T, key)

h is that of `suffice.sums.row_sample`: of cells as the model reads them, and of the label. So
the order of the rows, and how a table is stored, make no difference, and a row of weight 2 is the
row twice. T is in no file; the key is a random one, made where a model first forgets.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, Self, TypeVar

import numpy as np

from suffice.data.encode import stored_cells
from suffice.data.source import Part, PartThrough
from suffice.engines.engine import EngineView
from suffice.errors import ForgetError
from suffice.sums.base import Statistic
from suffice.sums.batch import Batch
from suffice.sums.block import Block, RealBlock
from suffice.sums.row_sample import Hashes, batch_hashes, mixed

Forgotten = tuple[bytes, ...]
"""The sets that a model remembers, the latest last: of each its key and its digest."""

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")

MOST = 1_000  # sets that are remembered
KEY, ENTRY = 16, 32  # bytes of a key, and of a key with a digest
ARE_DIGESTS = f"of a forgotten set there are {ENTRY} bytes, and of {MOST:,} sets at most"
ROWS = 8_192  # hashed at a time: they stay in cache


# -- what is remembered


def refuse_again(known: Forgotten, total: int) -> None:
    """Refuse a set of rows that is remembered."""
    if not _entries(known, total).isdisjoint(known):
        raise ForgetError(
            "the model has forgotten these rows before",
            "forgotten again, they would take others of the same kind with them",
            "leave it at that; if the rows were learnt twice, or again, use again=True",
        )


def remembered(known: Forgotten, total: int) -> Forgotten:
    """Remember one more set; of no row, there is nothing to remember.

    Examples
    --------
    >>> one = remembered((), 5)
    >>> len(one), remembered(one, 5) == one, len(remembered(one, 6)), remembered((), 0)
    (1, True, 2, ())
    """
    if not total:
        return known
    key = known[-1][:KEY] if known else secrets.token_bytes(KEY)
    return (*without(known, total), _entry(key, total))[-MOST:]


def without(known: Forgotten, total: int) -> Forgotten:
    """Remove a set whose rows were added again."""
    gone = _entries(known, total)
    return tuple(entry for entry in known if entry not in gone)


def joined(mine: Forgotten, theirs: Forgotten) -> Forgotten:
    """The sets that either of two models remembers."""
    return tuple(dict.fromkeys((*theirs, *mine)))[-MOST:]


def _entries(known: Forgotten, total: int) -> set[bytes]:
    """The entries of a set under every key; merged models have several."""
    return {_entry(key, total) for key in {entry[:KEY] for entry in known}}


def _entry(key: bytes, total: int) -> bytes:
    content = total.to_bytes(16, "little")
    return key + blake2b(content, key=key, digest_size=ENTRY - KEY).digest()


def are_digests(known: Forgotten) -> bool:
    """Check that entries have the length of a key and a digest, and are not too many."""
    return len(known) <= MOST and all(len(entry) == ENTRY for entry in known)


# -- digests of rows, in the pass that sums them


@dataclass(frozen=True)
class DigestingEngine(EngineView):
    """An engine that finds the sum T of the rows of its first pass of sums."""

    found: list[int]  # holds T after that pass

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        if self.found:
            return self.engine.run(kernel, params, parts)
        both: _Digested[S] = self.engine.run(_digested, (kernel, params), parts)
        self.found.append(int.from_bytes(both.lanes.astype("<u8").tobytes(), "little"))
        return both.statistic


@dataclass(frozen=True)
class _Digested(Generic[S]):
    """A statistic, and T of its rows in two halves."""

    statistic: S
    lanes: Hashes

    def __add__(self, other: Self) -> Self:
        return type(self)(self.statistic + other.statistic, self.lanes + other.lanes)


def _digested(part: Any, task: tuple[Callable[[Any, P], S], P]) -> _Digested[S]:
    """Kernel: what another kernel makes of a part, and T of its rows."""
    kernel, params = task
    lanes = np.zeros(2, np.uint64)

    def digested(batch: Batch) -> Batch:
        for piece in batch.pieces(ROWS):
            lanes[:] += _lanes(piece, part.layout.blocks)
        return batch

    return _Digested(kernel(PartThrough(part, digested), params), lanes)


def _lanes(batch: Batch, layouts: Sequence[Any]) -> Hashes:
    """T of the rows of a batch, in two halves."""
    blocks = [
        _stored(block, layout.encoding) for block, layout in zip(batch.blocks, layouts, strict=True)
    ]
    names = [layout.columns for layout in layouts]
    plain = Batch(batch.rows, tuple(blocks), batch.codes, batch.classes)
    hashes, weights = batch_hashes(plain, names), batch.weights
    if not len(weights):
        a = mixed(hashes)
        return np.array([a.sum(), a @ a], np.uint64)
    # A fraction has no multiples: it is a part of what the row says.
    whole = (weights == np.floor(weights)) & (weights < 2.0**63)
    times = np.where(whole, weights, weights > 0).astype(np.uint64)
    a = mixed(np.where(whole, hashes, hashes + mixed(weights.view(np.uint64))))
    return np.array([a @ times, (a * a) @ times], np.uint64)


def _stored(block: Block, encoding: str) -> Block:
    """A block as sparse rows have it, where the model was fitted to such rows."""
    if not (encoding == "sparse" and isinstance(block, RealBlock)):
        return block
    from scipy.sparse import csr_matrix

    return stored_cells(csr_matrix(block.values), slice(0, block.rows))
