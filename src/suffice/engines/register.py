"""The engines by name: one entry each, which nothing else repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ENGINES", "Entry"]


@dataclass(frozen=True)
class Entry:
    """An engine in the module ``suffice.engines.<name>``."""

    class_name: str  # the class in that module
    # Options of the command line that it has (``workers``, ``master``, ``address``), and what the
    # class calls them.
    options: Mapping[str, str]


ENGINES = {
    "local": Entry("LocalEngine", {"workers": "threads"}),
    "processes": Entry("ProcessesEngine", {"workers": "processes"}),
    "dask": Entry("DaskEngine", {"address": "address"}),
    "spark": Entry("SparkEngine", {"master": "master", "address": "remote"}),
}
