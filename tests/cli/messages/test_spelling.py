"""Every option that a message names is spelled by the command line as the user types it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import suffice
from suffice.cli.messages.sentences import sentence
from suffice.cli.messages.spelling import flags, spelled
from suffice.errors import ParameterError
from suffice.phrases import Option, Phrase, PythonOnly

ROOT = Path(suffice.__file__).parent


@cache
def modules() -> dict[Path, ast.Module]:
    """The library, but for the command line."""
    library = [path for path in ROOT.rglob("*.py") if "cli" not in path.relative_to(ROOT).parts]
    return {path: ast.parse(path.read_text()) for path in library}


def called(node: ast.AST) -> str:
    """What is called, if it is a name or an attribute of one."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
            return f"{owner}.{name}"
    return ""


def named() -> set[str]:
    """The options that messages name, by literal names."""
    calls = (node for module in modules().values() for node in ast.walk(module))
    return {
        call.args[0].value
        for call in calls
        if called(call) in ("Option", "Option.of") and isinstance(call.args[0], ast.Constant)
    }


def test_every_option_that_is_named_has_a_flag() -> None:
    found = named()
    assert "alpha" in found
    assert found <= set(flags())


def texts(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The strings of a module that are for everybody: neither docstrings nor for Python only."""
    if called(node) == "PythonOnly":
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.JoinedStr):
        yield node, "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node, node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def test_no_message_hides_an_option_of_the_command_line_in_its_text() -> None:
    hidden = re.compile(rf"\b({'|'.join(flags())})=")
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {text}"
        for path, module in modules().items()
        for node, text in texts(module)
        if hidden.search(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("option", "python", "typed"),
    [
        (Option.of("estimation", "best"), "estimation='best'", "--estimation 'best'"),
        (Option.of("alpha", -1.0), "alpha=-1.0", "--alpha -1.0"),
        (Option.of("alpha", "gcv"), "alpha='gcv'", "--alpha gcv"),
        (Option.of("incomplete", "drop"), "incomplete='drop'", "--incomplete drop"),
        (Option("missing", "...", "CsvFormat"), "CsvFormat(missing=...)", "--missing"),
        (Option("C", "np.inf"), "C=np.inf", "--C inf"),
        (Option("names"), "names", "--names"),
        (Option("quote", "None", "CsvFormat"), "CsvFormat(quote=None)", "--quote none"),
        (Option.of("separator", "ab"), "separator='ab'", "--separator 'ab'"),
        (Option("separator", "';'", "CsvFormat"), "CsvFormat(separator=';')", "--separator ';'"),
        (
            Option("encoding", '"latin-1"', "CsvFormat"),
            'CsvFormat(encoding="latin-1")',
            "--encoding latin-1",
        ),
        (
            Option("families", "{column: 'categorical'}", "NaiveBayes"),
            "NaiveBayes(families={column: 'categorical'})",
            "--categorical",
        ),
        (Option.of("solver", "lbfgs"), "solver='lbfgs'", "solver='lbfgs'"),
    ],
)
def test_spellings(option: Option, python: str, typed: str) -> None:
    assert (str(option), spelled(option)) == (python, typed)


def test_a_next_step_that_exists_in_python_only_leaves_nothing_behind() -> None:
    error = ParameterError("fact", Phrase("rule", PythonOnly(" of Python")), PythonOnly("step"))
    assert str(error) == "fact; rule of Python; step."
    assert sentence(error) == "fact; rule."
