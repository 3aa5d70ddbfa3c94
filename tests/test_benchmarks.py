"""The benchmarks run, everything small; what they measured is not looked at."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NAIVE_BAYES = {
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
DISCRIMINANT = {
    "lda-fit",
    "lda-fit-lsqr",
    "lda-fit-double",
    "lda-predict",
    "qda-fit",
    "qda-predict",
    "co-moments",
    "co-moments-double",
}
PEERS = {"river", "pomegranate", "mixed-naive-bayes", "e1071"}
TRUTHS = {"independent", "equal", "unequal", "copies", "humps"}
METHODS = {"naive Bayes", "LDA", "QDA", "logistic regression", "nearest neighbours"}
FIGURES = {"training", "prediction", "parameters", "bytes", "accuracy"}
LEFT_OUT = """
from benchmarks.trade_offs.cells import measure
from benchmarks.trade_offs.findings import findings
from benchmarks.trade_offs.overview import ROWS, tables
cells = list(measure([(30, 2), (40, 2)], ["equal"], test_rows=50, most_draws=1, limit=0.0))
measured = {"rows": cells, "columns": []}
print(*map(ROWS.row, cells), *findings(measured), sep="\\n")
for table, lines in tables(measured):
    print(*table.lines(lines), sep="\\n")
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def benchmark(suite: str, *options: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "benchmarks", suite, "--quick", *options)


def measured(suite: str, folder: Path, *options: str) -> tuple[dict[str, Any], str, str]:
    """What a suite writes as JSON, prints, and writes as a page."""
    written, page = folder / "figures.json", folder / "page.md"
    done = benchmark(suite, *options, "--json", str(written), "--markdown", str(page))
    assert done.returncode == 0, done.stderr
    content: dict[str, Any] = json.loads(written.read_text())
    return content, done.stdout, page.read_text()


def test_naive_bayes_is_printed_and_written(tmp_path: Path) -> None:
    content, printed, page = measured("naive-bayes", tmp_path)
    suite = content["naive-bayes"]
    assert {task["name"] for task in suite["tasks"]} == NAIVE_BAYES
    assert len(suite["sizes"]) == 6
    assert {growth["size"] for growth in suite["growth"]} == set("ndkm")
    assert {compared["peer"] for compared in suite["peers"]} == PEERS
    assert {"python", "numpy", "numba", "scikit-learn", "cores"} <= content["environment"].keys()
    for name in NAIVE_BAYES | PEERS:
        assert f"| {name} " in printed
        assert f"| {name} " in page


def test_discriminant_analysis_is_printed_and_written(tmp_path: Path) -> None:
    content, printed, page = measured("discriminant-analysis", tmp_path)
    tasks = content["discriminant-analysis"]["tasks"]
    assert {task["name"] for task in tasks} == DISCRIMINANT
    for task in tasks:
        assert {"ours", "theirs", "ratio", "floor", "ours_memory"} <= task.keys()
        assert f"| {task['name']} " in printed
        assert f"| {task['name']} " in page
        assert bool(task["targets"]) == (task["name"] != "co-moments-double")


def test_trade_offs_are_printed_and_written(tmp_path: Path) -> None:
    content, printed, page = measured("trade-offs", tmp_path)
    suite = content["trade-offs"]
    for cells in (suite["rows"], suite["columns"]):
        sizes = {(cell["n"], cell["d"]) for cell in cells}
        assert len(cells) == len(TRUTHS) * len(METHODS) * len(sizes)
        assert {cell["truth"] for cell in cells} == TRUTHS
        assert {cell["method"] for cell in cells} == METHODS
        for cell in cells:
            assert cell["reason"] is None
            assert all(cell[figure] is not None for figure in FIGURES)
            assert 0.5 < cell["best"] <= 1
    assert {cell["n"] for cell in suite["rows"]} == {30, 100}
    assert {cell["d"] for cell in suite["columns"]} == {2, 5}
    for line in (*suite["findings"], "### Accuracy", "### Training, ms", "### Bytes"):
        assert line in printed
        assert line in page


def test_parameters_are_counted(tmp_path: Path) -> None:
    content, *_ = measured("trade-offs", tmp_path, "--only", "equal")
    cells = content["trade-offs"]["columns"]
    counted = {cell["method"]: cell["parameters"] for cell in cells if cell["d"] == 2}
    assert counted == {
        "naive Bayes": 2 * 2 + 2 * 2 + 1,
        "LDA": 2 * 2 + 3 + 1,
        "QDA": 2 * 2 + 2 * 3 + 1,
        "logistic regression": 2 + 1,
        "nearest neighbours": 1_000 * 2,
    }


def test_what_would_take_too_long_is_left_out_with_the_reason() -> None:
    done = python("-c", LEFT_OUT)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    absent = [line for line in lines if line.count("| — ") == len(FIGURES)]
    explained = [line for line in absent if "the limit is 0 s" in line]
    assert len(explained) == len(METHODS)
    assert len(absent) - len(explained) == len(FIGURES)  # a line of each table at a glance


@pytest.mark.parametrize("suite", ["naive-bayes", "all"])
def test_one_task_is_chosen_by_name(tmp_path: Path, suite: str) -> None:
    content, _, page = measured(suite, tmp_path, "--only", "iris")
    found = content["naive-bayes"]
    assert [task["name"] for task in found["tasks"]] == ["iris"]
    assert found["sizes"] == found["growth"] == found["peers"] == []
    if suite == "all":
        assert content["discriminant-analysis"]["tasks"] == []
        assert content["trade-offs"]["rows"] == content["trade-offs"]["columns"] == []
    assert page.count("Every figure is the median") == 1


@pytest.mark.parametrize("name", ["iriss", ""])
def test_an_unknown_task_is_refused(name: str) -> None:
    done = benchmark("naive-bayes", "--only", name)
    assert done.returncode == 2
    assert "gaussian-fit" in done.stderr
