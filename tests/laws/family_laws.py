"""The laws of a family: estimates from any partition, scores, samples and forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from tests.laws.comparing import close, frozen, require

from suffice.data.words import split_words
from suffice.families.family import Family, Form, Parameters
from suffice.numerics.logspace import cell_scores
from suffice.sums.base import tree_sum
from suffice.sums.batch import Batch
from suffice.sums.block import Block, CodedBlock, IntegerBlock, MixedBlock, RealBlock, SparseBlock
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.vocabulary import Vocabulary

__all__ = ["check_family"]

SAMPLES = 20  # rows drawn for every class


def check_family(
    family: Family, batches: Sequence[Batch], *, encoding: str | None = None, seed: int = 0
) -> None:
    """Check a family on labelled batches of one block each.

    - Any partition of the rows, in any order, gives the same parameters to the bit.
    - Neither estimating nor scoring writes to its input.
    - A log-likelihood is finite or −∞; missing cells add nothing to it; a row has the same to the
      bit whatever rows stand around it.
    - The contributions of the columns add up to the whole.
    - A sample of a distribution has the width of a row and is possible in its class.
    - ``form()``, where the parameters have one, agrees with the scores of complete rows, up to a
      term that all classes share.

    Parameters
    ----------
    family : Family
        What to check.
    batches : sequence of Batch
        At least one, with labels.
    encoding : str, optional
        How the cells are read; by default the family's first encoding.
    seed : int
        For the order of the rows, and for the sample.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from suffice.families import Gaussian
    >>> rows = RealBlock(np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 7.0]]))
    >>> labels = Vocabulary(("no", "yes"))
    >>> check_family(Gaussian(), [Batch(3, (rows,), np.array([0, 1, 1]), labels)])
    """
    encoding = family.encodings[0] if encoding is None else encoding
    rng = np.random.default_rng(seed)
    whole = _summarised(family, encoding, batches)
    if not len(whole.classes):
        return
    parameters = _estimated(family, whole)
    for other in _partitioned(family, encoding, batches, rng):
        require(other == whole, "any partition gives the same statistic")
        same = frozen(_estimated(family, other)) == frozen(parameters)
        require(same, "any partition gives the same parameters to the bit")
    k = len(whole.classes)
    for block in _learnt(batches):
        _check_scores(parameters, block, k)
        _check_form(parameters, block, k)
    if family.is_distribution:
        _check_sample(parameters, batches[0].blocks[0], k, rng)


def _summarised(family: Family, encoding: str, batches: Iterable[Batch]) -> ByClass:
    batches = list(batches)
    total = ByClassAccumulator([family.accumulator(encoding, batches[0].blocks[0].width)])
    for batch in batches:
        total.add(batch)
    return total.statistic()


def _partitioned(
    family: Family, encoding: str, batches: Sequence[Batch], rng: np.random.Generator
) -> Iterator[ByClass]:
    """Statistics of the same rows: batch by batch, row by row, and both shuffled."""
    yield tree_sum(_summarised(family, encoding, [batch]) for batch in batches)
    rows = [batch.take(np.array([i])) for batch in batches for i in range(batch.rows)]
    yield tree_sum(_summarised(family, encoding, [row]) for row in rows)
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    yield _summarised(family, encoding, shuffled)


def _estimated(family: Family, statistic: ByClass) -> Parameters:
    before = frozen(statistic)
    parameters = family.estimate(statistic.blocks[0])
    require(frozen(statistic) == before, "estimate does not write to the statistic")
    return parameters


def _check_scores(parameters: Parameters, block: Block, k: int) -> None:
    before = frozen(block), frozen(parameters)
    score = _score(parameters, block, k)
    require((frozen(block), frozen(parameters)) == before, "scoring does not write to its input")
    require(not np.isnan(score).any(), "a log-likelihood is a number")
    require(not np.isposinf(score).any(), "a log-likelihood is finite or -inf")

    rows = (block.take(np.array([i])) for i in range(block.rows))
    alone = [frozen(_score(parameters, row, k)[0]) for row in rows]
    require([frozen(row) for row in score] == alone, "a row scores as it does alone")

    start = np.arange(block.rows * k, dtype=np.float64).reshape(block.rows, k)
    out = start.copy()
    parameters.add_log_likelihood(_blank(block), out)
    require(np.array_equal(out, start), "missing cells add nothing")

    pieces = cell_scores(block.rows, block.width, k)
    parameters.add_contributions(block, pieces)
    require(not np.isnan(pieces).any(), "a contribution is a number")
    whole, magnitude = pieces.sum(axis=1), np.abs(pieces).sum(axis=1)
    require(bool(close(whole, score, magnitude).all()), "the columns add up to the whole")


def _check_form(parameters: Parameters, block: Block, k: int) -> None:
    form = parameters.form()
    if form is None or not all(np.isfinite(part).all() for part in form[1:]):
        return
    complete = _complete(block)
    phi = parameters.features(complete)
    psi = (phi if isinstance(phi, np.ndarray) else phi.toarray()) - form.origin
    terms = [*_quadratic_terms(psi, form), psi[:, None] * form.linear, form.constant[:, None]]
    rest, scale = _score(parameters, complete, k), np.zeros((complete.rows, k))
    for term in terms:
        rest, scale = rest - term.sum(axis=-1), scale + np.abs(term).sum(axis=-1)
    scale = scale.max(axis=1, keepdims=True, initial=0.0) * _condition(form)
    agree = close(rest, rest[:, :1], scale)
    require(bool(agree.all()), "form() agrees with the log-likelihood of complete rows")


def _quadratic_terms(psi: NDArray[np.float64], form: Form) -> list[NDArray[np.float64]]:
    """The quadratic terms of every row and class, (n, k, F) at a time."""
    if form.quadratic.ndim == 2:
        return [psi[:, None] ** 2 * form.quadratic]
    return [
        psi[:, None] * psi[:, [f], None] * row
        for f, row in enumerate(form.quadratic.swapaxes(0, 1))
    ]


def _check_sample(parameters: Parameters, like: Block, k: int, rng: np.random.Generator) -> None:
    codes = np.repeat(np.arange(k), SAMPLES)
    columns = parameters.sample(codes, rng)
    require(len(columns) == like.width, "a sample has one array per column")
    require(all(c.shape == codes.shape for c in columns), "a sample has one value per row")
    score = _score(parameters, _sampled(columns, like), k)
    own = score[np.arange(len(codes)), codes]
    require(bool(np.isfinite(own).all()), "a sample is possible in its class")


def _condition(form: Form) -> float:
    """How much rounding a full quadratic part may magnify: its condition, in units of its own."""
    if form.quadratic.ndim < 3 or not form.quadratic.any():
        return 1.0
    size = np.sqrt(np.abs(np.diagonal(form.quadratic, axis1=1, axis2=2)))
    size[size == 0] = 1.0
    return float(np.linalg.cond(form.quadratic / (size[:, :, None] * size[:, None, :])).max())


def _score(parameters: Parameters, block: Block, k: int) -> NDArray[np.float64]:
    out = np.zeros((block.rows, k))
    parameters.add_log_likelihood(block, out)
    return out


def _learnt(batches: Iterable[Batch]) -> Iterator[Block]:
    """The rows that the statistic holds: with a label, and of positive weight."""
    for batch in batches:
        seen = batch.codes >= 0
        if batch.weights.size:
            seen &= batch.weights > 0
        yield batch.blocks[0].take(np.flatnonzero(seen))


# -- blocks of every kind


def _sparse(matrix: Any, vocabulary: Vocabulary, present: NDArray[np.bool_]) -> SparseBlock:
    return SparseBlock(matrix.data, matrix.indices, matrix.indptr, vocabulary, present)


def _blank(block: Block) -> Block:
    """A block of missing cells."""
    if isinstance(block, RealBlock):
        return RealBlock(np.full(block.values.shape, np.nan))
    if isinstance(block, MixedBlock):
        return block.showing(np.zeros(block.width, np.bool_))
    block = _coded(block)
    if isinstance(block, CodedBlock):
        return CodedBlock(np.full(block.codes.shape, -1), block.vocabularies)
    nothing = csr_matrix((block.rows, len(block.vocabulary)))
    return _sparse(nothing, block.vocabulary, np.zeros(block.rows, np.bool_))


def _coded(block: Any) -> CodedBlock | SparseBlock:
    """Whole numbers as codes, which may be missing."""
    return block.coded() if isinstance(block, IntegerBlock) else block


def _complete(block: Block) -> Block:
    """The rows without a missing cell."""
    return block.take(np.flatnonzero(~block.missing.any(axis=1)))


def _sampled(columns: Sequence[NDArray[Any]], like: Block) -> Block:
    """A sample as a block of the same kind as ``like``."""
    if isinstance(like, RealBlock):
        return RealBlock(np.stack(columns, axis=1).astype(np.float64))
    if isinstance(like, MixedBlock):
        pairs = list(zip(columns, like.is_number.tolist(), strict=True))
        numbers = [column.astype(np.float64) for column, number in pairs if number]
        rows = np.reshape(numbers, (len(numbers), len(columns[0]))).T
        words = [column for column, number in pairs if not number]
        known: Any = CodedBlock(np.empty((len(rows), 0), np.intp), ())
        if words:
            known = _sampled(words, like.categories)
        return MixedBlock(RealBlock(rows), known, like.is_number)
    like = _coded(like)
    if isinstance(like, SparseBlock) and not like.vocabulary.closed:
        return split_words(columns[0].tolist())
    if isinstance(like, SparseBlock):
        matrix = csr_matrix(np.stack(columns, axis=1).astype(np.float64))
        return _sparse(matrix, like.vocabulary, np.ones(matrix.shape[0], np.bool_))
    values = [column.tolist() for column in columns]
    closed = [vocabulary.closed for vocabulary in like.vocabularies]
    vocabularies = [
        mine if known else Vocabulary.of(value for value in column if value is not None)
        for mine, known, column in zip(like.vocabularies, closed, values, strict=True)
    ]
    codes = [v.index(column, -1) for v, column in zip(vocabularies, values, strict=True)]
    return CodedBlock(np.stack(codes, axis=1), tuple(vocabularies))
