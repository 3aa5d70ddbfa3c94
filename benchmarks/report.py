"""Tables for the terminal and for Markdown, and what they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.measure.floor import THREADS

__all__ = ["Table", "environment", "milliseconds", "provenance", "significant"]

LIBRARIES = ("suffice", "scikit-learn", "numpy", "scipy")


@dataclass(frozen=True)
class Table:
    """Columns of fixed width, so that every row can be printed when it is measured."""

    title: str
    columns: tuple[tuple[str, int], ...]
    cells: Callable[[Any], Sequence[str]]
    folded: bool = False  # whether a page shows it on request only

    def header(self) -> list[str]:
        names = self._line([name for name, _ in self.columns])
        return [names, self._line(["-" * width for _, width in self.columns])]

    def row(self, item: Any) -> str:
        return self._line(self.cells(item))

    def lines(self, items: Iterable[Any]) -> list[str]:
        """The table on a page."""
        body = ["", *self.header(), *map(self.row, items), ""]
        if not self.folded:
            return [f"### {self.title}", *body]
        return ["<details>", f"<summary>{self.title}</summary>", *body, "</details>", ""]

    def _line(self, cells: Sequence[str]) -> str:
        padded = [cell.ljust(width) for cell, (_, width) in zip(cells, self.columns, strict=True)]
        return f"| {' | '.join(padded)} |"


def milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:,.4g}"


def significant(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def environment() -> dict[str, Any]:
    """What the figures depend on besides the code."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": THREADS,
        "load": os.getloadavg(),
    }


def provenance(where: dict[str, Any], command: str) -> str:
    """Say on what, and by which command, a page was made."""
    used = ", ".join(f"{name} {where[name]}" for name in ("python", *LIBRARIES))
    machine = f"{where['processor']}, {where['cores']} cores, {where['threads']} threads"
    loads = " ".join(f"{load:.1f}" for load in where["load"])
    return (
        f"{used}; {machine}; load average at the start {loads}. Made by "
        f"`python -m benchmarks {command} --markdown benchmarks/RESULTS.md`."
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
