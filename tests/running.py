"""Estimators whose methods run on an engine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, wraps
from multiprocessing import get_context
from typing import Any

from suffice import engine, set_engine

__all__ = ["on", "processes"]


@cache
def processes() -> Any:
    """Return the engine of two processes, which are started once."""
    return engine(ProcessPoolExecutor(2, get_context("spawn")))


class _Running:
    def __init__(self, chosen: Any, estimator: Any) -> None:
        self._chosen, self._estimator = chosen, estimator

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._estimator, name)
        return self._wrapped(found) if callable(found) else found

    def _wrapped(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def run(*given: Any, **named: Any) -> Any:
            with set_engine(self._chosen):
                return method(*given, **named)

        return run


def on(chosen: Any, estimator: Any) -> Any:
    """Return an estimator of which every method runs on an engine, or on a number of threads."""
    if chosen == "processes":
        chosen = processes()
    elif isinstance(chosen, int):
        chosen = engine("local", threads=chosen)
    return _Running(chosen, estimator)
