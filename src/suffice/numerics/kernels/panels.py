"""Sums over the columns of a row for every class: eight rows are the lanes, in registers.

Conventions: a *panel* of p classes has p sums, each eight lanes: the rows. A tuple of p zeros
stands for its width where a kernel is compiled. A *table* (k, d) of what classes know of columns is
`arranged` for it: panel by panel, column by column, the p classes side by side.

Columns are read eight at a time, of rows ``apart`` cells from each other, which are eight at least:
the last eight columns overlap those before. Rows are taken `TILE` at a time; where there are fewer
rows or columns, from a `spare` tile. Every row adds its columns in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from suffice.numerics.error_free import LARGEST
from suffice.numerics.kernels.lanes import (
    LANES,
    address,
    copies,
    instruction,
    lanes,
    load,
    store,
    transpose,
)
from suffice.numerics.kernels.memory import aligned, prefetch
from suffice.numerics.kernels.pairs import compiled

__all__ = [
    "TILE",
    "add_products",
    "add_row",
    "add_rows",
    "add_shown",
    "add_sizes",
    "arranged",
    "columns_of",
    "keep",
    "less_squares",
    "panel_of",
    "spare",
    "too_large",
    "zeros",
]

TILE = 16  # rows scored together
WIDEST = 8  # classes whose sums stay in registers beside eight columns
AHEAD = 2_048  # cells between asking for one and reading it


def _tuple(members: int) -> Any:
    kind: Any = types.UniTuple
    return kind(lanes, members)


COLUMNS = _tuple(LANES)


def panel_of(k: int) -> tuple[float, ...]:
    """The panel of k classes: as few panels as hold them all, and those as narrow as can be.

    There is one at least: rows are looked at even if there is nothing to add.
    """
    panels = -(-max(k, 1) // WIDEST)
    return (0.0,) * -(-max(k, 1) // panels)


@compiled
def arranged(table: Any, size: int) -> Any:
    """Return a table (k, d) for panels of ``size`` classes.

    It has 0 for classes that fill the last panel, and where the last columns overlap others.
    """
    k, d = table.shape
    whole, width = d - d % LANES, -(-d // LANES) * LANES
    flat = aligned(-(-max(k, 1) // size) * size * width)
    for c in range(k):
        for j in range(d):
            place = j if j < whole else j + width - max(d, LANES)
            flat[(c // size * width + place) * size + c % size] = table[c, j]
    return flat


@compiled
def spare(d: int) -> Any:
    """Return a tile of zeros, its rows ``apart``."""
    return np.zeros((TILE, max(d, LANES)))


@compiled
def too_large(x: Any, first: int, rows: int) -> bool:
    """Tell whether one of some rows, from ``first`` on, holds a number too large to be squared."""
    large = False
    for i in range(first, first + rows):
        for j in range(x.shape[1]):
            large |= abs(x[i, j]) > LARGEST
    return large


@compiled
def add_row(out: Any, first: int, i: int, constants: Any, sums: Any) -> None:
    """Add constants and sums, both (k · 16,), of row i of a tile to ``out`` (n, k)."""
    for c in range(out.shape[1]):
        out[first + i, c] += constants[c * TILE + i] + sums[c * TILE + i]


@compiled
def add_rows(out: Any, first: int, rows: int, constants: Any, sums: Any) -> None:
    """Add constants and sums of a tile, eight rows at once where those of a class lie so."""
    if rows < TILE or out.strides[0] != out.itemsize:
        for i in range(rows):
            add_row(out, first, i, constants, sums)
        return
    apart = out.strides[1] // out.itemsize
    for c in range(out.shape[1]):
        for i in range(0, TILE, LANES):
            at, q = c * apart + first + i, c * TILE + i
            store(out, at, load(out, at) + (load(constants, q) + load(sums, q)))


@compiled
def columns_of(cells: Any, at: int, apart: int, less: Any) -> Any:
    """Return eight columns of eight rows, from ``cells[at]`` on, less eight numbers.

    Asks for rows to come.
    """
    for line in range(LANES):
        prefetch(cells, at + line * apart + AHEAD)
    return turned(cells, at, apart, less)


def _zeros(typing_context: Any, panel: Any) -> Any:
    """Return the sums of a panel, all 0."""
    sums = _tuple(len(panel))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(context.get_value_type(sums), None)

    return sums(panel), generate


def _turned(typing_context: Any, array: Any, index: Any, stride: Any, less: Any) -> Any:
    """Return eight columns: rows of eight cells each, ``stride`` apart, less eight numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, stride, less = arguments
        rows = []
        for _ in range(LANES):
            row = builder.load(address(context, builder, signature.args[0], array, index), align=8)
            rows.append(builder.fsub(row, less))
            index = builder.add(index, stride)
        return _packed(builder, transpose(builder, rows))

    return COLUMNS(array, types.intp, types.intp, lanes), generate


