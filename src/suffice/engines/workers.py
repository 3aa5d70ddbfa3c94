"""Processes of this machine that answer requests, each at the end of a pipe of its own.

No queue and no lock is shared by two processes. Wherever a process was when it died, in the middle
of an answer too, its pipe ends; a thread of the caller, which waits for this answer and for nothing
else, reads that end.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TypeVar

from threadpoolctl import threadpool_limits

from suffice.engines.remote import ATTEMPTS, ExhaustedError, Message, lost, perform
from suffice.errors import EngineError

__all__ = ["Workers", "workers"]

T = TypeVar("T")
Request = tuple[Message, Message]
"""A task and a split."""


class Workers:
    """So many processes at most, started when there is work, kept, and replaced when they die.

    Raises
    ------
    EngineError
        If a process cannot be started.
    """

    def __init__(self, number: int) -> None:
        self._requests: SimpleQueue[tuple[Request, Future[Message]]] = SimpleQueue()
        self._ended = False
        self._lock = Lock()  # one that is being started is not yet known to end()
        self._busy: set[_Process] = set()
        # Where one cannot be started, none can: it is said once.
        self._idle = [_by_another(_begun)]
        for _ in range(number):
            Thread(target=self._serve, daemon=True, name="suffice").start()

    def submit(self, task: Message, split: Message) -> Future[Message]:
        """Let a process perform a task on a split."""
        answer: Future[Message] = Future()
        self._requests.put(((task, split), answer))
        return answer

    def end(self) -> None:
        """Kill the processes, and start no others."""
        with self._lock:
            self._ended = True
            for process in [*self._idle, *self._busy]:
                process.kill()

    def _serve(self) -> None:
        while not self._ended:
            self._serve_one()  # what it held is let go of

    def _serve_one(self) -> None:
        request, answer = self._requests.get()
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(_by_another(partial(self._asked, request)))
        except BaseException as error:
            answer.set_exception(error)

    def _asked(self, request: Request) -> Message:
        process = self._free()
        try:
            process.wait_until_it_has_begun()
            answer = process.ask(request)
        except BaseException:
            process.kill()
            process.close()
            raise
        finally:
            self._busy.discard(process)
        self._idle.append(process)
        return answer

    def _free(self) -> _Process:
        """Take a process that has nothing to do, or start one.

        Raises
        ------
        _DeadError
            If no other is to be started.
        """
        with self._lock:
            if self._ended:
                raise _DeadError
            process = self._idle_one() or _Process()
            self._busy.add(process)
            return process

    def _idle_one(self) -> _Process | None:
        while self._idle:
            process = self._idle.pop()
            if process.lives:
                return process
            process.close()  # it died while it had nothing to do: of no rows
        return None


class _DeadError(Exception):
    """A process is dead."""


class _Process:
    """A process, started here, and the pipe to it.

    Raises
    ------
    _DeadError
        If it is killed at once.
    EngineError
        If it cannot be started.
    """

    def __init__(self) -> None:
        self._has_begun = False
        context = multiprocessing.get_context("spawn")
        self._pipe, its_end = context.Pipe()
        self._process = context.Process(target=_answer, args=(its_end,), daemon=True)
        try:
            self._process.start()
        except BrokenPipeError:
            raise _DeadError from None
        except OSError as error:
            raise EngineError(
                f"a process cannot be started: {error}",
                "the system limits their number and their memory",
                "ask for fewer of them",
            ) from error
        finally:
            its_end.close()  # or the pipe would not end with the process

    def wait_until_it_has_begun(self) -> None:
        """Wait until it answers requests.

        Raises
        ------
        _DeadError
            If it is killed before.
        EngineError
            If it ends by itself.
        """
        if self._has_begun:
            return
        try:
            self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            status = self._process.exitcode
            if status is None or status < 0:  # a signal ended it
                raise _DeadError from None
            raise EngineError(
                "the processes ended as soon as they began",
                "each of them imports the script that was started",
                'put what the script does under `if __name__ == "__main__":`',
            ) from None
        self._has_begun = True

    @property
    def lives(self) -> bool:
        """Whether it waits for a request: without one it says nothing, but its pipe may end."""
        return not self._pipe.poll()

    def ask(self, request: Request) -> Message:
        """Have a request answered.

        Raises
        ------
        _DeadError
            If the process dies.
        """
        try:
            self._pipe.send(request)
            answer: Message = self._pipe.recv()
        except (EOFError, OSError):
            raise _DeadError from None
        return answer

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()

    def close(self) -> None:
        """Close the pipe, which nobody reads any more."""
        self._pipe.close()


def _begun() -> _Process:
    process = _Process()
    process.wait_until_it_has_begun()
    return process


def _by_another(do: Callable[[], T]) -> T:
    """Do what takes a process; if it dies, again by another one.

    Raises
    ------
    EngineError
        If they die one after the other, or cannot be started.
    """
    for _ in range(ATTEMPTS):
        with suppress(_DeadError):
            return do()
    raise lost()


# Here --------------------------------------------------------------------------------------------

_kept: dict[int, Workers] = {}
_lock = Lock()


def workers(number: int) -> Workers:
    """Return so many warm processes, started now if there are none.

    Raises
    ------
    EngineError
        If they cannot be started.
    """
    with _lock:
        if number not in _kept:
            _kept[number] = Workers(number)
        return _kept[number]


@atexit.register
def _end() -> None:
    for kept in list(_kept.values()):
        kept.end()


def _forget() -> None:
    """A forked child has neither the threads of its parent nor its processes."""
    global _lock
    _kept.clear()
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# In the processes --------------------------------------------------------------------------------


def _answer(pipe: Connection) -> None:
    """Answer requests until the pipe ends; the process ends with its parent, and has one thread."""
    for name in ("SIGINT", "SIGHUP"):  # a terminal sends them to all; the parent answers for all
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threadpool_limits(1)
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError, ExhaustedError):  # one that has no room ends
        pipe.send(None)
        while True:
            pipe.send(perform(*pipe.recv()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
