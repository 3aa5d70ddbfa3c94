"""What the pages show: their Python runs, and prints what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHOWN = re.compile(r"^ *print\(.*\)  # (.+)$")


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


@pytest.fixture(autouse=True)
def _beside_a_file_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write = [sys.executable, "-m", "benchmarks.mixed_file", str(tmp_path / "rows.parquet")]
    subprocess.run([*write, "--rows", "100000", "--row-group", "10000"], cwd=ROOT, check=True)


def test_the_page_of_engines(capsys: pytest.CaptureFixture[str]) -> None:
    found = blocks("docs/engines.md")
    assert len(found) == 4
    namespace: dict[str, object] = {}
    for block in found:
        exec(block, namespace)
    shown = [
        match[1] for block in found for line in block.splitlines() if (match := SHOWN.match(line))
    ]
    assert capsys.readouterr().out.splitlines() == shown


def test_the_first_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks("README.md")[0], {})
    assert capsys.readouterr().out.startswith("['apple' 'plum']\n[[0.859 0.141]\n [0.294 0.706]]\n")


def test_how_it_works() -> None:
    namespace: dict[str, object] = {}
    for block in blocks("docs/how_it_works.md"):
        exec(block, namespace)
