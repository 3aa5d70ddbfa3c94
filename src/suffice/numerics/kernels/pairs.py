"""Double-double arithmetic for compiled code: ``error_free.py``, with a fused product.

Importing this file makes ``error_free.two_sum``, ``error_free.add``, ... callable inside kernels.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload, register_jitable

from suffice.numerics import error_free

__all__ = ["brief", "compiled", "fused_multiply_add"]

# nogil: threads share one process; error_model: 0/0 is a NaN, as in IEEE 754, not an exception;
# contraction and reordering stay off, or the error-free transformations would lose their errors.
compiled = njit(cache=True, nogil=True, error_model="numpy")

# What takes some microseconds keeps the interpreter's lock: to get it back takes a thread longer.
brief = njit(cache=True, error_model="numpy")


def _fused_multiply_add(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return fl(a · b + c), rounded once: the hardware's fused multiply-add."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        fma = builder.module.declare_intrinsic(
            "llvm.fma", [double], ir.FunctionType(double, [double] * 3)
        )
        return builder.call(fma, arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


# Called with three numbers; the typing context is Numba's own business.
fused_multiply_add: Any = intrinsic(_fused_multiply_add)


@overload(error_free.two_product, inline="always")
def _two_product(a: Any, b: Any) -> Any:
    def fused(a: Any, b: Any) -> Any:
        p = a * b
        return p, fused_multiply_add(a, b, -p)

    return fused


for _formula in (
    error_free.two_sum,
    error_free.quick_two_sum,
    error_free.add,
    error_free.multiply,
    error_free.divide,
):
    register_jitable(_formula)
