"""The engines of rows that are not in Spark, by name: one entry each, which nothing repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ENGINES", "Entry"]


@dataclass(frozen=True)
class Entry:
    """A class in a module of ``suffice.engines``."""

    module: str
    class_name: str
    # Options of the command line that it has (``workers``, ``address``), and what the class calls
    # them.
    options: Mapping[str, str]


ENGINES = {
    "local": Entry("local", "LocalEngine", {"workers": "threads"}),
    "processes": Entry("executor", "ProcessesEngine", {"workers": "processes"}),
    "dask": Entry("dask", "DaskEngine", {"address": "address"}),
}
