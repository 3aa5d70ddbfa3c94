"""Rows for programs: one JSON document on standard output, written as the rows come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli.output.tables import deliver, plain, standard_output

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["deliver_rows"]


@dataclass
class _Passed:
    """What has passed by: the columns, the rows, and how many have an empty first cell."""

    empty_as: str | None
    columns: list[str] = field(default_factory=list)
    rows: int = 0
    empty: int = 0

    def by(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for table in tables:
            self.columns = list(table.column_names)
            self.rows += table.num_rows
            self.empty += table.column(0).null_count
            yield table

    @property
    def counts(self) -> dict[str, int]:
        return {"rows": self.rows} | ({self.empty_as: self.empty} if self.empty_as else {})


def deliver_rows(
    facts: Mapping[str, Any],
    name: str,
    tables: Iterable[pa.Table],
    opened: Callable[[], Any],
    output: Path | None,
    empty_as: str | None = None,
) -> None:
    """Print facts as JSON, with the rows under a name; these go to a file if there is one.

    Parameters
    ----------
    facts : mapping
        What is known before the first row.
    name : str
        Of the entry that lists the rows.
    tables : iterable of pyarrow.Table
        The rows, a part at a time: memory does not grow with them.
    opened : callable
        Opens the file, as `suffice.cli.output.prediction_files.opener` has it.
    output : Path, optional
    empty_as : str, optional
        The name of an entry that counts the rows whose first cell is empty.
    """
    passed = _Passed(empty_as)
    if output is None:
        _print(facts, name, passed, tables)
        return
    with opened() as write:
        for table in passed.by(tables):
            write(table)
    found = {"columns": passed.columns, **passed.counts}
    deliver({**facts, "output": str(output), **found}, list, True, None)


def _print(
    facts: Mapping[str, Any], name: str, passed: _Passed, tables: Iterable[pa.Table]
) -> None:
    """Print one document, a row in a line."""
    line = None  # which is printed when it is known what follows
    for table in passed.by(tables):
        if line is None:
            head = _text({**facts, "output": None, "columns": passed.columns}, indent=2)
            _say(f"{head[:-2]},\n  {json.dumps(name)}: [\n")
            line = ""
        for row in table.to_pylist():
            _say(line and f"{line},\n")
            line = f"    {_text(row)}"
    _say((f"{line}\n" if line else "") + "  ],\n" + _text(passed.counts, indent=2)[2:] + "\n")


def _say(text: str) -> None:
    with standard_output() as stream:
        stream.write(text)


def _text(value: Any, indent: int | None = None) -> str:
    return json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
