"""What a loaded model remembers of its fit, unless the user says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.cli.options import Reading
    from suffice.data.table import Table
    from suffice.models.estimator import GenerativeClassifier

__all__ = ["label_of", "weight_of", "with_tokens"]


def label_of(model: GenerativeClassifier, given: str | None) -> str:
    """The column that holds the labels.

    Raises
    ------
    ParameterError
        If the model was fitted to labels without a name, and none is given.
    """
    name: str | None = given or model.layout_.label
    if name is None:
        raise ParameterError(
            "the model was fitted to labels without a column name",
            "the labels of a file are one of its columns",
            "name it with --label",
        )
    return name


def weight_of(model: GenerativeClassifier, given: str | None, table: Table) -> str | None:
    """The column that holds the weights: given, or that of the fit where the table has it."""
    remembered: str | None = model.layout_.weight
    return given or (remembered if remembered in table.names else None)


def with_tokens(model: GenerativeClassifier, reading: Reading) -> GenerativeClassifier:
    """The same model, which takes more tokens for missing cells."""
    changed: GenerativeClassifier = model.set_params(
        missing=(*model.layout_.missing, *(reading.missing or ()))
    )
    return changed
