"""The command line: its commands, their options, what they print, and what they say of errors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["main"]


INTERRUPTED = 130  # exit status, as shells have it for Ctrl-C
WITH_PANDAS = ("--engine", "--formula")  # options whose libraries import it


def main() -> None:
    """Run the command that ``sys.argv`` names."""
    try:
        from suffice.cli.app import app

        if not any(word.startswith(WITH_PANDAS) for word in sys.argv):
            sys.meta_path.insert(0, _WithoutPandas())
        app(prog_name="suffice")
    except KeyboardInterrupt:  # while modules are imported; a command says it itself
        print("interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)


class _WithoutPandas(MetaPathFinder):
    """Lets pandas look as if it were not installed.

    pyarrow imports it when it first converts an object of Python, be it a number or a string.
    That takes longer than a small fit, and no command hands pyarrow a frame. Engines do, and
    formulaic imports it, which is why they see it.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse pandas; leave the rest to others."""
        if name == "pandas":
            raise ModuleNotFoundError("suffice runs without pandas", name=name)
        return None
