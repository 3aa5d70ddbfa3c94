"""Memory that is asked for before it is read, or that begins where the processor reads it best."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from suffice.numerics.kernels.pairs import compiled

__all__ = ["aligned", "prefetch"]

CACHE_LINE = 8  # doubles

BYTES = ir.IntType(8).as_pointer()
FLAG = ir.IntType(32)
READ, SOON, DATA = ir.Constant(FLAG, 0), ir.Constant(FLAG, 2), ir.Constant(FLAG, 1)


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for ``array[index]`` of a contiguous array (n,). Any index may be asked for."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), BYTES)
        kind = ir.FunctionType(ir.VoidType(), [BYTES, FLAG, FLAG, FLAG])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [BYTES], kind)
        builder.call(instruction, [place, READ, SOON, DATA])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


# Called as a function; the typing context is Numba's own business.
prefetch: Any = intrinsic(_prefetch)


@compiled
def aligned(n: int) -> Any:
    """Return n zeros from the beginning of a cache line on: eight lanes then lie in one."""
    room = np.zeros(n + CACHE_LINE)
    skip = -(room.ctypes.data // 8) % CACHE_LINE
    return room[skip : skip + n]
