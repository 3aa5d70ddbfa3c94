"""What is said once of a table that a command opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from suffice.cli.messages.sentences import note
from suffice.cli.options.names import listed, no_such_column
from suffice.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from suffice.data.table import Table

__all__ = ["known_columns", "remarked", "unseen_columns"]

MOST_NAMED = 20


def remarked(table: Table) -> Table:
    """Print how the files of a table were found to be written, where that is not as usual."""
    for remark in table.remarks:
        note(remark)
    return table


def unseen_columns(table: Table, model: Any, ignore: Sequence[str] | None) -> Table:
    """The same table, but for columns that are not to be looked at: to the model, they are missing.

    Raises
    ------
    ParameterError
        If there is no such column, or it is the label or the weight, or none is left.
    """
    from suffice.data.table_views import WithoutCells, WithoutColumns

    names = listed(ignore)
    if not names:
        return table
    layout = model.layout_
    roles = {*model.target_names_, layout.label, layout.weight}
    for name in names:
        if name not in table.names or name in roles:
            raise no_such_column(
                "ignore", name, [known for known in table.names if known not in roles]
            )
    if set(table.names) <= set(names):
        raise ParameterError("--ignore names every column", "there is nothing left to look at")
    read = {column.name for column in layout.columns}
    other = tuple(name for name in names if name not in read)
    if other:
        table = WithoutColumns(table, other)
    empty = tuple(name for name in names if name in read)
    return WithoutCells(table, empty) if empty else table


def known_columns(
    table: Table,
    model: Any,
    *others: str | None,
    ignore: Sequence[str] | None = None,
    kept: Sequence[str] = (),
) -> Table:
    """The columns that a model reads or leaves out, and some others; say which are neither.

    Of those that are kept beside the answers, nothing is said.

    Raises
    ------
    SchemaError
        If the model reads none of them.
    """
    from suffice.data.table_views import WithoutColumns, left_out

    table = unseen_columns(table, model, ignore)
    layout = model.layout_
    columns = {column.name for column in layout.columns}
    known = {*columns, *model.target_names_, layout.label, layout.weight, *layout.ignored, *others}
    unknown = tuple(name for name in table.names if name not in known)
    if not unknown:
        return table
    if columns.isdisjoint(table.names):
        raise SchemaError(
            "the file has no column of the model",
            f"the model has {', '.join(repr(c.name) for c in layout.columns[:MOST_NAMED])}",
            "check the names, and how the file is written",
        )
    if said := [name for name in unknown if name not in kept]:
        note(left_out(said))
    return WithoutColumns(table, unknown)
