"""The page as text: one file, nothing from elsewhere, names as text; and the command."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import suffice
from suffice import LinearDiscriminantAnalysis
from suffice.cli.app import app

from .conftest import HOSTILE, LONG

pytest.importorskip("jinja2", reason="Jinja2 is not installed")


@pytest.fixture(scope="module")
def written(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("pages") / "model.html"
    suffice.report(models["bayes"][0], path)
    return path.read_text("utf8")


def test_hostile_names_are_text(written: str) -> None:
    assert "<script>alert" not in written
    assert "<img" not in written
    data = re.search(r'<script type="application/json" id="model">(.*?)</script>', written, re.S)
    assert data is not None
    model = json.loads(data[1])
    assert HOSTILE in model["outputs"]
    assert LONG in [column["name"] for column in model["columns"]]


def test_only_the_script_and_the_style_of_the_page_are_permitted(written: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', written)
    assert policy is not None
    texts = [
        re.search(pattern, written, re.S)
        for pattern in (r"<script>(.*?)</script>", r"<style>(.*?)</style>")
    ]
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode() + "'"
        for text in texts
        if text is not None
    ]
    assert policy[1].replace("&#39;", "'") == (
        f"default-src 'none'; script-src {hashes[0]}; style-src {hashes[1]}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "http" not in written.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_a_page_of_a_hundred_columns_is_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(300, 100)), np.arange(300) % 3
    suffice.report(LinearDiscriminantAnalysis().fit(rows, labels), tmp_path / "model.html")
    assert (tmp_path / "model.html").stat().st_size < 1_500_000


def test_the_command_writes_a_page_beside_the_model(models: dict[str, Any], tmp_path: Path) -> None:
    model = models["lda"][0]
    model.save(tmp_path / "model.suffice")
    run = CliRunner().invoke(app, ["report", str(tmp_path / "model.suffice")])
    assert run.exit_code == 0, run.output
    page = tmp_path / "model.html"
    suffice.report(model, tmp_path / "again.html")
    assert page.read_text("utf8") == (tmp_path / "again.html").read_text("utf8")
