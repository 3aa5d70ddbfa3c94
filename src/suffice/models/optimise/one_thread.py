"""Small matrix products in the thread that asks for them."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread_of_blas"]


def one_thread_of_blas() -> Any:
    """A context in which linear algebra takes one thread.

    An engine has its own threads, and those of small products would only wait for each other.
    """
    return _blas().limit(limits=1)


@cache
def _blas() -> Any:
    """The libraries of linear algebra that this process has loaded."""
    return ThreadpoolController().select(user_api="blas")
