"""The command line: one file per command."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that ``sys.argv`` names."""
    from suffice.cli.app import app

    app(prog_name="suffice")
