"""The estimator, and the table, that the options of a command stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from suffice.cli.options.estimators import Options, estimator, given_of, refuse_foreign
from suffice.cli.options.names import listed, no_such_column
from suffice.cli.options.recipes import MODELS, OF_FAMILIES
from suffice.cli.options.roles import Roles
from suffice.cli.options.shared import Labels, Reading
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.data.table import Table

__all__ = ["estimator_of", "selected"]


def estimator_of(
    model: str,
    options: Options,
    roles: Roles,
    reading: Reading,
    labels: Labels,
) -> Any:
    """The estimator; what others than this model know is refused."""
    if model in OF_FAMILIES:
        return estimator(
            model,
            options,
            families=roles.families() or None,
            missing=tuple(reading.missing or ()),
            **labels.parameters(),
        )
    chosen = estimator(model, options)
    for option in {**given_of(roles), **given_of(labels)}:
        if option != "ignore" and option not in MODELS[model].roles:
            owners = (name for name, recipe in MODELS.items() if option in recipe.roles)
            refuse_foreign(option, model, *OF_FAMILIES, *owners)
    taken = {role: listed(getattr(roles, role)) or None for role in MODELS[model].roles}
    return chosen.set_params(**taken)


def selected(
    table: Table, roles: Roles, label: Sequence[str], weight: str | None, features: Sequence[str]
) -> Table:
    """The columns that are features, labels or weights."""
    from suffice.data.table_source import no_column
    from suffice.data.table_views import WithoutColumns

    roles.check(table.names, label)
    for name in label:
        if name not in table.names:
            raise no_column(name, "the label", table.names, table.format is not None)
    ignored = listed(roles.ignore)
    if features:
        parts = dict.fromkeys(label, "label") | {weight: "weight"}
        _check_features(table.names, features, parts, ignored)
        used = {*features, *label, weight}
        ignored = tuple(name for name in table.names if name not in used)
    return WithoutColumns(table, ignored) if ignored else table


def _check_features(
    names: Sequence[str],
    features: Sequence[str],
    parts: Mapping[Any, str],
    ignored: Sequence[str],
) -> None:
    """Refuse a feature that is not there, or has another part to play."""
    for name in features:
        if name not in names:
            raise no_such_column("features", name, names)
        other = "ignore" if name in ignored else parts.get(name)
        if other:
            raise ParameterError(
                f"the column {name!r} is given to --{other} and to --features",
                "a column has one part to play",
                "drop one of them",
            )
