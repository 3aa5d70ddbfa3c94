"""``suffice plan``: what several owners of rows agree in before they sum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from suffice.cli import options
from suffice.cli.models import refuse_result
from suffice.cli.options import option, output_file
from suffice.cli.output import deliver
from suffice.cli.values import NAIVE_BAYES

TEXTBOOK = ("numbers=gaussian", "calibration=none")  # which follows from sums


def plan(
    *,
    data: options.Data,
    label: Annotated[list[str], option("COL", "Column to predict.", "--label", "--target")],
    public: Annotated[list[Path], option("FILE", "Public key of an owner; three or more.")],
    output: Annotated[Path, output_file("The plan, in JSON.")],
    model: Annotated[
        str, option("NAME", "naive-bayes (textbook), lda, qda, linear or ridge.")
    ] = NAIVE_BAYES,
    parameters: options.Parameters = None,
    read: options.ReadAs = None,
    ignore: options.LeftOut = None,
    weight: options.Weight = None,
    as_json: options.AsJson = False,
) -> None:
    """Plan sums of several owners, of which nobody sees another's.

    The plan has the columns, labels and values of categories of DATA, and how
    large numbers are: no rows, and no counts. Rows of DATA may be made up.

    Example: suffice plan patients.csv --label outcome --public ulm.key.pub ...
    """
    from suffice.engines.engine import fit_context
    from suffice.owners import plan as planned

    refuse_result(output, [*data, *map(str, public)])
    columns = {"ignore": ignore}
    reading = options.Reading.of(read)
    own = {model: TEXTBOOK if model == NAIVE_BAYES else ()}
    (chosen,) = options.candidates(own, parameters, columns, reading)
    table = options.selected(reading.open(data), columns, label, weight)
    truth: Any = label if len(label) > 1 else label[0]
    with fit_context():
        found = planned(chosen.estimator, table, truth, public=public, sample_weight=weight)
    found.save(output)
    facts = {
        "plan": str(output),
        "digest": found.digest,
        "owners": list(found.owners),
        "columns": list(found.like.reader.layout.names),
    }
    told = "Every owner reads the plan, and sums with suffice sums --plan --key."
    deliver(facts, [found.table(), f"Saved to {output}. {told}"], as_json)
