"""What a loaded model can do, and what it remembers of its fit unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import suffice
from suffice.errors import ParameterError, SchemaError
from suffice.phrases import with_article

if TYPE_CHECKING:
    from os import PathLike

    from suffice.cli.options.reading import Reading
    from suffice.data.table import Table
    from suffice.models.generative.classifier import GenerativeClassifier

__all__ = [
    "different_kinds",
    "errors_by_file_name",
    "fitting",
    "has_candidates",
    "has_coefficients",
    "label_of",
    "load",
    "load_generative",
    "load_summed",
    "predicts_numbers",
    "refusal",
    "refuse_labels",
    "rows_of",
    "weight_of",
]


def load(path: str | PathLike[str]) -> Any:
    """Read a model file.

    Raises
    ------
    ModelFileError
        If the file cannot be loaded.
    """
    return suffice.load(path)


def load_generative(path: str | PathLike[str], rule: str, next_step: str) -> GenerativeClassifier:
    """Read the model file of a generative classifier.

    Raises
    ------
    ModelFileError
        If the file cannot be loaded.
    ParameterError
        With the rule and the next step, if it holds a model of another kind.
    """
    model = load(path)
    if not hasattr(model, "predict_joint_log_proba"):
        raise refusal(path, model, rule, next_step)
    found: GenerativeClassifier = model
    return found


def load_summed(path: str | PathLike[str]) -> Any:
    """Read the model file of a model that is a function of sums over rows.

    Raises
    ------
    ModelFileError
        If the file cannot be loaded.
    ParameterError
        If it holds a model that is no such function.
    """
    model = load(path)
    if not hasattr(model, "statistic_"):
        raise refusal(
            path,
            model,
            "it is fitted by repeated passes over the rows, not from sums",
            "fit it again on all rows together",
        )
    return model


def refusal(path: str | PathLike[str], model: Any, rule: str, next_step: str) -> ParameterError:
    """What to say where a command makes no sense for a model."""
    return ParameterError(f"{path} holds {with_article(type(model).__name__)}", rule, next_step)


def different_kinds(
    mine: str | PathLike[str], one: Any, theirs: str | PathLike[str], other: Any, verb: str
) -> ParameterError:
    """What to say where two files hold models of different kinds."""
    rule = f"{mine} holds {with_article(type(one).__name__)}, and only models of one kind {verb}"
    return refusal(theirs, other, rule, "fit both with the same --model")


@contextmanager
def errors_by_file_name(mine: str | PathLike[str], theirs: str | PathLike[str]) -> Iterator[None]:
    """Errors about two models name their files instead of "this model" and "the other"."""
    try:
        yield
    except SchemaError as error:
        fact = error.fact.replace("this model", str(mine)).replace("the other", str(theirs))
        raise SchemaError(fact, error.rule, error.next_step) from None


@contextmanager
def fitting(data: Sequence[str], model: str | PathLike[str]) -> Iterator[None]:
    """Let a sentence about columns that are not those of a model name both files."""
    try:
        yield
    except SchemaError as error:
        fact = f"{', '.join(data)} does not fit {model}: {error.fact}"
        raise SchemaError(fact, error.rule, error.next_step) from None


def predicts_numbers(model: Any) -> bool:
    """Tell regressions from classifiers."""
    return not hasattr(type(model), "predict_proba")


def has_coefficients(model: Any) -> bool:
    """Tell whether a model has a table of coefficients."""
    return hasattr(model, "summary")


def has_candidates(model: Any) -> bool:
    """Tell whether a model is an average of others, chosen from candidates."""
    return hasattr(model, "candidates_")


def rows_of(model: Any) -> float:
    """The weight of the rows that a model has learnt."""
    return float(model.statistic_.rows)


def label_of(model: Any, given: str | None) -> Any:
    """The column that holds the labels, or the columns that hold the targets.

    Raises
    ------
    ParameterError
        If the model was fitted to labels without a name, and none is given.
    """
    names = (given,) if given else model.target_names_
    if not names:
        raise ParameterError(
            "the model was fitted to labels without a column name",
            "the labels of a file are one of its columns",
            "name it with --label",
        )
    return names[0] if len(names) == 1 else list(names)


def weight_of(model: Any, given: str | None, table: Table) -> str | None:
    """The column that holds the weights: given, or that of the fit where the table has it."""
    remembered: str | None = model.layout_.weight
    return given or (remembered if remembered in table.names else None)


def refuse_labels(model: Any, reading: Reading) -> None:
    """Refuse other names of labels for a model that predicts numbers.

    Raises
    ------
    ParameterError
        If there are such names.
    """
    for option in reading.labels if predicts_numbers(model) else ():
        raise ParameterError(
            f"-r {option} is given for a {type(model).__name__}",
            "it predicts numbers, which have no other names",
            "leave the option out",
        )
