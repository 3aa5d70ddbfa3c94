"""Threads that stay: where they run."""

import os
import threading

import pytest

from suffice.engines.threads import Threads

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="only Linux lets a thread choose its processors"
)


@pytest.fixture
def started() -> tuple[Threads, int]:
    """One thread, and its number."""
    threads = Threads(1)
    return threads, threads.submit(threading.get_native_id).result()


def test_they_keep_off_the_processor_of_their_caller(started: tuple[Threads, int]) -> None:
    threads, thread = started
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("one processor only")
    here = min(allowed)
    try:
        os.sched_setaffinity(0, {here})  # so that the caller stays
        os.sched_setaffinity(thread, allowed)
        threads.keep_off()
        assert os.sched_getaffinity(thread) == {here}, "they go no further than their caller"
        assert threads.submit(lambda: 1).result() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    other = Threads(1)
    thread = other.submit(threading.get_native_id).result()
    other.keep_off()
    left = allowed - os.sched_getaffinity(thread)
    assert len(left) == 1, "one processor is the caller's"


def test_threads_that_start_later_keep_off_too() -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("one processor only")
    threads, barrier = Threads(2), threading.Barrier(2)
    threads.keep_off()

    def meet() -> int:
        barrier.wait()
        return threading.get_native_id()

    both = [threads.submit(meet) for _ in range(2)]
    numbers = [future.result() for future in both]
    threads.keep_off()
    for number in numbers:
        assert len(os.sched_getaffinity(number)) == len(allowed) - 1


def test_a_system_that_forbids_it_is_obeyed(
    started: tuple[Threads, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, thread = started
    before = os.sched_getaffinity(thread)

    def forbid(thread: int, processors: set[int]) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", forbid)
    threads.keep_off()
    assert os.sched_getaffinity(thread) == before
    monkeypatch.delattr(os, "sched_setaffinity")
    threads.keep_off()
    assert threads.submit(lambda: 2).result() == 2
