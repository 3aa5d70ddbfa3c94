"""``suffice export``: its options, its files, and libraries that are absent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import suffice
from suffice.export import to_json

from ..conftest import Run, facts_of


def test_files_hold_what_python_writes(run: Run, model: Path) -> None:
    expected = to_json(suffice.load(model))
    done = run("export", model, "--to", "json", "-o", "written")
    assert (done.exit_code, done.stdout) == (0, "Saved to written.\n")
    assert Path("written").read_bytes() == expected.encode()
    assert run("export", model, "--to", "json").stdout == expected


def test_a_graph_is_written(run: Run, model: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    done = run("export", model, "--to", "onnx", "-o", "fruit.onnx")
    assert (done.exit_code, done.stdout) == (0, "Saved to fruit.onnx.\n")
    graph = onnx.load("fruit.onnx").graph
    assert [column.name for column in graph.input] == ["size", "color"]


@pytest.mark.parametrize(
    ("words", "library", "given"),
    [
        ("--to sql --dialect bigquery --table t", "sqlglot", "dialect='bigquery'"),
        ("--to onnx -o fruit.onnx", "onnx", "--to onnx is given"),
    ],
)
def test_a_library_that_is_absent_is_named(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch, words: str, library: str, given: str
) -> None:
    target = words.split()[1]
    monkeypatch.delitem(sys.modules, f"suffice.export.{target}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    refused = run("export", model, *words.split())
    assert refused.exit_code == 2
    assert f"{given}; {library} is not installed" in refused.stderr


def test_a_model_is_not_written_over(run: Run, model: Path) -> None:
    refused = run("export", model, "--to", "json", "-o", model)
    assert refused.exit_code == 2
    assert facts_of(run, "show", model)["rows"] == 6
