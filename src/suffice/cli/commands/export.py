"""``suffice export``: a model in another language."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import suffice.export
from suffice.atomic import atomic_writer
from suffice.cli.messages import note
from suffice.cli.models import load_model, refuse_result
from suffice.cli.options import AsJson, ModelFile, option, output_file
from suffice.cli.output import deliver, standard_output
from suffice.cli.values import listed
from suffice.errors import ParameterError, library
from suffice.export.log_joint_terms import refusing_null

SQL = "SQL"


class Target(StrEnum):
    sql = "sql"
    json = "json"
    onnx = "onnx"


def export(
    *,
    model: ModelFile,
    to: Annotated[Target, option("LANGUAGE", "sql, json or onnx.")],
    output: Annotated[Path | None, output_file("Write to a file.")] = None,
    as_json: AsJson = False,
    dialect: Annotated[
        str | None, option("NAME", "duckdb, postgres, sqlite, spark, bigquery, ...", group=SQL)
    ] = None,
    table: Annotated[str | None, option("NAME", "The table that is read.", group=SQL)] = None,
    schema: Annotated[str | None, option("NAME", "Its schema.", group=SQL)] = None,
    keep: Annotated[list[str] | None, option("COL", "Beside the predictions.", group=SQL)] = None,
) -> None:
    """Export a model as SQL, JSON or an ONNX graph.

    None of them needs Python.

    Example: suffice export adult.suffice --to sql --dialect duckdb --table people
    """
    refuse_result(output, [model])
    needed = {"--dialect": dialect, "--table": table}
    others = {"--schema": schema, "--keep": keep}
    for name, value in {**needed, **others}.items():
        if to is Target.sql and name in needed and value is None:
            rule = "SQL is of a dialect and reads a table"
            raise ParameterError(f"{name} is not given", rule, f"add {name}")
        if to is not Target.sql and value:
            rule = f"it is an option of --to sql, not of {to}"
            raise ParameterError(f"{name} is given", rule, "leave it out")
    if to is Target.onnx and output is None:
        step = "add --output model.onnx"
        raise ParameterError("--output is not given", "an ONNX graph is no text", step)
    fitted: Any = load_model(model)
    refusing: list[str] = []
    if to is Target.sql:
        assert dialect is not None
        assert table is not None
        place = table if schema is None else (schema, table)
        content = suffice.export.to_sql(fitted, dialect, place, keep=listed(keep)).encode()
    elif to is Target.onnx:
        library("onnx", "--to onnx is given", "pip install 'suffice[onnx]'")
        content = suffice.export.to_onnx(fitted).SerializeToString()
    else:
        content = suffice.export.to_json(fitted).encode()
    if to is not Target.json:
        most = import_module(f"suffice.export.{to}").MOST_PRODUCTS
        refusing = list(refusing_null(suffice.export.log_joint(fitted), most))
    if refusing:
        none = "NULL" if to is Target.sql else "NaN"
        names = ", ".join(map(repr, refusing))
        note(f"a row with a {none} in {names} gets {none} for a prediction")
    if output is not None:
        with atomic_writer(output) as file:
            file.write(content)
    elif not as_json:
        with standard_output() as stream:
            stream.write(content.decode())
        return
    facts = {
        "model": str(model),
        "to": to.value,
        "output": None if output is None else str(output),
        "bytes": len(content),
        "content": content.decode() if output is None else None,
        "refuses_null": refusing,
    }
    deliver(facts, [f"Saved to {output}."], as_json)
