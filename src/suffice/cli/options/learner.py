"""The estimators, and the table, that the options of a command stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.options.names import listed, no_such_column
from suffice.cli.options.reading import Reading
from suffice.cli.options.recipes import (
    MODELS,
    OF_FAMILIES,
    REGRESSIONS,
    class_of,
    parameters_of,
    takes,
)
from suffice.cli.options.values import named_values, value_of, words_of
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.data.table import Table

__all__ = ["GRIDS", "Columns", "Point", "estimator_of", "parameters_for", "points_of", "selected"]

COLUMNS = "Columns; names may be comma lists"
SHRINKAGE = "shrinkage=0,0.001,0.01,0.1,0.3,0.6,0.9"
PENALTY = "alpha=0.0001,0.001,0.01,0.1,1,10,100"
GRIDS = {
    "naive-bayes": ["alpha=0.001,0.01,0.1,0.5,1,2,5,10"],
    "lda": [SHRINKAGE],
    "qda": [SHRINKAGE],
    "ridge": [f"{PENALTY},1000,10000"],
    "lasso": [PENALTY],
    "elastic-net": [PENALTY, "l1_ratio=0.2,0.5,0.8"],
    "logistic": ["C=0.001,0.01,0.1,1,10,100,1000"],
}
"""The points that ``fit --tune`` tries, as ``cv --grid`` takes them."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns are used, and what the user knows better than the first rows tell."""

    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="Predict from these columns only.", rich_help_panel=COLUMNS
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Left out of the model.", rich_help_panel=COLUMNS),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Categories.", rich_help_panel=COLUMNS),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Text: its words are counted.", rich_help_panel=COLUMNS),
    ] = None

    def check(self, names: Sequence[str], label: Sequence[str]) -> None:
        """Refuse a column that is not there, is a label, or is named twice.

        Raises
        ------
        ParameterError
            Naming the option and the column.
        """
        before = dict.fromkeys(label, "label")
        for option in ("ignore", "categorical", "text"):
            for name in listed(getattr(self, option)):
                if name not in names:
                    raise no_such_column(option, name, names)
                if name in before:
                    raise ParameterError(
                        f"the column {name!r} is given to --{before[name]} and to --{option}",
                        "a column has one part to play",
                        "drop one of them",
                    )
                before[name] = option

    def parameters(self, model: str, models: Sequence[str]) -> dict[str, Any]:
        """Return the parameters of a model that say which columns are categories and texts.

        What only others of the models have is left out.

        Raises
        ------
        ParameterError
            If none of the models has such a parameter.
        """
        found: dict[str, Any] = {}
        for option, family in (("categorical", "categorical"), ("text", "multinomial")):
            names = listed(getattr(self, option))
            if not names:
                continue
            if model in OF_FAMILIES:
                found["families"] = found.get("families", {}) | dict.fromkeys(names, family)
            elif option in parameters_of(model):
                found[option] = names
            elif not any(m in OF_FAMILIES or option in parameters_of(m) for m in models):
                owners = [m for m in MODELS if m in OF_FAMILIES or option in parameters_of(m)]
                raise ParameterError(
                    f"--{option} is given for --model {model}",
                    f"it belongs to --model {', '.join(owners)}",
                    "leave the option out, or choose another model",
                )
        return found


@dataclass(frozen=True)
class Point:
    """A model with values of its parameters.

    Parameters
    ----------
    name : str
        For tables: the model and its point of a grid; the point alone where there is one model.
    model : str
        One of `MODELS`.
    parameters : mapping of str to object
    words : sequence of str
        What a line says of it: ``-p`` and ``NAME=VALUE``, as they were given.
    """

    name: str
    model: str
    parameters: Mapping[str, Any]
    words: Sequence[str]


