"""What the targets share: Atheris around a function that may refuse, but not fail.

A target takes bytes. It may raise a `SufficeError`, which is how the library refuses what it is
given. Any other exception, a crash, 60 s for one input or 4 GB of memory end the run, and the input
is written beside the working directory.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import atheris

__all__ = ["HERE", "ROOT", "SCRATCH", "fuzz", "written"]

HERE = Path(__file__).parent
ROOT = HERE.parent
_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
_folder = tempfile.TemporaryDirectory(prefix="suffice-fuzz-", dir=_memory)
SCRATCH = Path(_folder.name)
LIMITS = ("-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1")

sys.path[:0] = [str(ROOT)]


def _import_all() -> None:
    """Import what the library is made of, but for modules whose libraries are not installed."""
    import suffice

    for module in pkgutil.walk_packages(suffice.__path__, "suffice.", onerror=lambda _: None):
        if not module.name.startswith(("suffice.cli", "suffice.__main__")):
            with suppress(ImportError):
                importlib.import_module(module.name)


# What is imported here is watched: its branches guide the search.
with atheris.instrument_imports(include=["suffice"]):
    _import_all()
from suffice.errors import SufficeError  # noqa: E402


def written(name: str, data: bytes) -> Path:
    """A file in memory that holds these bytes."""
    path = SCRATCH / name
    path.write_bytes(data)
    return path


def fuzz(
    target: Callable[[bytes], None],
    seeds: Path | None = None,
    mutator: Callable[[bytes, int, int], bytes] | None = None,
) -> None:
    """Run a target on mutants of seeds, with the options of libFuzzer from the command line."""

    def refusing(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(SufficeError):
                target(data)

    arguments = [sys.argv[0], *LIMITS, *sys.argv[1:]]
    if all(one.startswith("-") for one in sys.argv[1:]):  # else inputs to run once
        found = SCRATCH / "corpus"
        found.mkdir()
        arguments += [str(found)] if seeds is None else [str(found), str(seeds)]
    os.fsync = lambda _: None  # what is written here need not outlive the machine
    more = {} if mutator is None else {"custom_mutator": mutator}
    atheris.Setup(arguments, refusing, **more)
    atheris.Fuzz()
