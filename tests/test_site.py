"""The documentation: its picture of the code, its reference and its lessons."""

import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PUBLIC = (
    "suffice",
    "suffice.naive_bayes",
    "suffice.discriminant_analysis",
    "suffice.linear_model",
    "suffice.families",
    "suffice.model_selection",
    "suffice.plotting",
    "suffice.export",
    "suffice.owners",
    "suffice.privacy",
    "suffice.images",
    "suffice.errors",
)


def test_the_rooms_are_those_of_the_import_graph() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["name"] == "Imports point downward only")
    page = (DOCS / "architecture.md").read_text("utf8")
    (picture,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert picture.splitlines() == layers


def test_every_room_is_in_the_picture() -> None:
    page = (DOCS / "architecture.md").read_text("utf8")
    here = {path.stem for path in (ROOT / "src/suffice").iterdir() if path.stem[0] != "_"}
    assert {name for name in here - {"py"} if f"suffice.{name}" not in page} == set()


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_place_in_the_reference(module: str) -> None:
    page = (DOCS / "reference.md").read_text("utf8")
    listed = set(re.findall(r"^   (\w+)$", page, re.MULTILINE))
    names = {name for name in import_module(module).__all__ if not name.startswith("_")}
    assert names - listed == set()


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_an_example(module: str) -> None:
    home = import_module(module)
    left_out = {"Estimation"}  # a type
    if find_spec("onnx") is None:
        left_out.add("to_onnx")  # which is there where onnx is
    names = [name for name in home.__all__ if name[0] != "_" and name not in left_out]
    assert [name for name in names if ">>> " not in (getattr(home, name).__doc__ or "")] == []


def test_every_command_has_a_place() -> None:
    from suffice.cli.app import app

    page = (DOCS / "commands.md").read_text("utf8")
    assert re.findall(r"\{command-help\} (\w+)", page) == list(get_command(app).commands)


def test_lessons_have_an_order() -> None:
    text = (DOCS / "building/lessons.py").read_text("utf8")
    listed = re.findall(r'^    "(\w+)",$', text, re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in (DOCS / "scripts").glob("*.py"))