def _add_sizes(typing_context: Any, columns: Any, sizes: Any) -> Any:
    """Return sizes + Σⱼ |vⱼ| of eight columns vⱼ: NaN and infinity show."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, sizes = arguments
        for column in _members(builder, columns, LANES):
            sizes = builder.fadd(sizes, instruction(builder, "fabs", column))
        return sizes

    return lanes(COLUMNS, lanes), generate


def _add_products(typing_context: Any, columns: Any, table: Any, index: Any, sums: Any) -> Any:
    """Return sums_c + Σⱼ vⱼ t_jc of eight columns vⱼ; t begins at ``table[index]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, table, index, sums = arguments
        factors = _entries(context, builder, signature.args[1], table, index)
        totals = _members(builder, sums, signature.return_type.count)
        for column in _members(builder, columns, LANES):
            for c, total in enumerate(totals):
                totals[c] = instruction(builder, "fma", next(factors), column, total)
        return _packed(builder, totals)

    return sums(COLUMNS, table, types.intp, sums), generate


def _shown(builder: Any, column: Any, value: Any, otherwise: Any) -> Any:
    """A value in the lanes where a column is a number, and another elsewhere."""
    return builder.select(builder.fcmp_ordered("ord", column, column), value, otherwise)


def _less_squares(
    typing_context: Any, columns: Any, mean: Any, root: Any, index: Any, sums: Any
) -> Any:
    """Return sums_c − Σⱼ (r_jc (vⱼ − m_jc))² of eight columns vⱼ; what is missing adds nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, mean, root, index, sums = arguments
        means = _entries(context, builder, signature.args[1], mean, index)
        roots = _entries(context, builder, signature.args[2], root, index)
        totals = _members(builder, sums, signature.return_type.count)
        for column in _members(builder, columns, LANES):
            for c, total in enumerate(totals):
                u = builder.fmul(next(roots), builder.fsub(column, next(means)))
                less = instruction(builder, "fma", builder.fneg(u), u, total)
                totals[c] = _shown(builder, column, less, total)
        return _packed(builder, totals)

    return sums(COLUMNS, mean, root, types.intp, sums), generate


def _add_shown(typing_context: Any, columns: Any, table: Any, index: Any, sums: Any) -> Any:
    """Return sums_c + Σⱼ t_jc of the columns j that a row shows."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, table, index, sums = arguments
        terms = _entries(context, builder, signature.args[1], table, index)
        totals = _members(builder, sums, signature.return_type.count)
        for column in _members(builder, columns, LANES):
            for c, total in enumerate(totals):
                more = builder.fadd(total, next(terms))
                totals[c] = _shown(builder, column, more, total)
        return _packed(builder, totals)

    return sums(COLUMNS, table, types.intp, sums), generate


def _keep(typing_context: Any, sums: Any, array: Any, index: Any, apart: Any) -> Any:
    """Write the sums of the first class to ``array[index : index + 8]``, the others ``apart``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, array, index, apart = arguments
        for total in _members(builder, sums, signature.args[0].count):
            place = address(context, builder, signature.args[1], array, index)
            builder.store(total, place, align=8)
            index = builder.add(index, apart)
        return context.get_dummy_value()

    return types.void(sums, array, types.intp, types.intp), generate


def _entries(context: Any, builder: Any, kind: Any, table: Any, index: Any) -> Iterator[Any]:
    """Eight copies of each entry of a table, from an index on."""
    data = context.make_array(kind)(context, builder, table).data
    while True:
        yield copies(builder, builder.load(builder.gep(data, [index])))
        index = builder.add(index, ir.Constant(index.type, 1))


def _members(builder: Any, vectors: Any, count: int) -> list[Any]:
    return [builder.extract_value(vectors, i) for i in range(count)]


def _packed(builder: Any, vectors: list[Any]) -> Any:
    together = ir.Constant(ir.ArrayType(vectors[0].type, len(vectors)), ir.Undefined)
    for i, vector in enumerate(vectors):
        together = builder.insert_value(together, vector, i)
    return together


# Called as functions; the typing context is Numba's own business.
add_products: Any = intrinsic(_add_products)
add_shown: Any = intrinsic(_add_shown)
add_sizes: Any = intrinsic(_add_sizes)
keep: Any = intrinsic(_keep)
less_squares: Any = intrinsic(_less_squares)
turned: Any = intrinsic(_turned)
zeros: Any = intrinsic(_zeros)
