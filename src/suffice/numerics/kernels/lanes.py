"""Eight doubles at a time: a vector type for compiled code.

``+``, ``-`` and ``*`` work lane by lane, so the formulas of ``exact.py`` serve vectors as they
stand. The processor's widest registers are used, whatever their width.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

__all__ = [
    "LANES",
    "address",
    "choose",
    "copies",
    "fma",
    "instruction",
    "lanes",
    "load",
    "present",
    "splat",
    "store",
    "total",
    "totals",
    "transpose",
    "turn",
]

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class Lanes(types.Type):
    """The type of eight doubles."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = Lanes()


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """Eight doubles live in vector registers."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)  # type: ignore[no-untyped-call]


def address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Where eight doubles of an array lie; the index counts from its first in memory."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), VECTOR.as_pointer())


def _load(typing_context: Any, array: Any, index: Any) -> Any:
    """Return ``array[index : index + 8]`` of a contiguous array (n,)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(address(context, builder, signature.args[0], *arguments), align=8)

    return lanes(array, types.intp), generate


def _store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Write ``array[index : index + 8]`` of a contiguous array (n,)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = address(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store(arguments[2], place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


def copies(builder: Any, value: Any) -> Any:
    """A vector of eight times the same number."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, zeros)


def _splat(typing_context: Any, value: Any) -> Any:
    """Return eight copies of a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return copies(builder, arguments[0])

    return lanes(types.float64), generate


def instruction(builder: Any, name: str, *operands: Any) -> Any:
    """An instruction of LLVM that makes a vector of vectors."""
    insert: Any = cgutils.get_or_insert_function
    kind = ir.FunctionType(VECTOR, [VECTOR] * len(operands))
    return builder.call(insert(builder.module, kind, f"llvm.{name}.v{LANES}f64"), operands)


def _fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return fl(a · b + c), rounded once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return instruction(builder, "fma", *arguments)

    return lanes(lanes, lanes, lanes), generate


def _present(typing_context: Any, value: Any, otherwise: Any) -> Any:
    """Return the lanes that are numbers, and the other argument's where they are NaN."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, otherwise = arguments
        return builder.select(builder.fcmp_ordered("ord", value, value), value, otherwise)

    return lanes(lanes, lanes), generate


def _choose(typing_context: Any, a: Any, b: Any, larger: Any, otherwise: Any) -> Any:
    """Return the lanes of one argument where a > b, and of another elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, larger, otherwise = arguments
        return builder.select(builder.fcmp_ordered(">", a, b), larger, otherwise)

    return lanes(lanes, lanes, lanes, lanes), generate


def _some(builder: Any, a: Any, b: Any, places: Any) -> Any:
    """The lanes of a and b, one after the other, at these places."""
    integer = ir.IntType(32)
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(integer, len(places)), places))


def _total(typing_context: Any, value: Any) -> Any:
    """Return the sum of the lanes: halves are added until one number is left."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (rest,) = arguments
        for width in (LANES // 2, LANES // 4, LANES // 8):
            low, high = ([*range(at, at + width)] for at in (0, width))
            rest = builder.fadd(_some(builder, rest, rest, low), _some(builder, rest, rest, high))
        return builder.extract_element(rest, ir.Constant(ir.IntType(32), 0))

    return types.float64(lanes), generate


def _totals(typing_context: Any, a: Any, b: Any, c: Any, d: Any, array: Any, index: Any) -> Any:
    """Write the sums of the lanes of a, b, c and d to ``array[index : index + 4]``.

    Each is the `total`, to the bit; four together take two thirds of the instructions.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def halved(x: Any, y: Any, low: Any, high: Any) -> Any:
            return builder.fadd(_some(builder, x, y, low), _some(builder, x, y, high))

        a, b, c, d = (halved(x, x, [0, 1, 2, 3], [4, 5, 6, 7]) for x in arguments[:4])
        ab, cd = (halved(x, y, [0, 1, 4, 5], [2, 3, 6, 7]) for x, y in ((a, b), (c, d)))
        sums = halved(ab, cd, [0, 2, 4, 6], [1, 3, 5, 7])
        place = address(context, builder, signature.args[4], *arguments[4:])
        builder.store(sums, builder.bitcast(place, sums.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(lanes, lanes, lanes, lanes, array, types.intp), generate


def transpose(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of eight rows. Squares off the diagonal change places: J. O. Eklundh (1972)."""
    for side in (1, 2, 4):
        for i in (i for i in range(LANES) if not i & side):
            upper = [q + LANES - side if q & side else q for q in range(LANES)]
            lower = [q + LANES if q & side else q + side for q in range(LANES)]
            a, b = rows[i], rows[i + side]
            rows[i], rows[i + side] = _some(builder, a, b, upper), _some(builder, a, b, lower)
    return rows


def _turn(
    typing_context: Any, array: Any, index: Any, stride: Any, target: Any, place: Any, width: Any
) -> Any:
    """Write a square of 8 x 8 doubles of one flat array to another, rows to columns.

    Its rows begin at ``index`` and are ``stride`` apart; in the target, at ``place`` and ``width``.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, at, apart, to, start, wide = arguments

        def places(kind: Any, data: Any, first: Any, step: Any) -> Any:
            for _ in range(LANES):
                yield address(context, builder, kind, data, first)
                first = builder.add(first, step)

        rows = places(signature.args[0], source, at, apart)
        columns = transpose(builder, [builder.load(row, align=8) for row in rows])
        for column, place in zip(columns, places(signature.args[3], to, start, wide), strict=True):
            builder.store(column, place, align=8)
        return context.get_dummy_value()

    arguments = array, types.intp, types.intp, target, types.intp, types.intp
    return types.void(*arguments), generate


def _arithmetic(symbol: Any, instruction: str) -> None:
    """Give lanes one of the operators."""

    def compute(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return lanes(lanes, lanes), generate

    computed: Any = intrinsic(compute)

    def apply(a: Any, b: Any) -> Any:
        return computed(a, b)

    @overload(symbol)
    def _operator(a: Any, b: Any) -> Any:
        return apply if a is lanes and b is lanes else None


# Called as functions; the typing context is Numba's own business.
load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
splat: Any = intrinsic(_splat)
choose: Any = intrinsic(_choose)
fma: Any = intrinsic(_fma)
present: Any = intrinsic(_present)
total: Any = intrinsic(_total)
totals: Any = intrinsic(_totals)
turn: Any = intrinsic(_turn)

for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.iadd, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
):
    _arithmetic(_symbol, _instruction)
