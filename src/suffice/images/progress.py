"""How far a searchlight is: volumes read, then permutations done."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from suffice.engines.progress import Progress, Report
from suffice.errors import ParameterError

__all__ = ["Watcher"]

PAUSE = 0.1  # seconds between two reports


class Watcher:
    """Tells a listener how far the stages of a fit are.

    Parameters
    ----------
    progress : bool or callable
        True stands for a bar on the terminal of the errors.

    Raises
    ------
    ParameterError
        If it is neither.
    """

    def __init__(self, progress: Any) -> None:
        if not (isinstance(progress, bool) or callable(progress)):
            raise ParameterError(
                f"progress={progress!r}",
                "it is True, False, or a callable that is given how far the work is",
            )
        self._progress = progress
        self._stack = ExitStack()
        self._report: Report | None = progress if callable(progress) else None

    def __enter__(self) -> Watcher:
        if self._progress is True:
            from suffice.engines.progress_bar import bar

            self._report = self._stack.enter_context(bar("Searchlight"))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def stage(self, what: str, total: int) -> Callable[[int], None]:
        """A function that is called with how many of a total are done."""
        begun = reported = time.monotonic()

        def report(done: int) -> None:
            nonlocal reported
            now = time.monotonic()
            if self._report is None or (now - reported < PAUSE and done < total):
                return
            reported = now
            left = (now - begun) * (total - done) / done
            self._report(Progress(done, 0, total, None, done / total, left, unit=what))

        return report
