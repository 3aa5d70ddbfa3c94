"""The benchmarks run, at a hundredth of their size; what they measured is not looked at."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ASKED = {
    "gaussian-fit",
    "gaussian-fit-float32",
    "gaussian-fit-fortran",
    "gaussian-proba",
    "gaussian-proba-float32",
    "gaussian-proba-fortran",
    "bernoulli-fit",
    "bernoulli-predict",
    "categorical-fit",
    "categorical-predict",
    "multinomial-fit",
    "multinomial-predict",
    "gaussian-batches",
    "iris",
    "import",
    "first-fit",
    "first-fit-cold",
}
PEERS = {"river", "pomegranate", "mixed-naive-bayes", "e1071"}


def benchmark(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", "naive-bayes", "--quick", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_every_task_is_printed_and_written(tmp_path: Path) -> None:
    written, page = tmp_path / "figures.json", tmp_path / "page.md"
    done = benchmark("--json", str(written), "--markdown", str(page))
    assert done.returncode == 0, done.stderr
    content = json.loads(written.read_text())
    assert {task["name"] for task in content["tasks"]} == ASKED
    assert len(content["sizes"]) == 6
    assert {growth["size"] for growth in content["growth"]} == set("ndkm")
    assert {compared["peer"] for compared in content["peers"]} == PEERS
    assert {"python", "numpy", "numba", "scikit-learn", "cores"} <= content["environment"].keys()
    for name in ASKED | PEERS:
        assert f"| {name} " in done.stdout
        assert f"| {name} " in page.read_text()


def test_one_task_is_chosen_by_name(tmp_path: Path) -> None:
    written = tmp_path / "iris.json"
    done = benchmark("--only", "iris", "--json", str(written))
    assert done.returncode == 0, done.stderr
    content = json.loads(written.read_text())
    assert [task["name"] for task in content["tasks"]] == ["iris"]
    assert content["sizes"] == content["growth"] == content["peers"] == []


@pytest.mark.parametrize("name", ["iriss", ""])
def test_an_unknown_task_is_refused(name: str) -> None:
    done = benchmark("--only", name)
    assert done.returncode == 2
    assert "gaussian-fit" in done.stderr
