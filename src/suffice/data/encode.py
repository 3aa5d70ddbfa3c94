"""Arrow columns and arrays into blocks: where a cell becomes a number, a code or words.

Null and NaN are missing. Every other cell is either taken as it is or refused by name, row and
rule; nothing is coerced in silence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.doubles import doubles, seconds
from suffice.data.schema import (
    MAX_CLASSES,
    BlockLayout,
    Layout,
    held,
    is_text,
    plain,
    stored_as,
)
from suffice.data.words import split_words
from suffice.errors import DataError, SchemaError
from suffice.numerics import kernels
from suffice.numerics.error_free import LARGEST
from suffice.sums.batch import BATCH_ROWS, NO_CODES, NO_WEIGHTS, WEIGHT_RULE, Batch, unfit_weight
from suffice.sums.block import (
    HELD,
    BadCell,
    Block,
    CodedBlock,
    IntegerBlock,
    KeyBlock,
    MixedBlock,
    RealBlock,
    SparseBlock,
    require_held,
)
from suffice.sums.keys import key_cells
from suffice.sums.moments import TOO_LARGE
from suffice.sums.vocabulary import FALSE_TRUE, Vocabulary

COUNT_RULE, FINITE_RULE = "a count is 0 or more", "a number must be finite"
TURNED_COLUMNS, TURNED_CELLS = 64, 131_072  # that are turned together: 1 MB
ALL_VALID = np.empty(0, np.uint8)
BINARY = "a binary column holds 0 and 1, or -1 and 1"
FAMILY = "give it a family of numbers when it is first fitted: families={'column': 'gaussian'}"


Seen = dict[str, Vocabulary]  # the values of categories in the batches so far, by column


def encode(batch: pa.RecordBatch, layout: Layout, seen: Seen | None = None) -> Batch:
    """Cut a record batch into blocks, class codes and weights.

    Batches of one part share what they have ``seen``, so that a category has one code in all.
    """
    codes, classes = NO_CODES, Vocabulary(())
    if layout.label is not None:
        codes, classes = _labels(batch.column(layout.label), layout)
    weights = NO_WEIGHTS if layout.weight is None else _weights(batch, layout.weight)
    seen = {} if seen is None else seen
    blocks: list[Block] = []
    for block in layout.blocks:
        try:
            if block.encoding == "category":
                blocks.append(_categories(batch, block.columns, layout, seen))
            elif block.encoding == "mixed":
                blocks.append(_mixed(batch, block, layout, seen))
            else:
                blocks.append(_ENCODERS[block.encoding](batch, block, layout))
        except BadCell as bad:
            bad.block = len(blocks)
            raise
    return Batch(batch.num_rows, tuple(blocks), codes, classes, weights)


def _number_column(column: pa.Array[Any], name: str) -> NDArray[np.float64]:
    """Numbers of one column as doubles, NaN where null; dates and times in seconds."""
    column = plain(column)
    stored = stored_as(column.type)
    try:
        if stored == "time":
            return seconds(column)
        if stored in ("boolean", "integer", "number", "nothing"):
            return doubles(column)
    except BadCell as bad:
        bad.column = name
        raise
    row = int(pc.index(pc.is_valid(column), True).as_py())
    raise BadCell(row, name, column[row].as_py(), "the column is read as numbers")


def _reals(batch: pa.RecordBatch, layout: BlockLayout, _: Layout) -> RealBlock:
    """Row after row: columns are copied side by side, so much as a cache holds, and turned."""
    columns = [_stored_numbers(batch.column(name), name) for name in layout.columns]
    n, d = batch.num_rows, len(columns)
    width = max(1, min(d, TURNED_COLUMNS))
    step = max(1, min(n, TURNED_CELLS // width))
    values, some = np.empty((n, d)), np.empty((width, step))
    for left, start in product(range(0, d, width), range(0, n, step)):
        rows, stop = values[start : start + step, left : left + width], start + step
        own = some[: rows.shape[1], : len(rows)]
        for to, (numbers, valid, first) in zip(own, columns[left : left + width], strict=True):
            kernels.columns.read(numbers[start:stop], valid, first + start, to)
        kernels.columns.to_rows(own.T, rows)
    return RealBlock(values)


def _stored_numbers(
    column: pa.Array[Any], name: str
) -> tuple[NDArray[Any], NDArray[np.uint8], int]:
    """Numbers, bits of those that are not null (none where all are), and the place of the first."""
    if column.type == pa.float64():
        return _as_stored(column)
    if column.type == pa.int64():
        numbers, valid, first = _as_stored(column)
        if numbers.max(initial=0) <= HELD and numbers.min(initial=0) >= -HELD:
            return numbers, valid, first
    return _number_column(column, name), ALL_VALID, 0


def _as_stored(column: pa.Array[Any]) -> tuple[NDArray[Any], NDArray[np.uint8], int]:
    """The numbers of a column as they lie in memory, and the bits of those that are not null."""
    bits, data = column.buffers()
    # "double", "int8", ... are NumPy's names too; `to_pandas_dtype` may import pandas.
    kind, stop = np.dtype(str(column.type)), column.offset + len(column)
    numbers = np.empty(0, kind) if data is None else np.frombuffer(data, kind, stop)
    numbers = numbers[column.offset :]
    if bits is None or not column.null_count:
        return numbers, ALL_VALID, 0
    return numbers, np.frombuffer(bits, np.uint8), column.offset


def _counts(batch: pa.RecordBatch, layout: BlockLayout, table: Layout) -> Block:
    return of_numbers(_reals(batch, layout, table).values, layout, table)


def _binaries(batch: pa.RecordBatch, layout: BlockLayout, table: Layout) -> CodedBlock:
    x, lows = _reals(batch, layout, table).values, table.lows(layout)
    is_truth = [pa.types.is_boolean(batch.column(name).type) for name in layout.columns]
    return _outcomes(x, layout, table.threshold, np.where(is_truth, 0.0, lows))


def _categories(
    batch: pa.RecordBatch, names: Sequence[str], table: Layout, seen: Seen
) -> CodedBlock:
    codes = np.empty((batch.num_rows, len(names)), np.int32)
    for target, name in zip(codes.T, names, strict=True):
        target[:], seen[name] = coded(batch.column(name), name, table.missing, seen.get(name))
    return CodedBlock(codes, tuple([seen[name] for name in names]))


def coded(
    column: pa.Array[Any],
    name: str,
    missing: Iterable[str] = (),
    seen: Vocabulary | None = None,
) -> tuple[NDArray[np.int32], Vocabulary]:
    """Codes (n,) of a column into the values that it shows, −1 = missing.

    A dictionary may hold values that no row shows, the same value twice, and null. Values that
    were ``seen`` before keep their codes, unless there are too many with those that are new.
    """
    if pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType):
        raise SchemaError(
            f"column {name!r} holds {held(column.type)}",
            "a category or label is one value",
            "choose another column, or make one value or string of each",
        )
    if not (pa.types.is_dictionary(column.type) and is_text(column.type.value_type)):
        column = plain(column)
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        column = column.dictionary_encode()
    dictionary = plain(column.dictionary)
    indices, valid, first = _as_stored(column.indices)
    places, shown = np.empty(len(indices), np.int32), np.zeros(len(dictionary) + 1, bool)
    if not kernels.counts.read_codes(indices, valid, first, places, shown):
        raise pa.ArrowInvalid("an index is outside its dictionary")
    shown[-1] = False  # the place of null
    own = dictionary if shown[:-1].all() else dictionary.filter(pa.array(shown[:-1]))
    try:
        values = own.to_pylist()
    except (ValueError, OverflowError) as error:
        raise SchemaError(
            f"column {name!r} holds {held(column.type)} of a year or time zone that is none",
            "a category or label is a value that Python has",
            "convert the column, or leave it out",
        ) from error
    vocabulary = _widened(seen or Vocabulary(()), values)
    code = np.full(len(shown), -1, np.int32)
    code[shown] = vocabulary.index(values, -1)
    absent = [vocabulary.codes[token] for token in missing if token in vocabulary.codes]
    code[np.isin(code, absent)] = -1
    return code[places], vocabulary


def _widened(known: Vocabulary, values: Sequence[Any]) -> Vocabulary:
    """Return a vocabulary with further values behind its own; None is none."""
    new = [value for value in dict.fromkeys(values) if value not in known.codes]
    if None in new:
        new.remove(None)
    if not new:
        return known
    if len(known) + len(new) > BATCH_ROWS:
        return Vocabulary(tuple([value for value in dict.fromkeys(values) if value is not None]))
    return Vocabulary((*known.values, *new))


def distinct(name: str, cells: pa.Array[Any]) -> tuple[Any, ...]:
    """Return the values that a column shows."""
    return coded(cells, name)[1].values


def _mixed(batch: pa.RecordBatch, layout: BlockLayout, table: Layout, seen: Seen) -> MixedBlock:
    is_number = table.is_number(layout)
    names = np.array(layout.columns, object)
    numbers = _reals(batch, BlockLayout("real", tuple(names[is_number])), table)
    return MixedBlock(numbers, _categories(batch, tuple(names[~is_number]), table, seen), is_number)


def _events(batch: pa.RecordBatch, layout: BlockLayout, table: Layout) -> SparseBlock:
    """The words of a text; or counts, a column each, as a sparse matrix had them."""
    first = next(column for column in table.columns if column.name == layout.columns[0])
    if first.stored == "number":
        values = _reals(batch, layout, table).values
        return events(values, slice(0, batch.num_rows), table.threshold)
    (name,) = layout.columns
    column = plain(batch.column(name))
    if stored_as(column.type) not in ("string", "nothing"):
        if column.is_null(nan_is_null=True).false_count:
            raise SchemaError(
                f"column {name!r} holds {held(column.type)}", "a text column holds strings"
            )
        column = pa.nulls(len(column))
    texts = column.to_pylist()
    absent = set(table.missing)
    return split_words([None if text in absent else text for text in texts], layout.ngrams)


def _sparse(batch: pa.RecordBatch, layout: BlockLayout, table: Layout) -> SparseBlock:
    from scipy.sparse import csr_matrix

    values = _reals(batch, layout, table).values
    return stored_cells(csr_matrix(values), slice(0, batch.num_rows))


def _keys(batch: pa.RecordBatch, layout: BlockLayout, table: Layout) -> Any:
    columns = []
    for name in layout.columns:
        column = key_cells(name, batch.column(name))
        if table.missing and column.type == pa.string():
            absent = pc.is_in(column, pa.array(table.missing, pa.string()))
            column = pc.if_else(absent, pa.scalar(None, pa.string()), column)
        columns.append(column)
    return KeyBlock(tuple(columns))


_ENCODERS: Mapping[str, Callable[[pa.RecordBatch, BlockLayout, Layout], Block]] = {
    "real": _reals,
    "count": _counts,
    "whole": _counts,
    "binary": _binaries,
    "outcome": _binaries,
    "events": _events,
    "sparse": _sparse,
    "key": _keys,
}


def _labels(column: pa.Array[Any], layout: Layout) -> tuple[NDArray[np.intp], Vocabulary]:
    found, values = coded(column, str(layout.label), layout.missing)
    codes = found.astype(np.intp)
    if len(values) > MAX_CLASSES:
        raise DataError(
            f"label {layout.label!r} has more than {MAX_CLASSES} values",
            "a label names a class",
            "check that the right column is the label",
        )
    numbers = float in map(type, values.values)
    if numbers and any(isinstance(v, float) and not v.is_integer() for v in values.values):
        row = next(i for i, c in enumerate(codes) if c >= 0 and values.values[c] % 1)
        step = (
            "to predict a number, use a linear model; if it names things, "
            f"written={{{layout.label!r}: 'text'}}"
        )
        value = values.values[codes[row]]
        raise BadCell(row, layout.label, value, "a label is not a fraction", step)
    if layout.label_suffix or layout.label_map:
        values = Vocabulary(tuple(_cleaned(value, layout) for value in values.values))
    return codes, values


def _cleaned(label: Any, layout: Layout) -> Any:
    if isinstance(label, str):
        label = label.removesuffix(layout.label_suffix)
        label = layout.label_map.get(label, label)
    return label


def _weights(batch: pa.RecordBatch, name: str) -> NDArray[np.float64]:
    weights = _number_column(batch.column(name), name)
    row = unfit_weight(weights)
    if row is not None:
        raise BadCell(row, name, float(weights[row]), WEIGHT_RULE)
    return weights


# Cells of arrays ---------------------------------------------------------------------------------


def largest_of(dtype: np.dtype[Any]) -> float:
    """The largest number of a dtype that can be squared as a double."""
    return min(LARGEST, float(np.finfo(dtype).max)) if dtype.kind == "f" else LARGEST


def _check_counts(x: NDArray[Any], whole: bool = False) -> None:
    """Refuse what is no count: below 0, infinite or too large; or, if asked, with a fraction."""
    if x.dtype.kind in "bu":
        return
    largest = largest_of(x.dtype)
    rules = [
        (x < 0, COUNT_RULE),
        (np.isinf(x), FINITE_RULE),
        (x > largest, TOO_LARGE),
    ]
    if whole:
        with np.errstate(invalid="ignore"):
            rules.append(((x != np.floor(x)) & ~np.isnan(x), "a count has no fraction"))
    for bad, rule in rules:
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            raise BadCell(row, column, x[row, column].item(), rule)


def of_numbers(x: NDArray[Any], layout: BlockLayout, table: Layout) -> Block:
    """Return numbers (n, d) as the block of an encoding of numbers, outcomes or categories."""
    if layout.encoding == "category":
        return _codes_of_numbers(x)
    if layout.encoding in ("binary", "outcome"):
        return _outcomes(x, layout, table.threshold, table.lows(layout))
    if layout.encoding in ("count", "whole"):
        _check_counts(x, whole=layout.encoding == "whole")
    return RealBlock(x)


def _outcomes(
    x: NDArray[Any], layout: BlockLayout, threshold: float | None, lows: NDArray[np.float64]
) -> CodedBlock:
    vocabularies = (FALSE_TRUE,) * x.shape[1]
    if x.dtype.kind == "b" and (threshold is None or 0 <= threshold < 1):
        return CodedBlock(x.view(np.int8), vocabularies)
    if threshold is not None:
        missing = x != x
        above = _above(x, threshold)
        return CodedBlock(np.where(missing, -1, above).astype(np.int8), vocabularies)
    strict = layout.encoding == "binary"
    return CodedBlock(outcome_codes(x, lows, strict), vocabularies)


def _above(x: NDArray[Any], threshold: float) -> NDArray[np.bool_]:
    """Compare numbers with a threshold; whole ones are compared with a whole one."""
    whole = x.dtype.kind in "iu" and math.isfinite(threshold)
    return np.asarray(x > (math.floor(threshold) if whole else threshold))


def _codes_of_numbers(x: NDArray[Any]) -> CodedBlock | IntegerBlock:
    if x.dtype.kind == "i" or (x.dtype.kind == "u" and x.dtype.itemsize < 8):
        return IntegerBlock(x)
    codes = np.empty(x.shape, np.intp)
    vocabularies = []
    for j in range(x.shape[1]):
        values, inverse = np.unique(x[:, j], return_inverse=True)
        if values.dtype.kind == "f" and len(values) and np.isnan(values[-1]):
            values, inverse = values[:-1], np.where(inverse == len(values) - 1, -1, inverse)
        codes[:, j] = inverse
        vocabularies.append(Vocabulary(tuple(values.tolist())))
    return CodedBlock(codes, tuple(vocabularies))


def laid_out(x: Any) -> NDArray[Any]:
    """Return CSR with all its cells; whole numbers stored in parts have room to add up."""
    if x.dtype.kind in "iu" and not x.has_canonical_format:
        block = stored_cells(x, slice(0, x.shape[0])).merged()
        cells = block.data, block.indices, block.indptr
        return np.asarray(type(x)(cells, shape=x.shape).toarray())
    return np.asarray(x.toarray())


def stored_cells(x: Any, rows: slice | None = None) -> SparseBlock:
    """Rows of a CSR matrix as they are stored, all or some; only their row pointers are copied."""
    rows = rows or slice(0, x.shape[0])
    indptr = x.indptr[rows.start : rows.stop + 1]
    cells = slice(indptr[0], indptr[-1])
    present = np.ones(rows.stop - rows.start, np.bool_)
    return SparseBlock(
        x.data[cells],
        x.indices[cells],
        indptr - indptr[0],
        _numbered(x.shape[1]),
        present,
        whole=x.has_canonical_format,
    )


def events(x: Any, rows: slice, threshold: float | None) -> SparseBlock:
    """Counts in the rows of a CSR matrix. Dense rows are made sparse."""
    if isinstance(x, np.ndarray):
        from scipy.sparse import csr_matrix

        return events(csr_matrix(x[rows]), slice(0, rows.stop - rows.start), threshold)
    block = stored_cells(x, rows)
    if threshold is not None:
        block = block.merged()
        above = _above(block.data, threshold)
        return replace(block, data=np.where(np.isnan(block.data), np.nan, above))
    largest = HELD - 1.0 if block.data.dtype.kind in "iu" else largest_of(block.data.dtype)
    if not kernels.counts.are_counts(block.data, largest):
        block = block.merged()  # parts may be negative, and their sum no count
        return held_counts(block, _check_counts)
    return block


def held_counts(
    block: SparseBlock, check: Callable[[NDArray[Any]], None] | None = None
) -> SparseBlock:
    """Return a block of whole numbers that doubles hold, or of doubles, after another check."""
    cells = block.data[:, None]
    try:
        if check is not None:
            check(cells)
        require_held(cells)
    except BadCell as bad:
        raise block.bad_cell(bad.row, bad.value, bad.rule, bad.next_step) from None
    return block


@lru_cache(maxsize=8)
def _numbered(d: int) -> Vocabulary:
    return Vocabulary(tuple(range(d)), closed=True)


def outcome_codes(
    x: NDArray[Any], lows: NDArray[np.float64], strict: bool = True
) -> NDArray[np.int8]:
    """Return 0 and 1 for the smaller and the larger value of every column, −1 for missing cells.

    Parameters
    ----------
    x : ndarray (n, d) of int or float
        NaN = missing.
    lows : ndarray (d,)
        The smaller value of each column, 0 or −1; NaN where these cells have to tell: −1 if there
        is one.
    strict : bool
        Whether another value is refused; else it is missing if it is finite.
    """
    one, zero, minus, told = x == 1, x == 0, x == -1, lows == lows
    signed = (lows == -1) | (~told & minus.any(axis=0))
    known = one | np.where(signed, minus, zero)
    refused = ~(known | (x != x))
    if not strict:
        refused &= (zero & ~told) | np.isinf(x)
    if refused.any():
        row, column = map(int, np.argwhere(refused)[0])
        raise _refusal(row, column, x[row, column].item(), float(lows[column]))
    return np.asarray(one.view(np.int8) - (~known).view(np.int8))


def _refusal(row: int, column: int, value: Any, low: float) -> BadCell:
    if math.isinf(value):
        return BadCell(row, column, value, FINITE_RULE)
    if low != low:
        return BadCell(row, column, value, BINARY)
    rule = f"the first rows of this column hold only {low:g} and 1, so it has two values"
    value = int(value) if value == value // 1 else value
    return BadCell(row, column, value, rule, FAMILY)
