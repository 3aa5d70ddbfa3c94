"""``--help``: one page a command, with the parameters of a model that is named."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from suffice.cli.app import app
from suffice.cli.options.recipes import MODELS, parameters_of
from suffice.cli.register import COMMANDS

from .conftest import Run

MOST, MOST_OF_ALL = 20, 120


def options_of(command: str) -> list[Any]:
    group: Any = typer.main.get_command(app)
    context = typer.Context(group)
    found = group.get_command(context, command)
    options = [p for p in found.get_params(typer.Context(found)) if p.param_type_name == "option"]
    return [option for option in options if option.name != "help"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_every_option(run: Run, command: str) -> None:
    page = run(command, "--help").stdout
    assert max(map(len, page.splitlines())) <= 80
    assert all(name in page for one in options_of(command) for name in one.secondary_opts)
    assert all(one.opts[0] in page for one in options_of(command))
    assert run(command, "-h").stdout == page


def test_options_are_few() -> None:
    numbers = {command: len(options_of(command)) for command in COMMANDS}
    assert max(numbers.values()) <= MOST
    assert sum(numbers.values()) <= MOST_OF_ALL


@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_is_named_lists_its_parameters(run: Run, model: str) -> None:
    page = run("fit", "t.csv", "--model", model, "--help").stdout
    assert f"-p, of --model {model}" in page
    joined = page.replace("\n", "")
    assert all(f"{name}=" in joined for name in parameters_of(model))


def test_a_model_that_is_unknown_is_refused(run: Run) -> None:
    wrong = run("fit", "--model", "forest", "--help")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
