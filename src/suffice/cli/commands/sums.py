"""``suffice sums``: the sums that models are fitted from, without the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from suffice.cli import options
from suffice.cli.models import refuse_result
from suffice.cli.options import option, output_file
from suffice.cli.output import deliver
from suffice.cli.values import listed
from suffice.errors import ParameterError
from suffice.phrases import amount


def sums(
    *,
    data: options.Data,
    label: options.Targets = None,
    output: Annotated[Path, output_file("File of sums.")],
    model: Annotated[
        str | None, option("NAME", "Whose sums: lda, ridge, ... (default: as fit).")
    ] = None,
    parameters: options.Parameters = None,
    read: options.ReadAs = None,
    features: options.Features = None,
    ignore: options.LeftOut = None,
    categorical: options.Categorical = None,
    text: options.Text = None,
    weight: options.Weight = None,
    by: Annotated[
        list[str] | None, option("COL", "Sum rows by these columns, no features.")
    ] = None,
    plan: Annotated[Path | None, option("FILE", "Mask the sums, as several owners agreed.")] = None,
    key: Annotated[Path | None, option("FILE", "Private key, with --plan.")] = None,
    engine: options.Engine = None,
    as_json: options.AsJson = False,
) -> None:
    """Sum the rows of files; a model is fitted to sums as it is to rows.

    With --plan and --key the file is random numbers to everybody who has not the
    files of all other owners; label, model and columns are those of the plan.

    Example: suffice sums patients.csv --plan plan.json --key ulm.key -o ulm.masked
    """
    columns = {"features": features, "ignore": ignore, "categorical": categorical, "text": text}
    refuse_result(output, [*data, *(path for path in (plan, key) if path is not None)])
    reading = options.Reading.of(read)
    given: dict[str, Any] = {"--label": label, "--model": model}
    given |= {"--parameter": parameters, "--weight": weight, "--by": by}
    given |= {f"--{name}": value for name, value in columns.items()}
    with options.running(engine, f"Summing {', '.join(data)}"):
        if plan is not None or key is not None:
            found = _masked(data, reading, plan, key, given)
            facts = {"masked": str(output), "plan": found.plan, "owner": found.owner}
            said = f"Masked under the plan {found.plan[:8]}. Saved to {output}"
        else:
            if not label:
                raise ParameterError(
                    "--label is not given", "sums are by label, or of targets", "name the column"
                )
            keys = listed(by)
            table = options.selected(reading.open(data), columns, label, weight, *keys)
            model = model or options.suited(table, label)
            (chosen,) = options.candidates({model: ()}, parameters, columns, reading)
            if not hasattr(chosen.estimator, "sums"):
                rule = "it is fitted by repeated passes over the rows"
                raise ParameterError(f"--model {model} has no sums", rule, "choose another model")
            truth = label if len(label) > 1 else label[0]
            found = chosen.estimator.sums(table, truth, weight, by=keys or None)
            facts = {"sums": str(output), "by": list(keys), "groups": len(found)}
            facts["rows"] = float(found.rows.sum())
            groups = f" in {len(found):,} groups" if keys else ""
            said = f"The sums of {amount(facts['rows'])} rows{groups}. Saved to {output}"
    found.save(output)
    deliver(facts, [said], as_json)


def _masked(
    data: options.Data,
    reading: options.Reading,
    plan: Path | None,
    key: Path | None,
    given: dict[str, Any],
) -> Any:
    from suffice.owners import Plan, masked_sums

    if plan is None or key is None:
        raise ParameterError(
            f"{'--key' if plan is None else '--plan'} is given alone",
            "a plan says what is summed, and a key masks it",
            f"add {'--plan' if plan is None else '--key'}",
        )
    for name in [name for name, value in given.items() if value]:
        raise ParameterError(
            f"{name} is given with --plan", "it stands in the plan", "leave it out"
        )
    agreed = Plan.load(plan)
    table = reading.open(data, agreed.like.reader.format)
    return masked_sums(table, plan=agreed, key=key)
