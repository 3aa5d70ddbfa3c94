"""
Ctrl-C inside kernels: they ask for signals every few hundredths of a second.
"""

from collections.abc import Callable
from typing import Any


class Stop:
    """A flag that ends what other threads compute."""

    def __init__(self) -> None: ...

    def set(self) -> None:
        """Let calls end."""

    def is_set(self) -> bool:
        """Whether they are to end."""

    def call(self, function: Callable[[], Any]) -> Any:
        """
        Call a function of no arguments; return its result.

        Once the flag is set, the kernel that runs raises KeyboardInterrupt within a moment.
        Not for the main thread: its signals are not asked for meanwhile.
        """
