"""The benchmarks run, everything small; what they measured is not looked at."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.exhaustive  # `.ci/run` has a section of its own for them
ROOT = Path(__file__).parents[1]
PEERS = {"polars": "parquet", "nilearn": "searchlight"}  # may be absent, by task
METHODS = ["naive Bayes", "LDA", "QDA", "logistic regression", "nearest neighbours"]
MIXED_FILE = """
import sys
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq
from benchmarks.mixed_file import LABEL, write
from benchmarks.tasks import polars_sums
from suffice import NaiveBayes

folder = Path(sys.argv[1])
long, short, text = (folder / name for name in ("long.parquet", "short.parquet", "same.csv"))
write(long, 3_000, 1_000)
write(short, 2_000, 1_000)
write(text, 3_000, 1_000)
rows = pq.read_table(long)
assert pq.read_table(short) == rows[:2_000]
assert pq.read_metadata(long).num_row_groups == 3
assert rows[LABEL].null_count == 0
assert all(0.03 < rows[name].null_count / 3_000 < 0.07 for name in rows.schema.names[:-1])

statistic = NaiveBayes.textbook().fit(long, LABEL).statistic_
assert NaiveBayes.textbook().fit(text, LABEL).statistic_ == statistic
numbers, categories = statistic.blocks
moments, *levels = (table.sort(table.columns) for table in polars_sums(long))
sums = moments.select(f"x{j}" for j in range(6)).to_numpy()
squares = moments.select(f"x{j}_squares" for j in range(6)).to_numpy()
assert np.array_equal(moments.select(f"x{j}_count" for j in range(6)), numbers.total)
np.testing.assert_allclose(sums, numbers.total * numbers.mean, rtol=1e-12)
np.testing.assert_allclose(squares - sums**2 / numbers.total, numbers.scatter, rtol=1e-2)
for j, table in enumerate(levels):
    counts = categories.column(j)
    assert np.array_equal(table.drop_nulls()["len"], counts[counts > 0])
"""
ABSENT = """
import sys
sys.modules["polars"] = None
from benchmarks.__main__ import main
sys.argv = ["benchmarks", "parquet", "--quick"]
main()
"""


def python(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cells(printed: str) -> list[list[str]]:
    """The lines of a table below its heading."""
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_tasks_are_printed_and_written(tmp_path: Path) -> None:
    written = tmp_path / "figures.json"
    printed = cells(python("-m", "benchmarks", "--quick", "--json", str(written)))
    content: dict[str, Any] = json.loads(written.read_text())
    assert {"python", "numpy", "scikit-learn", "cores"} <= content["environment"].keys()
    assert [line[0] for line in printed] == [task["name"] for task in content["tasks"]]
    assert len(printed) == len({line[0] for line in printed}) > 20
    for task in content["tasks"]:
        if task["absent"]:
            assert task["name"] in PEERS.values()
            continue
        for clock in ("cpu", "wall"):
            assert task["ratio"][clock] == pytest.approx(
                task["theirs"][clock] / task["ours"][clock], rel=1e-12
            )
        assert task["asked"] == [] or task["name"].endswith(("loo", "iris"))
    remembered = {task["name"] for task in content["tasks"] if task["memory"] is not None}
    assert remembered <= {line[0] for line in printed if line[0].endswith(("fit", "batches"))}


def test_tasks_are_chosen_by_name() -> None:
    (line,) = cells(python("-m", "benchmarks", "iris"))
    assert line[0] == "iris"
    assert line[-1].startswith("wall ≥ 1: ")


def test_an_unknown_task_is_refused() -> None:
    command = [sys.executable, "-m", "benchmarks", "iriss"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "gaussian-fit" in done.stderr


def test_who_is_absent_is_skipped_with_the_reason() -> None:
    (line,) = cells(python("-c", ABSENT))
    assert line[0] == "parquet"
    assert line[-1].startswith("skipped: ")
    assert float(line[3]) > 0  # our own milliseconds


@pytest.mark.parametrize("module", ["accuracy", "made_tables"])
def test_accuracy_is_printed(module: str) -> None:
    table = "iris" if module == "made_tables" else "penguins"
    models = ["--model", "NaiveBayes()", "--model", "NaiveBayes(alpha=0.5)", "--peers"]
    printed = python("-m", f"benchmarks.{module}", table, *models)
    assert printed.startswith("| table | NaiveBayes() | NaiveBayes(alpha=0.5) | LR | RF | HGB |")
    first, mean, *_ = cells(printed)
    assert first[0] == table
    assert mean[0] == "**mean of 1**"
    assert all(0 <= float(cell.partition("/")[0]) < 15 for cell in first[1:])


def test_memory_is_printed() -> None:
    lines = cells(python("-m", "benchmarks.memory", "--quick"))
    assert [line[1] for line in lines] == ["30,000"] * 4 + ["100,000"] * 4
    assert [line[0] for line in lines[:4]] == [line[0] for line in lines[4:]]


def test_trade_offs_are_printed() -> None:
    printed = python("-m", "benchmarks.trade_offs", "--quick")
    assert f"| {' | '.join(METHODS)} | best |" in printed
    lines = {(line[0], int(line[2])): line[3:] for line in cells(printed)}
    assert lines["parameters", 2] == [
        str(2 * 2 + 2 * 2 + 1),
        str(2 * 2 + 3 + 1),
        str(2 * 2 + 2 * 3 + 1),
        str(2 + 1),
        str(30 * 2),
        "",
    ]
    for truth in ("independent", "equal", "unequal", "copies", "humps"):
        *found, best = (float(cell.strip("%")) for cell in lines[f"accuracy, {truth}", 5])
        assert 50 <= max(found) < best + 1


def test_the_mixed_file_is_what_it_is_said_to_be(tmp_path: Path) -> None:
    python("-c", MIXED_FILE, str(tmp_path))


# -- `benchmarks.same_models` finds a change of one estimator, and no other


def test_a_changed_default_is_found(tmp_path: Path) -> None:
    changed = tmp_path / "src" / "suffice"
    shutil.copytree(ROOT / "src" / "suffice", changed, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "src" / "native", tmp_path / "src" / "native")
    with (changed / "naive_bayes" / "__init__.py").open("a") as file:
        file.write("\nMultinomialNB.__init__.__kwdefaults__['alpha'] = 0.5\n")
    command = [sys.executable, "-m", "benchmarks.same_models", str(tmp_path), "--table", "words"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    *found, last = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    assert [line.partition(":")[0] for line in found] == ["MultinomialNB of words"]
    assert "feature_log_prob_ (" in found[0]
    assert last.endswith("1 fits differ")
