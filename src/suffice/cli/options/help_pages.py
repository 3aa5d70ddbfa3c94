"""What ``--help`` shows of a command: what most people need first, one topic, or everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.cli.options.recipes import MODELS, OF_FAMILIES
from suffice.cli.options.roles import COLUMNS
from suffice.cli.register import COMMANDS
from suffice.errors import ParameterError

__all__ = ["ALL", "more", "page", "topics", "without_topic"]

HELP = ("--help", "-h")
ALL, OPTIONS = "all", "Options"
PANELS = {
    COLUMNS: "columns",
    "How the data is written": "reading",
    "Labels": "labels",
    "Which label is answered": "answers",
    "Where and how it runs": "running",
    "What the volumes show": "volumes",
    "Which voxels are used together": "voxels",
    "What chance would show": "chance",
    "What is written": "output",
}
"""The topics that groups of options are."""


def topics(command: str, parameters: Sequence[Any]) -> list[str]:
    """The words that may follow ``--help``, where its page does not have all options."""
    if not COMMANDS[command].first:
        return []
    panels = dict.fromkeys(map(_panel, parameters))
    models = MODELS if any(parameter.name == "model" for parameter in _options(parameters)) else ()
    return [*(PANELS[panel] for panel in panels if panel in PANELS), *models, ALL]


def without_topic(words: Sequence[str], known: Sequence[str]) -> tuple[list[str], str]:
    """The words of a command, and the topic that help is asked of, or nothing.

    Raises
    ------
    ParameterError
        If ``--help=`` names no topic.

    Examples
    --------
    >>> without_topic(["t.csv", "--help", "columns"], ["columns", "all"])
    (['t.csv', '--help'], 'columns')
    """
    for place, word in enumerate(words):
        name, _, topic = word.partition("=")
        if word == "--" or (name in HELP and not known):
            break
        if name in HELP and topic:
            if topic not in known:
                raise ParameterError(f"--help={topic}", f"the topics are {', '.join(known)}")
            return [*words[:place], name, *words[place + 1 :]], topic
        if name in HELP and words[place + 1 : place + 2] and words[place + 1] in known:
            return [*words[: place + 1], *words[place + 2 :]], words[place + 1]
    return list(words), ""


def page(command: str, parameters: Sequence[Any], topic: str) -> list[tuple[str, list[Any]]]:
    """The groups of options that a page shows, each with its title.

    Parameters
    ----------
    command : str
    parameters : sequence
        All that it has.
    topic : str
        One of `topics`, or nothing for the first page.
    """
    options, known = _options(parameters), topics(command, parameters)
    if known and not topic:
        by_name = {option.name: option for option in options}
        return [(OPTIONS, [by_name[name] for name in (*COMMANDS[command].first, "help")])]
    if topic in MODELS:
        options = [option for option in options if _is_of_model(option, topic)]
    elif topic not in ("", ALL):
        options = [option for option in options if PANELS.get(_panel(option)) == topic]
    panels = dict.fromkeys(sorted(map(_panel, options), key=lambda panel: panel != ""))
    return [(p or OPTIONS, [o for o in options if _panel(o) == p]) for p in panels]


def more(command: str, known: Sequence[str]) -> list[str]:
    """Lines that name the topics.

    Examples
    --------
    >>> more("forget", ["reading", "running", "all"])
    ['All options: --help all. Of one topic: --help reading, running.']
    """
    if not known:
        return []
    groups = ", ".join(topic for topic in known if topic not in (*MODELS, ALL))
    models = ", ".join(topic for topic in known if topic in MODELS)
    lines = [f"All options: --help {ALL}. Of one topic: --help {groups}."]
    return [*lines, f"Of one model: --help {models}."] if models else lines


def _options(parameters: Sequence[Any]) -> list[Any]:
    return [p for p in parameters if p.param_type_name == "option" and not p.hidden]


def _is_of_model(option: Any, model: str) -> bool:
    """Whether an option is one of a model, or says what columns are, where it takes that."""
    if _panel(option) != COLUMNS:
        return MODELS[model].has(option.name)
    roles = {*MODELS[model].roles, "features", "ignore"}
    return model in OF_FAMILIES or option.name in roles


def _panel(parameter: Any) -> str:
    return getattr(parameter, "rich_help_panel", None) or ""
