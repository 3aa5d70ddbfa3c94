"""Model files that are there already: which of them a command replaces without being told to."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import suffice
from suffice.cli.options.values import written_value
from suffice.errors import ModelFileError, ParameterError
from suffice.phrases import with_article

__all__ = ["Force", "NewModel", "new_model", "refuse_replacing"]

Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace the output file, though it holds something else, or no model."
    ),
]
SAME = "without --force, a model replaces only one of the same kind, label, columns and options"
BOTH = "to keep both, give another name with -o; to replace it, add --force"
NOT_OF_A_MODEL = {"costs"}  # what is decided once it is fitted


class NewModel(NamedTuple):
    """What is known of a model that is to be written to a file.

    Parameters
    ----------
    estimator : object
        Its kind and options.
    targets : sequence of str
        What it predicts.
    columns : collection of str
        What it predicts from, or may.
    open : collection of str
        Options that are not yet known.
    forgotten : int
        How many sets of rows it remembers to have forgotten.
    """

    estimator: Any
    targets: Sequence[str]
    columns: Collection[str]
    open: Collection[str] = ()
    forgotten: int = 0


def new_model(fitted: Any) -> NewModel:
    """What is known of a fitted model."""
    known = fitted.target_names_, fitted.layout_.names, ()
    return NewModel(fitted, *known, _forgotten(fitted))


def refuse_replacing(output: Path, new: NewModel, force: bool, own: Sequence[Path] = ()) -> None:
    """Refuse to replace a file that holds something else than such a model.

    Parameters
    ----------
    output : Path
    new : NewModel
    force : bool
        Whether it is to be replaced all the same.
    own : sequence of Path
        Models that the new one is made of: it may take their place.

    Raises
    ------
    ParameterError
        Naming the file, what it holds, and the first difference.
    IsADirectoryError
        If it is a folder.
    """
    from suffice.persist import is_model_file

    if output.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
    if force or not output.exists() or output.resolve() in {path.resolve() for path in own}:
        return
    if not is_model_file(output):
        raise ParameterError(f"{output} is there, and is no model file", "it would be lost", BOTH)
    try:
        old: Any = suffice.load(output)
    except ModelFileError as error:
        raise ParameterError(f"it would be lost: {error.fact}", error.rule, BOTH) from None
    for difference in _differences(old, new):
        kind, targets = type(old).__name__, ", ".join(map(repr, old.target_names_))
        of_what = f" that predicts {targets}" if targets else ""
        raise ParameterError(
            f"{output} holds {with_article(kind)}{of_what}, and would be lost: the new model "
            f"{difference}",
            SAME,
            BOTH,
        )


def _differences(old: Any, new: NewModel) -> Iterator[str]:
    """What a new model is that an old one is not, in words that follow "the new model"."""
    if type(old) is not type(new.estimator):
        yield f"is {with_article(type(new.estimator).__name__)}"
    if tuple(old.target_names_) != tuple(new.targets):
        yield f"predicts {', '.join(map(repr, new.targets))}"
    mine, theirs = (one.get_params(deep=False) for one in (new.estimator, old))
    for name, value in mine.items():
        if name not in {*NOT_OF_A_MODEL, *new.open} and _plain(value) != _plain(theirs.get(name)):
            yield f"has {name}={written_value(value)} instead of {written_value(theirs.get(name))}"
    before, after = set(old.layout_.names), set(new.columns)
    if gone := sorted(before - after):
        yield f"does not read the column {gone[0]!r}"
    if _settles_columns(old):
        after -= set(old.layout_.ignored)
    if more := sorted(after - before):
        yield f"reads the column {more[0]!r} as well"
    if _forgotten(old) > new.forgotten:
        yield "would learn again what that one has forgotten, if the rows are still there"


def _settles_columns(model: Any) -> bool:
    """Whether a fit leaves columns of its table out, by a formula or by what they show."""
    return bool(getattr(model, "formula", None)) or hasattr(model, "candidates_")


def _forgotten(model: Any) -> int:
    return len(getattr(model, "forgotten_", ()))


def _plain(value: Any) -> Any:
    """An option in the form that all spellings of it have, and that `==` compares."""
    if hasattr(value, "tolist"):  # an array
        return value.tolist()
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value] or None
    return value or None if isinstance(value, str | dict) else value
