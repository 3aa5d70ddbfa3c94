"""Calls of other libraries that take long: Ctrl-C does not wait until they return, in one thread.

Kernels of this library ask for signals themselves (``src/native/support/interrupts.hpp``).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache
from threading import Thread, current_thread, main_thread
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
LARGE = 1 << 15  # numbers: with fewer, a matrix is factored in a few milliseconds


def interruptible(function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """Return the result of a function that changes nothing, called by another thread if it is long.

    The main thread, to which signals are delivered, waits meanwhile; on Ctrl-C the call is left
    behind. It is long if an argument is a large array. The function has no effects, and gives the
    interpreter's lock back while it computes.
    """
    largest = max([one.size for one in arguments if isinstance(one, np.ndarray)], default=0)
    if largest < LARGE or current_thread() is not main_thread():
        return function(*arguments, **options)
    found: Future[R] = Future()
    context = copy_context()  # with the caller's np.errstate

    def call() -> None:
        try:
            found.set_result(context.run(function, *arguments, **options))
        except BaseException as error:
            found.set_exception(error)

    Thread(target=call, name="suffice", daemon=True).start()
    return found.result()


def one_thread_of_blas() -> Any:
    """A context in which linear algebra takes one thread, so that bits do not depend on them.

    An engine has its own threads, and those of small products would only wait for each other.
    """
    return _blas().limit(limits=1)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
