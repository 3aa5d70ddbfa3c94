"""``-r NAME=VALUE``: how files are written, and how labels are cleaned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.options.values import named_values, words_of
from suffice.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from suffice.data.csv.table import CsvFormat
    from suffice.data.table import Table

__all__ = ["LABELS", "ReadAs", "Reading", "reader_parameters"]

LABELS = ("label_suffix", "label_map")
ReadAs = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        "-r",
        metavar="NAME=VALUE",
        help="How the rows are read, as often as needed: separator, quote, header, names, missing, "
        "strip, decimal, thousands, written (such as day:DD/MM/YYYY), guess, skip_bad_rows, "
        "encoding, sheet, label_suffix, label_map (such as y:yes). By default as the first rows "
        "look, or as the model remembers.",
    ),
]


SWITCHES = ("header", "strip", "guess")


def reader_parameters() -> dict[str, bool]:
    """Return the parameters of the reader, and which of them are true or false."""
    from suffice.data.csv.table import CsvFormat

    known = [*(f.name for f in fields(CsvFormat)), "sheet", *LABELS]
    return {name: name in SWITCHES for name in known}


@dataclass(frozen=True)
class Reading:
    """How tables are read; what is not given is as the model remembers it.

    Parameters
    ----------
    text : mapping
        Fields of `CsvFormat`.
    sheet : str, optional
        Of a workbook.
    labels : mapping
        ``label_suffix`` and ``label_map``.
    words : sequence of str
        What a line says to read in the same way.
    """

    text: Mapping[str, Any] = field(default_factory=dict)
    sheet: str | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)
    words: Sequence[str] = ()

    @classmethod
    def of(cls, given: Sequence[str] | None) -> Reading:
        """Read the options of a command.

        Raises
        ------
        ParameterError
            If there is no such parameter of a reader.
        """
        if not given:
            return cls()
        found = named_values("-r", given, reader_parameters(), "the reader")
        for name in ("written", "label_map"):
            if not isinstance(found.get(name, {}), dict):
                raise ParameterError(
                    f"-r {name}={found[name]}",
                    "it is a name, a colon, and what stands for it",
                    f"write -r {name}={'day:DD/MM/YYYY' if name == 'written' else 'y:yes'}",
                )
        labels = {name: found.pop(name) for name in LABELS if name in found}
        sheet = found.pop("sheet", None)
        return cls(found, sheet, labels, words_of("-r", given))

    @property
    def missing(self) -> tuple[str, ...]:
        """Cells that stand for no value, besides those that always do."""
        return tuple(self.text.get("missing", ()))

    def open(self, data: Sequence[str], remembered: CsvFormat | None = None) -> Table:
        """Open files as one table, of which it is said how cells and labels are read.

        Raises
        ------
        ReadError, SchemaError
            If they cannot be read.
        ParameterError
            If an option is outside its rule, or does not apply to these files.
        """
        from suffice.data.table_views import CleanedTable

        table = self._opened(data, remembered)
        if not (self.missing or self.labels):
            return table
        return CleanedTable(table, self.missing, **self.labels)

    def _opened(self, data: Sequence[str], remembered: CsvFormat | None) -> Table:
        from suffice.data.csv.table import CsvFormat
        from suffice.data.file_formats import open_files
        from suffice.data.files.pipes import STANDARD_INPUT

        files = [STANDARD_INPUT if given == "-" else given for given in data]
        if self.sheet is not None:
            self._refuse_text(data[0])
            return open_files(files, sheet=self.sheet)
        before = remembered or CsvFormat()
        given = {**self.text, "missing": (*before.missing, *self.missing)}
        if "written" in given:
            given["written"] = dict(before.written) | given["written"]
        format = replace(before, **given)
        try:
            table = open_files(files, format)
        except ParameterError:
            # These files describe themselves; only the missing tokens still have a meaning.
            self._refuse_text(data[0])
            return open_files(files)
        for name in self.text.get("written", ()):
            if name not in table.names:
                raise SchemaError(
                    f"-r written names the column {name!r}",
                    f"the columns are {', '.join(map(repr, table.names))}",
                )
        return table

    def _refuse_text(self, file: str) -> None:
        """Refuse all that says how text is written, but for missing tokens."""
        for name in self.text:
            if name != "missing":
                raise ParameterError(
                    f"-r {name} is given for {file}",
                    "only delimited text needs to be told how it is written",
                    "leave the option out",
                ) from None
