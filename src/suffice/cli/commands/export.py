"""``suffice export``: a model in another language."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import suffice.export
from suffice.atomic import atomic_writer
from suffice.cli.messages.sentences import note
from suffice.cli.options.models import load
from suffice.cli.options.names import listed
from suffice.cli.options.shared import AsJson, ModelFile
from suffice.cli.output.tables import deliver, refuse_result, standard_output
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.cli.documents import Exported

__all__ = ["export"]


class Target(StrEnum):
    """What an export can be written in."""

    sql = "sql"
    json = "json"
    onnx = "onnx"


def export(
    model: ModelFile,
    to: Annotated[Target, typer.Option(help="The language.", show_default=False)],
    dialect: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of SQL: duckdb, postgres, sqlite, spark, bigquery, ..."),
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table that the SQL reads.")
    ] = None,
    schema: Annotated[
        str | None, typer.Option(metavar="NAME", help="The schema that the table is in.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Carried over to the answers, such as a key."),
    ] = None,
    contributions: Annotated[
        bool, typer.Option(help="Add what every column contributes to every class.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to a file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a model in another language: SQL, JSON or an ONNX graph."""
    refuse_result(output, [model])
    of_sql = {"--dialect": dialect, "--table": table}
    if to is Target.sql:
        for option, value in of_sql.items():
            if value is None:
                raise ParameterError(
                    f"{option} is not given",
                    "SQL is of a dialect and reads a table",
                    f"add {option}",
                )
    else:
        others = {"--schema": schema, "--keep": keep, "--contributions": contributions}
        for option, given in (of_sql | others).items():
            if given:
                raise ParameterError(
                    f"{option} is given",
                    f"it is an option of --to sql, not of {to}",
                    "leave it out",
                )
    if to is Target.onnx and output is None:
        raise ParameterError(
            "--output is not given", "an ONNX graph is no text", "add --output model.onnx"
        )
    fitted = load(model)
    if to is Target.sql:
        assert dialect is not None
        assert table is not None
        content = _sql(fitted, dialect, table, schema, listed(keep), contributions).encode()
    elif to is Target.onnx:
        content = _writer("onnx", "onnx", "onnx")(fitted).SerializeToString()
    else:
        content = getattr(suffice.export, f"to_{to}")(fitted).encode()
    if output is not None:
        with atomic_writer(output) as file:
            file.write(content)
    elif not as_json:
        with standard_output() as stream:
            stream.write(content.decode())
        return
    facts: Exported = {
        "model": str(model),
        "to": to.value,
        "output": None if output is None else str(output),
        "bytes": len(content),
        "content": content.decode() if output is None else None,
        "refuses_null": list(suffice.export.log_joint(fitted).refusing) if to is Target.sql else [],
    }
    deliver(facts, lambda: [f"Saved to {output}."], as_json, None)


def _sql(
    fitted: Any, dialect: str, table: str, schema: str | None, keep: Any, contributions: bool
) -> str:
    place = table if schema is None else (schema, table)
    write = _writer("sql", "sqlglot", "export")
    text: str = write(fitted, dialect, place, keep=keep, contributions=contributions)
    if refusing := suffice.export.log_joint(fitted).refusing:
        note(f"a row with a NULL in {', '.join(map(repr, refusing))} gets NULL for an answer")
    return text


def _writer(target: str, library: str, extra: str) -> Any:
    """The function that writes in a language by means of an optional library."""
    try:
        return getattr(suffice.export, f"to_{target}")
    except ModuleNotFoundError as error:
        raise ParameterError(
            f"{library}, which writes {target.upper()}, is not installed",
            "it is an optional library",
            f"pip install 'suffice[{extra}]'",
        ) from error
