"""The command line: its commands, their options, what they print, and what they say of errors."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that ``sys.argv`` names."""
    from suffice.cli.app import app

    app(prog_name="suffice")
