"""Model files that commands read and write: their kinds, and which of them may be replaced."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import suffice
from suffice.cli.values import check_columns, listed
from suffice.errors import ModelFileError, ParameterError, SchemaError
from suffice.persist import is_model_file
from suffice.phrases import with_article

if TYPE_CHECKING:
    from suffice.data.table import Table

MOST_NAMED = 20


def load_model(path: Path, rule: str = "", next_step: str = "", *attributes: str) -> Any:
    """Read the file of a model that has some attributes; else refuse it by the rule.

    Sums, which predict nothing, are refused.
    """
    model: Any = suffice.load(path)
    if are_sums(model):
        fact, rule = f"{path} holds sums", "this is done with a model, which is fitted to sums"
        raise ParameterError(fact, rule, join(["suffice", "fit", str(path)]))
    if not all(hasattr(model, attribute) for attribute in attributes):
        raise refusal(path, model, rule, next_step)
    return model


def load_summed(path: Path) -> Any:
    """Read the file of a model that is a function of sufficient statistics."""
    rule = "it is fitted by repeated passes over the rows, not from sufficient statistics"
    return load_model(path, rule, "fit it again on all rows together", "statistic_")


def are_sums(found: Any) -> bool:
    """Tell sums from models."""
    from suffice.models.grouped_sums import GroupedSums  # there since the file was loaded

    return isinstance(found, GroupedSums)


def sums_in(data: Sequence[str]) -> Any:
    """Return the sums of a file that holds some; None for tables and models."""
    if len(data) != 1 or not is_model_file(data[0]):
        return None
    found: Any = suffice.load(data[0])
    return found if are_sums(found) else None


def refusal(path: Path, model: Any, rule: str, next_step: str) -> ParameterError:
    """Return the error of a command that makes no sense for a model."""
    return ParameterError(f"{path} holds {with_article(type(model).__name__)}", rule, next_step)


def different_kinds(mine: Path, one: Any, theirs: Path, other: Any, verb: str) -> ParameterError:
    """Return the error of two files that hold models of different kinds."""
    rule = f"{mine} holds {with_article(type(one).__name__)}, and only models of one kind {verb}"
    return refusal(theirs, other, rule, "fit both with the same --model")


@contextmanager
def errors_by_file_name(mine: Path, theirs: Path) -> Iterator[None]:
    """Let errors about two models name their files instead of "this model" and "the other"."""
    try:
        yield
    except SchemaError as error:
        fact = error.fact.replace("this model", str(mine)).replace("the other", str(theirs))
        raise SchemaError(fact, error.rule, error.next_step) from None


def predicts_numbers(model: Any) -> bool:
    """Tell regressions from classifiers."""
    return not hasattr(type(model), "predict_proba")


def has_coefficients(model: Any) -> bool:
    return hasattr(model, "summary")


def has_candidates(model: Any) -> bool:
    return hasattr(model, "candidates_")


def label_of(model: Any, given: str | None = None) -> Any:
    """Return the column that holds the labels, or the columns that hold the targets."""
    names = (given,) if given else model.target_names_
    if not names:
        raise ParameterError(
            "the model was fitted to labels without a column name",
            "the labels of a file are one of its columns",
            "name it with --label",
        )
    return names[0] if len(names) == 1 else list(names)


# Columns of a table and of a model ------------------------------------------------------------


def known_columns(
    table: Table,
    model: Any,
    *others: str | None,
    ignore: Sequence[str] | None = None,
    kept: Sequence[str] = (),
) -> Table:
    """Return the columns that a model reads or ignores, and some others; say which are neither.

    Of those that are kept beside the predictions, nothing is said. Columns of the model that are
    ignored now are there, but missing.
    """
    from suffice.cli.messages import note
    from suffice.data.table import WithoutColumns, with_missing
    from suffice.data.table_source import left_out

    layout, ignored = model.reader_.layout, listed(ignore)
    free = [name for name in table.names if name not in {*model.target_names_, layout.weight}]
    check_columns("ignore", ignored, free)
    if ignored and set(table.names) <= set(ignored):
        raise ParameterError("--ignore names every column", "there is nothing left to look at")
    columns = {column.name for column in layout.columns}
    table = WithoutColumns(table, ignored) if ignored else table
    table = with_missing(table, [name for name in ignored if name in columns])
    known = {*columns, *model.target_names_, layout.label, layout.weight, *layout.ignored, *others}
    unknown = tuple(name for name in table.names if name not in known)
    if not unknown:
        return table
    if columns.isdisjoint(table.names):
        raise SchemaError(
            "the file has no column of the model",
            f"the model has {', '.join(repr(c.name) for c in layout.columns[:MOST_NAMED])}",
            "check the names, and how the file is written",
        )
    if said := [name for name in unknown if name not in kept]:
        note(left_out(said))
    return WithoutColumns(table, unknown)


# Files that are there already ---------------------------------------------------------------------

BOTH = "give another name with -o, or delete it first"


def refuse_overwriting(
    output: Path | None, inputs: Sequence[str | Path], option: str = "--output"
) -> None:
    """Refuse to replace a folder, or a file that is read, in a glob or a folder of inputs too."""
    if output is None:
        return
    if output.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(output))
    if output.exists() and any(_is_among(output.resolve(), str(path)) for path in inputs):
        fact = f"{option} {output} is one of the files to be read"
        raise ParameterError(fact, "it would be replaced", "choose another name")


def _is_among(file: Path, path: str) -> bool:
    if is_model_file(file):  # for which neither a folder nor a pattern stands
        return file == Path(path).resolve()
    named = {Path(one).resolve() for one in (path, *glob.iglob(path, recursive=True))}
    return not named.isdisjoint((file, *file.parents))


def refuse_result(
    output: Path | None, inputs: Sequence[str | Path], option: str = "--output"
) -> None:
    """Refuse to replace a file that is being read, a folder, or any model file."""
    refuse_overwriting(output, inputs, option)
    if output is not None and is_model_file(output):
        fact = f"{option} {output} is a file of a model, or of sums"
        raise ParameterError(fact, "it would be lost", "choose another name")


def refuse_replacing(
    output: Path, new: Any, targets: Sequence[str], own: Sequence[Path] = (), step: str = BOTH
) -> None:
    """Refuse to replace a file that holds something else than a model of this kind and label.

    ``new`` is the model that is to be written, fitted or not, and ``targets`` what it predicts; it
    may take the place of those that it is made of, its ``own``.
    """
    refuse_overwriting(output, ())
    if not output.exists() or output.resolve() in {path.resolve() for path in own}:
        return
    if not is_model_file(output):
        raise ParameterError(f"{output} is there, and is no model file", "it would be lost", step)
    try:
        old: Any = suffice.load(output)
    except ModelFileError as error:
        raise ParameterError(f"it would be lost: {error.fact}", error.rule, step) from None
    holds = f"{output} holds {with_article(type(old).__name__)}"
    if are_sums(old):
        raise ParameterError(f"{output} holds sums", "they would be lost", step)
    if old.target_names_:
        holds += f" that predicts {', '.join(map(repr, old.target_names_))}"
    if type(old) is not type(new) or tuple(old.target_names_) != tuple(targets):
        raise ParameterError(holds, "only a model of the same kind and label is replaced", step)
    if len(getattr(old, "forgotten_", ())) > len(getattr(new, "forgotten_", ())):
        rule = "the new model may be fitted to rows which that one has forgotten"
        raise ParameterError(holds, rule, step)
