"""The options of ``suffice fit`` that say what columns are, and which of them are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Annotated

import typer

from suffice.cli.options.names import listed, no_such_column
from suffice.errors import ParameterError

__all__ = ["COLUMNS", "FAMILIES", "Roles"]

COLUMNS = "Columns"
FAMILIES = ("gaussian", "categorical", "poisson", "bernoulli")
"""Families that an option is named after."""


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What the user knows better than the first rows tell; names may be comma lists."""

    gaussian: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Real numbers.", rich_help_panel=COLUMNS),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Categories.", rich_help_panel=COLUMNS),
    ] = None
    poisson: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Whole numbers, counted.", rich_help_panel=COLUMNS),
    ] = None
    bernoulli: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Yes or no.", rich_help_panel=COLUMNS),
    ] = None
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY=A,B",
            help="Any family by its name; one that is joint models the columns together.",
            rich_help_panel=COLUMNS,
        ),
    ] = None
    multinomial: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,C",
            help="Counts that share one total; list them together.",
            rich_help_panel=COLUMNS,
        ),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Text: its words are counted.", rich_help_panel=COLUMNS),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Left out of the model.", rich_help_panel=COLUMNS),
    ] = None

    def families(self) -> dict[str | tuple[str, ...], str]:
        """The families chosen, by column or group of columns."""
        from suffice.families import family_named

        chosen: dict[str | tuple[str, ...], str] = {}
        for family in FAMILIES:
            chosen |= dict.fromkeys(listed(getattr(self, family)), family)
        for name, columns in self._by_family():
            joint = family_named(name).joint
            chosen |= {columns: name} if joint else dict.fromkeys(columns, name)
        chosen |= dict.fromkeys(listed(self.text), "multinomial")
        return chosen | {listed([group]): "multinomial" for group in self.multinomial or ()}

    def check(self, names: tuple[str, ...], label: Sequence[str]) -> None:
        """Refuse a column that is not there, is a label, or is named twice.

        Raises
        ------
        ParameterError
            Naming the option and the column.
        """
        before = dict.fromkeys(label, "label")
        for field in fields(self):
            for name in self._columns(field.name):
                if name not in names:
                    raise no_such_column(field.name, name, names)
                if name in before:
                    raise ParameterError(
                        f"the column {name!r} is given to --{before[name]} and to --{field.name}",
                        "a column has one part to play",
                        "drop one of them",
                    )
                before[name] = field.name

    def _columns(self, option: str) -> tuple[str, ...]:
        """The columns that an option names."""
        if option == "family":
            return tuple(name for _, columns in self._by_family() for name in columns)
        return listed(getattr(self, option))

    def _by_family(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The names of families that have no option of their own, with their columns."""
        for given in self.family or ():
            name, _, columns = given.partition("=")
            if not columns:
                raise ParameterError(
                    f"--family {given!r} names no column",
                    "it is the name of a family, =, and its columns",
                    f"write --family {name}=COL",
                )
            yield name.strip(), listed([columns])
