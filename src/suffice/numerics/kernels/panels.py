"""Eight rows at a time, for a panel of classes: columns are turned to lanes in registers.

Conventions: a *panel* of p classes has p sums, each eight lanes: the rows. A tuple of p zeros
stands for its width where a kernel is compiled. A *table* (k, d) of what classes know of columns is
`arranged` for it: panel by panel, column by column, the p classes side by side.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from suffice.numerics.kernels.lanes import LANES, address, copies, instruction, lanes, transpose
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.tiles import aligned

__all__ = [
    "add_products",
    "add_sizes",
    "arranged",
    "keep",
    "panel_of",
    "turned",
    "zeros",
]

WIDEST = 8  # classes whose sums stay in registers beside eight columns


def _tuple(members: int) -> Any:
    kind: Any = types.UniTuple
    return kind(lanes, members)


COLUMNS = _tuple(LANES)


def panel_of(k: int) -> tuple[float, ...]:
    """The panel of k classes: as few panels as hold them all, and those as narrow as can be."""
    panels = -(-k // WIDEST)
    return (0.0,) * -(-k // panels)


@compiled
def arranged(table: Any, size: int) -> Any:
    """Return a table (k, d) for panels of ``size`` classes; classes and columns added are 0.

    Columns are read eight at a time. The last eight overlap those before, which count 0 there.
    """
    k, d = table.shape
    whole, width = d - d % LANES, -(-d // LANES) * LANES
    flat = aligned(-(-k // size) * size * width)
    for c in range(k):
        for j in range(d):
            place = j if j < whole else j + width - max(d, LANES)
            flat[(c // size * width + place) * size + c % size] = table[c, j]
    return flat


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
        data = context.make_array(signature.args[1])(context, builder, table).data
        totals = _members(builder, sums, signature.return_type.count)
        for column in _members(builder, columns, LANES):
            for c, total in enumerate(totals):
                factor = copies(builder, builder.load(builder.gep(data, [index])))
                totals[c] = instruction(builder, "fma", factor, column, total)
                index = builder.add(index, ir.Constant(index.type, 1))
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


def _members(builder: Any, vectors: Any, count: int) -> list[Any]:
    return [builder.extract_value(vectors, i) for i in range(count)]


def _packed(builder: Any, vectors: list[Any]) -> Any:
    together = ir.Constant(ir.ArrayType(vectors[0].type, len(vectors)), ir.Undefined)
    for i, vector in enumerate(vectors):
        together = builder.insert_value(together, vector, i)
    return together


# Called as functions; the typing context is Numba's own business.
add_products: Any = intrinsic(_add_products)
add_sizes: Any = intrinsic(_add_sizes)
keep: Any = intrinsic(_keep)
turned: Any = intrinsic(_turned)
zeros: Any = intrinsic(_zeros)
