"""The local engine: sums in part order, from any number of threads."""

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.laws.engine_laws import check_engine

from suffice.engines.engine import LocalEngine
from suffice.errors import ParameterError
from suffice.numerics import kernels


@pytest.mark.parametrize("threads", [1, 2, 4, None])
def test_the_laws_of_engines(threads: int | None) -> None:
    check_engine(LocalEngine(threads))


def test_few_results_wait() -> None:
    started: list[int] = []
    results = LocalEngine(2).map(lambda part, _: started.append(part), None, range(100))
    next(results)
    # Two threads: at most five were handed out before the first was taken.
    assert len(started) <= 5
    results.close()
    assert len(started) <= 5


def failing(part: int, _: None) -> int:
    if part in (3, 4, 40):
        raise ZeroDivisionError(f"part {part}")
    return part


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_first_error_reaches_the_caller(threads: int) -> None:
    results = LocalEngine(threads).map(failing, None, range(50))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="part 3"):
        next(results)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_caller_is_one_of_the_threads(threads: int) -> None:
    meeting = threading.Barrier(threads)

    def met(part: int, _: None) -> int:
        meeting.wait(timeout=60)  # as many at a time as were asked for
        return threading.get_ident()

    used = list(LocalEngine(threads).map(met, None, range(threads)))
    assert len(set(used)) == threads
    assert threading.get_ident() in used


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_interrupt_ends_the_pass(threads: int) -> None:
    caller, ended = threading.get_ident(), threading.Event()

    def interrupted(part: int, _: None) -> int:
        if threading.get_ident() != caller:
            ended.wait(timeout=60)  # so that the caller finds work to do
            return part
        ended.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(LocalEngine(threads).map(interrupted, None, range(1000)))


class Long:
    """A part of very many batches."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), False

    def batches(self) -> Iterator[None]:
        for _ in range(10**8):
            self.begun.set()
            yield None
        self.ended = True


def test_an_interrupt_ends_what_other_threads_read() -> None:
    caller, parts = threading.get_ident(), [Long(), Long()]

    def interrupted(part: Any, _: None) -> None:
        if threading.get_ident() != caller:
            deque(part.batches(), maxlen=0)
        while not any(one.begun.wait(timeout=1) for one in parts):
            pass
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(LocalEngine(2).map(interrupted, None, parts))  # type: ignore[arg-type]
    assert not any(part.ended for part in parts)


def test_an_interrupt_ends_kernels_of_other_threads() -> None:
    caller, d = threading.get_ident(), 1_500
    x, rest, upper = np.ones((2, d, d)), np.zeros((2, d, d)), np.triu(np.full((d, d), 1e-3), 1)
    upper += np.eye(d)

    def interrupted(part: int, _: None) -> None:
        if threading.get_ident() != caller:
            pairs = upper, np.zeros((d, d)), np.ones(d), np.zeros(d)
            kernels.factor.solve(*pairs, x[part], rest[part])
        while (x[:, 1, 0] == 1).all():
            pass
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(LocalEngine(2).map(interrupted, None, range(2)))  # type: ignore[arg-type]
    assert (x[:, 0, 0] == 1).all()  # it is changed last


def test_an_engine_has_a_thread() -> None:
    assert LocalEngine().workers >= 1
    assert LocalEngine(3).workers == 3
    for wrong in (0, True):
        with pytest.raises(ParameterError, match=f"threads={wrong}; it is a whole number, 1 or mo"):
            LocalEngine(wrong)
