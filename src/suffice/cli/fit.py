"""``suffice fit``: learn a model from files."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

import suffice
from suffice.cli.options import AsJson, Data, Labels, Reading, Weight, listed
from suffice.cli.output import amount, deliver, grid, percent, refuse_overwriting, working
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.data.table import Table
    from suffice.models.estimator import GenerativeClassifier

__all__ = ["fit", "schema_grid"]

COLUMNS, MODEL = "Columns", "Model"


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
        chosen: dict[str | tuple[str, ...], str] = {}
        for family in ("gaussian", "categorical", "poisson", "bernoulli"):
            chosen |= dict.fromkeys(listed(getattr(self, family)), family)
        chosen |= dict.fromkeys(listed(self.text), "multinomial")
        return chosen | {listed([group]): "multinomial" for group in self.multinomial or ()}

    def check(self, names: tuple[str, ...], label: str) -> None:
        """Refuse a column that is not there, is the label, or is named twice.

        Raises
        ------
        ParameterError
            Naming the option and the column.
        """
        before = {label: "label"}
        for field in fields(self):
            for name in listed(getattr(self, field.name)):
                if name not in names:
                    raise ParameterError(
                        f"--{field.name} names the column {name!r}",
                        f"the columns are {', '.join(map(repr, names))}",
                    )
                if name in before:
                    raise ParameterError(
                        f"the column {name!r} is given to --{before[name]} and to --{field.name}",
                        "a column has one part to play",
                        "drop one of them",
                    )
                before[name] = field.name


@dataclass(frozen=True, kw_only=True)
class Estimation:
    """How parameters follow from the sums."""

    estimation: Annotated[
        str,
        typer.Option(
            metavar="bayes|mle|map",
            help="Posterior predictive, maximum likelihood or posterior mode.",
            rich_help_panel=MODEL,
        ),
    ] = "bayes"
    alpha: Annotated[
        float,
        typer.Option(help="Pseudo-count of every category and word.", rich_help_panel=MODEL),
    ] = 1.0
    class_prior: Annotated[
        str,
        typer.Option(
            metavar="empirical|smoothed|uniform",
            help="P(class): as in the rows, with a pseudo-count, or equal.",
            rich_help_panel=MODEL,
        ),
    ] = "empirical"
    ddof: Annotated[
        int,
        typer.Option(help="Variances are divided by n - ddof (mle).", rich_help_panel=MODEL),
    ] = 0
    unseen: Annotated[
        str,
        typer.Option(
            metavar="ignore|error|smooth",
            help="A category at prediction that no row showed.",
            rich_help_panel=MODEL,
        ),
    ] = "ignore"
    threads: Annotated[
        int | None, typer.Option(help="Default: all cores.", rich_help_panel=MODEL)
    ] = None

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def fit(
    *,
    data: Data,
    label: Annotated[
        str, typer.Option(metavar="COL", help="The column to be predicted.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The model file; by default named after the first data file."
        ),
    ] = None,
    weight: Weight = None,
    as_json: AsJson = False,
    roles: Roles,
    reading: Reading,
    labels: Labels,
    estimation: Estimation,
) -> None:
    """Learn a model from files and keep it in one small file.

    Every column gets the family that its cells suggest, and the reason is
    shown. A missing cell is left out, never filled in.
    """
    refuse_overwriting(output, data)
    table = _selected(reading.open(data), roles, label)
    model = suffice.NaiveBayes(
        roles.families() or None,
        missing=tuple(reading.missing or ()),
        **labels.parameters(),
        **estimation.parameters(),
    )
    with working(f"Learning from {', '.join(data)}"):
        model.fit(table, label, weight)
    target = output or _named_after(data[0])
    model.save(target)
    facts = _facts(model, target)
    deliver(facts, lambda: _rendered(facts, model), as_json, None)


def _selected(table: Table, roles: Roles, label: str) -> Table:
    from suffice.data.selected import WithoutColumns

    roles.check(table.names, label)
    ignored = listed(roles.ignore)
    return WithoutColumns(table, ignored) if ignored else table


def _named_after(data: str) -> Path:
    """``model.suffice`` in the working directory, for the first file called ``model.csv.gz``."""
    first = Path(min(glob.glob(data, recursive=True), default=data))
    return Path(Path(first.name.removesuffix(".gz")).stem + ".suffice")


def _facts(model: GenerativeClassifier, target: Path) -> dict[str, Any]:
    statistic = model.statistic_
    return {
        "model": str(target),
        "rows": float(statistic.weight.value.sum()),
        "unlabelled": float(statistic.unlabelled.value),
        "label": model.layout_.label,
        "weight": model.layout_.weight,
        "classes": [
            {"label": name, "rows": float(rows), "prior": float(prior)}
            for name, rows, prior in zip(
                statistic.classes.values, statistic.weight.value, model.model_.prior, strict=True
            )
        ],
        "columns": [
            {"name": c.name, "kind": c.kind, "family": family, "reason": c.reason}
            for c, family in _modelled(model)
        ],
        "ignored": list(model.layout_.ignored),
    }


def _modelled(model: GenerativeClassifier) -> list[tuple[Any, str]]:
    """Every column with the name of its family."""
    families = {name: part.family.name for part in model.parts_ for name in part.layout.columns}
    return [(column, families[column.name]) for column in model.schema_]


def _rendered(facts: dict[str, Any], model: GenerativeClassifier) -> Iterator[RenderableType]:
    yield schema_grid(model)
    if facts["ignored"]:
        yield f"  ignored: {', '.join(facts['ignored'])}\n"
    classes = grid(f"{facts['label']}", "rows", "prior")
    for known in facts["classes"]:
        classes.add_row(str(known["label"]), amount(known["rows"]), percent(known["prior"]))
    yield classes
    noun = f"total weight ({facts['weight']})" if facts["weight"] else "rows learnt"
    yield f"  {amount(facts['rows'])} {noun}, {amount(facts['unlabelled'])} left out without label"
    yield f"  Saved to {facts['model']}"


def schema_grid(model: GenerativeClassifier) -> RenderableType:
    """What the schema decided for every column, and why."""
    table = grid("column", "kind", "family", "seen in the first rows", numbers=False)
    for column, family in _modelled(model):
        table.add_row(column.name, column.kind, family, column.reason)
    return table
