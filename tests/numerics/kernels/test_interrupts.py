"""Ctrl-C inside a kernel: it raises before it has done its work, on whichever thread it runs."""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from suffice.numerics import kernels

D = 1_000  # of matrices, of which equations are solved in seconds
FIRST, LAST = (1, 0), (0, 0)  # what is changed at the beginning and at the end


def long_equations() -> tuple[NDArray[np.float64], Callable[[], None]]:
    """Numbers, all 1 at first, and what replaces them by a solution."""
    x, zeros = np.ones((D, D)), np.zeros((D, D))
    upper, pivots = np.eye(D) + np.triu(np.full((D, D), 1e-3), 1), np.full(D, 2.0)
    rest = np.zeros(D)
    return x, lambda: kernels.factor.solve(upper, zeros, pivots, rest, x, zeros.copy())


def once_begun(x: NDArray[np.float64], act: Callable[[], object]) -> threading.Thread:
    """A thread that does something when numbers have been written."""

    def watch() -> None:
        while x[FIRST] == 1:
            pass
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_signals_end_a_kernel_of_the_main_thread() -> None:
    x, solve = long_equations()
    thread = once_begun(x, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        solve()
    thread.join()
    assert x[FIRST] != 1
    assert x[LAST] == 1


def test_a_handler_that_returns_lets_a_kernel_go_on() -> None:
    x, solve = long_equations()
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(x[LAST]))
    try:
        thread = once_begun(x, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        solve()
        thread.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [1.0]
    assert x[LAST] != 1


def test_a_flag_ends_a_kernel_of_another_thread() -> None:
    x, solve = long_equations()
    stop = kernels.interrupts.Stop()
    assert not stop.is_set()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(stop.call, solve)
        once_begun(x, stop.set).join()
        with pytest.raises(KeyboardInterrupt):
            done.result()
        assert x[LAST] == 1
        assert pool.submit(max, 1, 2).result() == 2
    assert stop.is_set()
    with pytest.raises(KeyboardInterrupt):
        stop.call(lambda: pytest.fail("it is not begun"))


def test_what_is_called_returns_and_raises_as_ever() -> None:
    stop = kernels.interrupts.Stop()
    assert stop.call(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        stop.call(lambda: 1 // 0)
