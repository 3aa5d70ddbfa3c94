"""A directive that shows all options of a command: what ``suffice COMMAND --help`` prints."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner

from suffice.cli.app import app

__all__ = ["CommandHelp"]


class CommandHelp(SphinxDirective):
    """``{command-help} fit``."""

    required_arguments = 1

    def run(self) -> list[Any]:
        """Run the command's help."""
        done = CliRunner().invoke(app, [self.arguments[0], "--help"], prog_name="suffice")
        if done.exit_code:
            raise self.error(done.output)
        printed = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
        return [nodes.literal_block(printed, printed, language="text")]
