"""The command line: its commands, their options, what they print, and what they say of errors."""

from __future__ import annotations

import sys

__all__ = ["main"]

INTERRUPTED = 130  # exit status, as shells have it for Ctrl-C


def main() -> None:
    """Run the command that ``sys.argv`` names."""
    try:
        from suffice.cli.app import app
        from suffice.cli.signals import handle

        handle()
        app(prog_name="suffice")
    except KeyboardInterrupt:  # while modules are imported; a command says it itself
        print("interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)
