"""What is said once of a table that a command opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.cli.messages.sentences import note

if TYPE_CHECKING:
    from suffice.data.table import Table

__all__ = ["known_columns", "remarked"]


def remarked(table: Table) -> Table:
    """Print how the files of a table were found to be written, where that is not as usual."""
    for remark in table.remarks:
        note(remark)
    return table


def known_columns(table: Table, model: Any, *others: str | None) -> Table:
    """The columns that a model reads or leaves out, and some others; say which are neither."""
    from suffice.data.table_views import WithoutColumns

    layout = model.layout_
    columns = {column.name for column in layout.columns}
    known = {*columns, *model.target_names_, layout.label, layout.weight, *layout.ignored, *others}
    unknown = tuple(name for name in table.names if name not in known)
    if not unknown:
        return table
    listed = ", ".join(map(repr, unknown))
    note(f"left out, as the model does not know {'it' if len(unknown) == 1 else 'them'}: {listed}")
    return WithoutColumns(table, unknown)
