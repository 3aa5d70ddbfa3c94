"""``--help``: a first page of what most people need, topics, and everything."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from suffice.cli.app import app
from suffice.cli.options.help_pages import topics
from suffice.cli.options.recipes import MODELS, OF_FAMILIES
from suffice.cli.register import COMMANDS

from .conftest import Run

LINES = 60  # of a first page
LONG = [name for name, entry in COMMANDS.items() if entry.first]


def options_of(command: str) -> list[Any]:
    group: Any = typer.main.get_command(app)
    context = typer.Context(group)
    found = group.get_command(context, command)
    options = [p for p in found.get_params(typer.Context(found)) if p.param_type_name == "option"]
    return [option for option in options if option.name != "help"]


def shown(text: str) -> set[str]:
    """The options that a page lists."""
    return set(re.findall(r"^│ (--[a-zA-Z0-9-]+)", text, re.MULTILINE))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_first_page_is_short_and_the_last_has_every_option(run: Run, command: str) -> None:
    first, everything = run(command, "--help").stdout, run(command, "--help", "all").stdout
    assert len(first.splitlines()) <= LINES
    assert max(map(len, everything.splitlines())) <= 80
    options = options_of(command)
    assert {"--help", *(option.opts[0] for option in options)} <= shown(everything)
    assert all(name in everything for option in options for name in option.secondary_opts)
    context: Any = None  # no name of a type asks for it
    types = (option.display_type_rich(ctx=context) or "" for option in options)
    assert all(word in everything for shown_as in types for word in shown_as.split())
    if command not in LONG:
        assert first == everything


@pytest.mark.parametrize("command", LONG)
def test_first_pages_are_in_the_order_of_need_and_name_the_topics(run: Run, command: str) -> None:
    text = run(command, "--help").stdout
    by_name = {option.name: option.opts[0] for option in options_of(command)}
    listed = re.findall(r"^│ (--[a-zA-Z0-9-]+)", text, re.MULTILINE)
    assert listed == [*(by_name[name] for name in COMMANDS[command].first), "--help"]
    named = " ".join(text.split())
    for topic in topics(command, options_of(command)):
        assert topic in named


@pytest.mark.parametrize("command", LONG)
def test_topics_together_have_every_option(run: Run, command: str) -> None:
    known = topics(command, options_of(command))
    pages = [shown(run(command, "--help", topic).stdout) for topic in known[:-1]]
    assert all(pages)
    assert shown(run(command, "--help").stdout).union(*pages) == shown(
        run(command, "--help", "all").stdout
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_a_topic(run: Run, model: str) -> None:
    its = {f"--{name.replace('_', '-')}" for name in MODELS[model].parameters}
    columns = shown(run("fit", "--help", "columns").stdout)
    roles = {f"--{name}" for name in ("features", "ignore", *MODELS[model].roles)}
    roles = columns if model in OF_FAMILIES else roles
    assert shown(run("fit", "--help", model).stdout) == its | roles
    assert roles <= columns


def test_other_ways_to_ask(run: Run) -> None:
    first, everything = run("fit", "--help").stdout, run("fit", "--help", "all").stdout
    assert run("fit", "--help=all").stdout == everything
    assert run("fit", "-h", "all").stdout == everything
    assert run("fit", "t.csv", "-h").stdout == first
    assert run("fit", "--help", "t.csv").stdout == first
    assert run("-h").stdout == run("--help").stdout
    wrong = run("fit", "--help=colums")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: --help=colums; the topics are columns, reading, labels,")
