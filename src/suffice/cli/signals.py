"""Signals that ask a command to end: it ends as by Ctrl-C, and keeps what it has.

SIGTERM comes from a supervisor or a batch system, SIGHUP when the terminal is closed. By default
they end a process on the spot, and leave what it keeps in temporary folders.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Any, TextIO

ASKING = ("SIGTERM", "SIGHUP")
READER_GONE = 141  # exit status, as shells have it for SIGPIPE


class Ended(KeyboardInterrupt):
    """A signal has asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


def status(interrupt: KeyboardInterrupt) -> int:
    """Return the exit status that shells have for a process that a signal ended."""
    return 128 + (interrupt.number if isinstance(interrupt, Ended) else signal.SIGINT)


def handle() -> None:
    """Raise `Ended` when a signal arrives that would end the process.

    A signal that is ignored stays ignored, as ``nohup`` wants it.
    """

    def end(number: int, _: Any) -> None:
        raise Ended(number)

    for name in ASKING:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def write_no_more(stream: TextIO | None) -> None:
    """Let go of what a buffer still holds: it would be another error when the process ends."""
    with suppress(OSError, AttributeError):  # closed, or no stream of the system
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)
