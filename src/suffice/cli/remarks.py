"""What was found out about a table, said once when a command opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.cli.sentences import note

if TYPE_CHECKING:
    from suffice.data.table import Table

__all__ = ["remarked"]


def remarked(table: Table) -> Table:
    """Print how the files of a table were found to be written, where that is not as usual."""
    for remark in table.remarks:
        note(remark)
    return table
