"""``suffice sample``: rows drawn from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from suffice.cli.models import load_model, refuse_result
from suffice.cli.options import ModelFile, RowsAsJson, RowsFile, option
from suffice.cli.output import rows_to


def sample(
    *,
    model: ModelFile,
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, metavar="N", help="How many.")] = 10,
    seed: Annotated[int | None, option("N", "Of the random numbers.")] = None,
    output: RowsFile = None,
    as_json: RowsAsJson = False,
) -> None:
    """Draw rows from a model.

    A class from its prior, then every column given the class.

    Example: suffice sample spam.suffice -n 5 --seed 1
    """
    import pyarrow as pa

    refuse_result(output, [model])
    fitted = load_model(
        model, "it has no distribution of rows", "fit naive Bayes", "predict_joint_log_proba"
    )
    columns, labels = fitted.sample(rows, seed)
    cells = {**columns, fitted.reader_.layout.label or "label": labels}
    table = pa.table({name: pa.array(values.tolist()) for name, values in cells.items()})
    is_text = not as_json if output is None else output.suffix.lower() in (".csv", ".tsv")
    if is_text and fitted.reader_.format is not None:
        table = fitted.reader_.format.spelled(table)
    with rows_to(output, as_json) as write:
        write(table)
