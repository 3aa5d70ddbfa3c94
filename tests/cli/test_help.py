"""``--help``: one page a command, with the parameters of a model that is named."""

from __future__ import annotations

from typing import Any

import pytest
import typer

import suffice

from .conftest import COMMANDS, GROUP, Run

MODELS = {
    "naive-bayes": suffice.NaiveBayes,
    "linear": suffice.LinearRegression,
    "logistic": suffice.LogisticRegression,
    "auto": suffice.AutoClassifier,
}


def options_of(command: str) -> list[Any]:
    context = typer.Context(GROUP)
    found = GROUP.get_command(context, command)
    options = [p for p in found.get_params(typer.Context(found)) if p.param_type_name == "option"]
    return [option for option in options if option.name != "help"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_every_option(run: Run, command: str) -> None:
    page = run(command, "--help").stdout
    assert max(map(len, page.splitlines())) <= 80
    assert len(page.splitlines()) <= 40
    assert all(name in page for one in options_of(command) for name in one.secondary_opts)
    assert all(one.opts[0] in page for one in options_of(command))
    assert run(command, "-h").stdout == page
    assert f"Example:  suffice {command}" in page


def test_the_overview_says_of_a_command_what_its_own_page_says_first(run: Run) -> None:
    overview = " ".join(run("--help").stdout.split())
    for command in COMMANDS:
        about = GROUP.get_command(typer.Context(GROUP), command).help.partition("\n\n")[0]
        assert f"{command} {' '.join(about.split())}" in overview


@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_is_named_lists_its_parameters(run: Run, model: str) -> None:
    page = run("fit", "t.csv", "--model", model, "--help").stdout
    assert f"Parameters of --model {model}:" in page
    joined = page.replace("\n", "")
    assert any(f"{name}=" in joined for name in MODELS[model]().get_params())


def test_a_model_that_is_unknown_is_refused(run: Run) -> None:
    wrong = run("fit", "--model", "forest", "--help")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
