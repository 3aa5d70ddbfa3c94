"""Options that several commands share, and how a command takes them as one record."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from suffice.cli.options.names import listed
from suffice.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from suffice.data.csv.table import CsvFormat
    from suffice.data.table import Table

__all__ = [
    "CSV_WORDS",
    "AsJson",
    "Data",
    "Ignore",
    "Labels",
    "ModelFile",
    "Reading",
    "ResultFile",
    "RowsAsJson",
    "Weight",
    "flag",
    "typed",
    "with_groups",
]

CSV_WORDS: dict[str, dict[str, str | None]] = {
    "separator": {"tab": "\t", r"\t": "\t"},
    "quote": {"none": None},
}
"""Words that stand for values of its fields."""

READING, LABELS = "How the data is written", "Labels"

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files, folders, globs or addresses: delimited text (also .gz), Parquet, Arrow, "
        "Excel, ARFF, JSON; - for standard input.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that fit wrote.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
RowsAsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON: the rows too, unless they go to a file."),
]
ResultFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the result to a file, as JSON.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="Not looked at; a column of the model counts as missing. May be comma lists; "
        "a name with a comma stands in quotes: '\"price, net\",day'.",
    ),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COL", help="The column that says how much a row weighs.")
]


def flag(name: str) -> str:
    """The flag of an option.

    Examples
    --------
    >>> flag("class_prior")
    '--class-prior'
    """
    return f"--{name.replace('_', '-')}"


def typed(options: Any) -> list[str]:
    """The words of a record of options, or a mapping by name, as the user would type them again.

    Examples
    --------
    >>> typed({"header": False, "ignore": ["id", "day"], "alpha": 0.5, "names": None})
    ['--no-header', '--ignore', 'id', '--ignore', 'day', '--alpha', '0.5']
    """
    if is_dataclass(options):
        options = {field.name: getattr(options, field.name) for field in fields(options)}
    words: list[str] = []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(flag(name) if value else flag(f"no_{name}"))
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (flag(name), str(one))]
        elif value is not None:
            words += [flag(name), str(value)]
    return words


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How delimited text is written; what is not given is as the model remembers it."""

    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first row holds the column names; by default as it looks.",
            rich_help_panel=READING,
        ),
    ] = None
    names: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Column names, in order.", rich_help_panel=READING),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="CHAR",
            help="Between fields; 'tab' for a tab; by default as the first rows have it.",
            rich_help_panel=READING,
        ),
    ] = None
    quote: Annotated[
        str | None,
        typer.Option(
            metavar="CHAR", help="Around fields; 'none' for none.", rich_help_panel=READING
        ),
    ] = None
    strip: Annotated[
        bool | None,
        typer.Option(
            "--strip/--no-strip", help="Remove blanks around fields.", rich_help_panel=READING
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="Before decimals.", rich_help_panel=READING),
    ] = None
    thousands: Annotated[
        str | None,
        typer.Option(
            metavar="CHAR", help="Between groups of three digits.", rich_help_panel=READING
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN",
            help="A cell that stands for no value, besides the empty one, NA, NaN, null, None.",
            rich_help_panel=READING,
        ),
    ] = None
    written: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=HOW",
            help="How cells are written: text, $1, 1%, DD/MM/YYYY, MM/DD/YYYY, YYYY-MM-DD HH:MM.",
            rich_help_panel=READING,
        ),
    ] = None
    guess: Annotated[
        bool | None,
        typer.Option(
            "--guess/--no-guess",
            help="Look for dates and for numbers such as $10 in the first table.",
            rich_help_panel=READING,
        ),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of a workbook: the name of the sheet, or its place from 1.",
            rich_help_panel=READING,
        ),
    ] = None
    skip_bad_rows: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Leave out up to N lines of malformed rows, with a warning.",
            rich_help_panel=READING,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Such as latin-1 or utf-16.", rich_help_panel=READING),
    ] = None

    def open(self, data: Sequence[str], remembered: CsvFormat | None = None) -> Table:
        """Open files as one table.

        Raises
        ------
        ReadError, SchemaError
            If they cannot be read.
        ParameterError
            If an option is outside its rule, or does not apply to these files.
        """
        from suffice.data.file_formats import open_files
        from suffice.data.files.pipes import STANDARD_INPUT

        files = [STANDARD_INPUT if given == "-" else given for given in data]
        format = self._format(remembered)
        if self.sheet is not None:
            self._refuse_given(data[0])
        try:
            table = open_files(files, None if self.sheet else format, sheet=self.sheet)
            self._check_written(table)
            return table
        except ParameterError:
            if self.sheet is not None:
                raise
            # These files describe themselves; only the missing tokens still have a meaning.
            self._refuse_given(data[0])
            return open_files(files)

    def _check_written(self, table: Table) -> None:
        for name, _ in map(_notation, self.written or ()):
            if name not in table.names:
                raise SchemaError(
                    f"--written names the column {name!r}",
                    f"the columns are {', '.join(map(repr, table.names))}",
                )

    def _refuse_given(self, file: str) -> None:
        """Refuse all that says how text is written, but for missing tokens."""
        for name in self._given():
            if name != "missing":
                raise ParameterError(
                    f"{flag(name)} is given for {file}",
                    "only delimited text needs to be told how it is written",
                    "leave the option out",
                ) from None

    def _given(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        del values["sheet"]
        return {name: value for name, value in values.items() if value is not None}

    def _format(self, remembered: CsvFormat | None) -> CsvFormat:
        from suffice.data.csv.table import CsvFormat

        before = remembered or CsvFormat()
        given = self._given()
        if "names" in given:
            given["names"] = listed([given["names"]])
        for name, words in CSV_WORDS.items():
            if name in given:
                given[name] = words.get(given[name], given[name])
        given["missing"] = (*before.missing, *given.get("missing", ()))
        if "written" in given:
            given["written"] = dict(before.written) | dict(map(_notation, given["written"]))
        return replace(before, **given)


@dataclass(frozen=True, kw_only=True)
class Labels:
    """How labels are cleaned before they count as classes."""

    label_suffix: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Taken off the end of every label.", rich_help_panel=LABELS
        ),
    ] = None
    label_map: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Another name of a label.", rich_help_panel=LABELS),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator that these options change.

        Raises
        ------
        ParameterError
            If a new name is not written as OLD=NEW.
        """
        changed: dict[str, Any] = {}
        if self.label_suffix is not None:
            changed["label_suffix"] = self.label_suffix
        if self.label_map:
            changed["label_map"] = dict(_pair(given) for given in self.label_map)
        return changed


def _notation(given: str) -> tuple[str, str]:
    column, sign, spelling = given.rpartition("=")
    if not (column and sign and spelling):
        raise ParameterError(
            f"--written {given!r}",
            "it is written COL=HOW",
            "for example --written day=DD/MM/YYYY or --written code=text",
        )
    return column, spelling


def _pair(given: str) -> tuple[str, str]:
    old, sign, new = given.partition("=")
    if not (old and sign and new):
        raise ParameterError(
            f"--label-map {given!r}",
            "a new name is written OLD=NEW",
            "for example --label-map y=yes",
        )
    return old, new


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let every field of a record among the parameters of a command be an option of its own.

    Parameters
    ----------
    command : callable
        Takes records such as `Reading` beside ordinary parameters.

    Returns
    -------
    callable
        The same command with the options spread out, as Typer wants them.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    spread = [
        option
        for given in signature(command).parameters.values()
        for option in _spread(given, hints[given.name])
    ]

    @functools.wraps(command)
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        command(**given)

    flat.__signature__ = Signature(spread)  # type: ignore[attr-defined]
    flat.__annotations__ = {option.name: option.annotation for option in spread}
    return flat


def _spread(given: Parameter, hint: Any) -> list[Parameter]:
    if not is_dataclass(hint):
        return [given.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint)]
    hints = get_type_hints(hint, include_extras=True)
    return [
        Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(hint)
    ]
