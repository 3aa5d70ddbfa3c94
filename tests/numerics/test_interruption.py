"""Long calls of other libraries: the same results and errors, and Ctrl-C does not wait for them."""

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

from suffice.numerics.interruption import LARGE, interruptible

MANY = np.arange(float(LARGE))


def test_small_arrays_are_given_to_the_function_at_once() -> None:
    assert interruptible(lambda x: threading.get_ident(), MANY[1:]) == threading.get_ident()


def test_large_ones_are_given_to_another_thread() -> None:
    assert interruptible(lambda x: threading.get_ident(), MANY) != threading.get_ident()
    assert interruptible(np.sort, MANY[::-1]).tolist() == MANY.tolist()
    values, axes = interruptible(np.linalg.eigh, np.diag(MANY[:200]))
    assert values.tolist() == MANY[:200].tolist()
    assert (np.abs(axes) == np.eye(200)).all()


def test_errors_reach_the_caller_with_its_settings() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        interruptible(np.linalg.cholesky, -np.eye(200))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        interruptible(np.divide, MANY, 0.0)
    with np.errstate(all="ignore"):
        assert np.isinf(interruptible(np.divide, MANY, 0.0)[1:]).all()


def test_an_interrupt_leaves_the_call_behind() -> None:
    begun, left = threading.Event(), threading.Event()

    def wait(_: Any) -> bool:
        begun.set()
        os.kill(os.getpid(), signal.SIGINT)
        return left.wait()

    with pytest.raises(KeyboardInterrupt):
        interruptible(wait, MANY)
    assert begun.is_set()
    left.set()