def parameters_for(
    model: str, given: Sequence[str] | None, models: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of a model, and the words of a line that say so.

    What only others of the models have is left out.

    Raises
    ------
    ParameterError
        If no model has such a parameter.

    Examples
    --------
    >>> parameters_for("ridge", ["alpha=0.5"], ["ridge"])
    ({'alpha': 0.5}, ['-p', 'alpha=0.5'])
    """
    known = parameters_of(model)
    mine = [
        one
        for one in given or ()
        if _takes(model, one) or not any(_takes(other, one) for other in models)
    ]
    for one in mine:
        if _name(one) in known:
            continue
        if owners := [other for other in MODELS if _name(one) in parameters_of(other)]:
            raise ParameterError(
                f"-p {one} is given for --model {model}",
                f"it belongs to --model {', '.join(owners)}",
                "leave the option out, or choose another model",
            )
    words = words_of("-p", mine)
    return named_values("-p", mine, known, class_of(model).__name__), words


def _name(given: str) -> str:
    return given.partition("=")[0].strip().replace("-", "_")


def _takes(model: str, given: str) -> bool:
    name = _name(given)
    return takes(model, name, value_of(name, given.partition("=")[2]))


def points_of(
    models: Sequence[str], given: Sequence[str] | None, grid: Sequence[str]
) -> Iterator[Point]:
    """Yield every model with every value of those parameters of the grid that it has.

    Parameters
    ----------
    models : sequence of str
        Of `MODELS`.
    given : sequence of str
        ``NAME=VALUE`` of parameters that all have which know them.
    grid : sequence of str
        Such as ``alpha=0.1,1,10``.

    Raises
    ------
    ParameterError
        If a line of the grid is not written like this, or no model has the parameter.

    Examples
    --------
    >>> [point.name for point in points_of(["naive-bayes", "lda"], [], ["alpha=0.1,1"])]
    ['naive-bayes alpha=0.1', 'naive-bayes alpha=1', 'lda']
    """
    axes = []
    for line in grid:
        name, sign, values = line.partition("=")
        name = _name(name)
        if not (sign and values.strip()):
            step = "write --grid alpha=0.1,1,10"
            raise ParameterError(f"--grid {line!r}", "it is a parameter, =, and its values", step)
        if not any(name in parameters_of(model) for model in models):
            owners = ", ".join(model for model in MODELS if name in parameters_of(model))
            raise ParameterError(
                f"--grid names {name!r}, which no model here has",
                f"it belongs to --model {owners}" if owners else "it is a parameter of no model",
                "see suffice fit --model NAME --help",
            )
        axes.append((name, [value.strip() for value in values.split(",")]))
    for model in models:
        parameters, words = parameters_for(model, given, models)
        mine = [
            (name, own)
            for name, values in axes
            if name in parameters_of(model)
            and (own := [one for one in values if _takes(model, f"{name}={one}")] or values)
        ]
        for chosen in product(*(values for _, values in mine)):
            point = dict(zip((name for name, _ in mine), chosen, strict=True))
            said = [f"{name}={value}" for name, value in point.items()]
            yield Point(
                " ".join(said if said and len(models) == 1 else [model, *said]),
                model,
                parameters | {name: value_of(name, value) for name, value in point.items()},
                [*words, *words_of("-p", said)],
            )


def estimator_of(
    model: str,
    parameters: Mapping[str, Any],
    columns: Columns,
    reading: Reading,
    models: Sequence[str] = (),
) -> Any:
    """Return the estimator of a model.

    Raises
    ------
    ParameterError
        If an option belongs to other models.
    """
    told = columns.parameters(model, models or [model])
    if isinstance(parameters.get("families"), Mapping) and "families" in told:
        told["families"] = {**parameters["families"], **told["families"]}
    if reading.labels and model in REGRESSIONS:
        raise ParameterError(
            f"-r {next(iter(reading.labels))} is given for --model {model}",
            "it predicts numbers, which have no other names",
            "leave the option out, or choose another model",
        )
    return class_of(model)(**{**parameters, **told})


def selected(table: Table, columns: Columns, label: Sequence[str], *others: str | None) -> Table:
    """Return the columns that are features, labels, or others such as weights.

    Raises
    ------
    ParameterError, SchemaError
        If a column is not there, or has two parts to play.
    """
    from suffice.data.table_source import no_column
    from suffice.data.table_views import WithoutColumns

    columns.check(table.names, label)
    for name in label:
        if name not in table.names:
            raise no_column(name, "the label", table.names, table.format is not None)
    ignored, features = listed(columns.ignore), listed(columns.features)
    if features:
        parts = dict.fromkeys(label, "label") | dict.fromkeys(filter(None, others[:1]), "weight")
        parts |= dict.fromkeys(ignored, "ignore")
        for name in features:
            if name not in table.names:
                raise no_such_column("features", name, table.names)
            if name in parts:
                raise ParameterError(
                    f"the column {name!r} is given to --{parts[name]} and to --features",
                    "a column has one part to play",
                    "drop one of them",
                )
        used = {*features, *label, *others}
        ignored = tuple(name for name in table.names if name not in used)
    return WithoutColumns(table, ignored) if ignored else table


def given_columns(columns: Columns) -> dict[str, Any]:
    """Return the options that are given, by name."""
    values = {field.name: getattr(columns, field.name) for field in fields(columns)}
    return {name: value for name, value in values.items() if value}
