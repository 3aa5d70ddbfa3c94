"""How the command line spells ``name=value`` in messages: as what the user types."""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from contextlib import suppress
from dataclasses import fields
from functools import cache

from suffice.cli.options.reading import LABELS
from suffice.cli.options.recipes import MODELS, parameters_of
from suffice.cli.options.values import written_value

__all__ = ["spelled"]

FLAGS = {
    name: f"--{name}" for name in ("ignore", "categorical", "text", "threads", "engine", "level")
}
FLAGS |= {"min_count": "--min-count", "permutations": "--permutations", "cv": "--folds"}
FLAGS |= {"leave_out": "--leave-out", "columns": "--ignore"}
SWITCHES = {"learnt=False": "--new", "again=True": "--again"}
OF_SEARCHLIGHT = ("shape", "radius", "zscore", "exchange")
VALUE = r"'[^']*'|\"[^\"]*\"|\{[^{}]*\}|\[[^\[\]]*\]|\.\.\.|-?[\w.+-]*\w"
NAMED = re.compile(
    rf"(?<![\w.'\"-])(?<!-p )(?<!-r )(?<!--grid )(?P<name>[A-Za-z]\w*)=(?P<value>{VALUE})"
)


@cache
def _options() -> dict[str, str]:
    """Return what stands before every name that the command line has."""
    from suffice.data.text.format import TextFormat

    parameters = {name: f"-p {name}=" for model in MODELS for name in parameters_of(model)}
    parameters |= {name: f"-p {name}=" for name in OF_SEARCHLIGHT}
    reading = [*(field.name for field in fields(TextFormat)), "sheet", *LABELS]
    flags = {name: f"{flag} " for name, flag in FLAGS.items()}
    return parameters | flags | {name: f"--{name.replace('_', '-')} " for name in reading}


def spelled(text: str) -> str:
    """Return a message as the command line says it.

    Examples
    --------
    >>> spelled("1 or more; or C=np.inf, or penalty='firth', or quote=None")
    '1 or more; or -p C=inf, or -p penalty=firth, or --quote none'
    """
    text = str(text)
    return NAMED.sub(_typed, text) if "=" in text else text


def _typed(found: re.Match[str]) -> str:
    """Return ``name=value`` as it is typed; the same where the command line has no such name."""
    name, value = found["name"], found["value"].removeprefix("np.")
    if found[0] in SWITCHES:
        return SWITCHES[found[0]]
    before = _options().get(name)
    if before is None:
        return found[0]
    if value == "...":
        return before.rstrip(" =") + "=..." * before.endswith("=")
    with suppress(ValueError, SyntaxError):
        value = written_value(literal_eval(value))
    return before + (shlex.quote(value) if value else "''")
