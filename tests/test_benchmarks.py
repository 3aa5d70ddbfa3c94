"""The benchmarks run, everything small; what they measured is not looked at."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.exhaustive  # `.ci/run` has a section of its own for them
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
LINEAR = {
    "linear-fit",
    "linear-fit-double",
    "ridge-fit",
    "ridge-fit-double",
    "lasso-fit",
    "logistic-l1-fit",
}
CONTESTS = {"linear-intelex", "ridge-intelex", "logistic-2", "logistic-5", "logistic-text"}
PEERS = {"river", "pomegranate", "mixed-naive-bayes", "e1071"}
TRUTHS = {"independent", "equal", "unequal", "copies", "humps"}
METHODS = {"naive Bayes", "LDA", "QDA", "logistic regression", "nearest neighbours"}
PAIRS = {"polars", "csv", "processes"}
CLUSTERS = {"dask": "distributed", "spark": "pyspark"}
SCALED = {"naive Bayes", "linear regression", "LDA", "logistic regression"}
FIGURES = {"training", "prediction", "parameters", "bytes", "accuracy"}
MIXED_FILE = """
import sys
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq
from benchmarks.mixed_file import LABEL, write
from benchmarks.tasks.engines import polars_sums
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
COST_MODEL = """
from math import isclose
from benchmarks.scaling.cost_model import Cluster, Merge, Overhead, Speed, Work, predict

speed = Speed(fixed={1: 1.0, 2: 1.0}, split={1: 2.0, 2: 3.0}, rows=10, bytes=100)
assert [speed.of_pass(16, w, cores=2) for w in (1, 2, 4)] == [33, 25, 25]  # two cores, whoever asks
assert speed.of_pass(17, 2, cores=2) == 28  # one of the workers is idle in the last round

here = Cluster(cores=2, reading=1e9, bandwidth=1e3, latency=0.5)
small = Merge("small", "", bytes=1_000, pack=0.1, open=0.2, add=0.3)
large = Merge("large", "", bytes=2_000_000, pack=0.1, open=0.2, add=0.3)
work = Work("any", splits=64, split_rows=20, passes=2)


def seconds(engine, merge, workers, cluster=here):
    overhead = Overhead(engine, 2, "small", 1_000, splits=11, one=1.0, many=2.0)
    found = predict(work, workers, speed, merge, overhead, cluster)
    return found.fixed, found.computing, found.driver, found.merging, found.seconds


def near(ones, others):
    return all(map(isclose, ones, others))


# two passes; splits of 20 rows take twice as long as those of 10; log2(64) = 6, log8(64) = 2
assert near(seconds("dask", small, 4)[:4], (2, 2 * 16 * 6, 2 * 64 * 0.1, 2 * (2 * 12.3 + 2)))
node = 0.5 + 8 * 2_000.2 + 7 * 0.3 + 0.1
assert near(seconds("dask", large, 4)[2:4], (2 * 64 * 0.1, 2 * (2 * node + 2_001)))
assert near(seconds("spark", small, 4)[:4], (4, 2 * 16 * 6, 0, 2 * 16 * 2))
assert near(seconds("spark", large, 4)[2:4], (0, 2 * (2 * (1 + node) + 2_001)))
slow = Cluster(cores=2, reading=10.0)
assert predict(work, 4, speed, small, Overhead("dask", 2, ""), slow).bound == "storage"
"""
ABSENT = """
import sys
sys.modules["polars"] = None
from benchmarks.suites import SUITES
table, measure = SUITES["engines"].sections["times"]
print(*map(table.row, measure(["polars"], True)), sep="\\n")
"""
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

INDEPENDENCE = """
from benchmarks.trade_offs.independence import TRUTHS, TWINS, measured, sentences
from suffice import NaiveBayes
methods = {"textbook": NaiveBayes.textbook, "NaiveBayes()": NaiveBayes}
truths = TRUTHS[0], TWINS
cells = list(measured(truths, [(2_000, 10)], methods, test_rows=2_000, draws=1))
twins = cells[1]
assert twins.found["textbook"][1] > twins.found["NaiveBayes()"][1] + 0.03 > twins.best[1]
print(*sentences(cells), sep="\\n")
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
    assert {"python", "numpy", "scikit-learn", "cores"} <= content["environment"].keys()
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


def test_linear_models_are_printed_and_written(tmp_path: Path) -> None:
    content, printed, page = measured("linear", tmp_path)
    suite = content["linear"]
    assert {task["name"] for task in suite["tasks"]} == LINEAR
    assert {entry["contest"] for entry in suite["contests"]} == CONTESTS
    for entry in suite["contests"]:
        assert f"| {entry['solver']} " in printed
        assert f"| {entry['solver']} " in page
        if entry["solver"].startswith("suffice"):
            assert entry["gradient"] < 1e-8
            assert entry["seconds"] > 0
        elif entry["absent"] is None:
            assert entry["ratio"] > 0
        else:
            assert entry["solver"].startswith("sklearnex")
    judged = {entry["contest"] for entry in suite["contests"] if entry["verdict"]}
    assert judged >= {"logistic-2", "logistic-5", "logistic-text"}


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


def test_independence_is_harmless_for_labels_of_twins_and_not_for_probabilities() -> None:
    done = python("-c", INDEPENDENCE)
    assert done.returncode == 0, done.stderr
    textbook, weighted = done.stdout.splitlines()
    assert "rule for independent, twins; probabilities within 0.02 nats too for indep" in textbook
    assert textbook.endswith("for independent.")
    assert weighted.endswith("too for independent, twins.")


def test_the_mixed_file_is_what_it_is_said_to_be(tmp_path: Path) -> None:
    done = python("-c", MIXED_FILE, str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_engines_are_printed_and_written(tmp_path: Path) -> None:
    chosen = [f"--only={name}" for name in PAIRS | {"memory"}]
    content, printed, page = measured("engines", tmp_path, *chosen)
    suite = content["engines"]
    assert [footprint["rows"] for footprint in suite["memory"]] == [100_000, 300_000]
    assert all({"file", "peak", "more", "targets"} <= row.keys() for row in suite["memory"])
    assert {timed["name"] for timed in suite["times"]} == PAIRS
    for timed in suite["times"]:
        assert timed["times"] > 0
        assert f"| {timed['name']} " in printed
        assert f"| {timed['name']} " in page


def test_searchlights_are_printed_and_written(tmp_path: Path) -> None:
    pytest.importorskip("nibabel")
    content, printed, page = measured("searchlight", tmp_path)
    suite = content["searchlight"]
    assert {one["name"] for one in suite["maps"]} == {"slice", "brain"}
    for one in suite["maps"]:
        assert one["absent"] or one["ours"] > 0
    assert [one["shift"] for one in suite["power"]] == [0.0, 0.1, 0.15, 0.25]
    for one in suite["power"]:
        assert one["brains"] == 2
        assert one["interval"][0] <= one["false_alarms"] <= one["interval"][1]
        assert f"| {one['shift']:.2f} " in printed
    assert "### Regions that are planted in noise" in page


def test_scaling_is_printed_and_written(tmp_path: Path) -> None:
    chosen = ("naive-bayes", "statistics", "local", "processes", "footers")
    content, printed, page = measured("scaling", tmp_path, *(f"--only={name}" for name in chosen))
    suite = content["scaling"]
    fits = {(run["model"], run["engine"]) for run in suite["fits"]}
    assert fits == {("naive Bayes", "local"), ("naive Bayes", "processes")}
    assert {run["workers"] for run in suite["fits"] if run["splits"] == 16} == {1, 2, 4}
    assert {run["passes"] for run in suite["fits"]} == {1}
    assert {f"of a fit: {model}" for model in SCALED} < {one["kind"] for one in suite["statistics"]}
    assert {one["engine"] for one in suite["overheads"]} == {"local", "processes"}
    assert len(suite["footers"]) == 3
    assert len(suite["findings"]) == 2
    for line in (*suite["findings"], "### Predicted against measured", "### Fits"):
        assert line in page
    assert "are predicted with a median error of" in printed


def test_the_cost_model_adds_up() -> None:
    done = python("-c", COST_MODEL)
    assert done.returncode == 0, done.stderr


def test_the_cost_model_knows_how_statistics_meet_on_spark() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    names = ("TASKS", "RESULTS", "PIECE")
    compared = " and ".join(f"cost_model.{name} == spark.{name}" for name in names)
    imports = "from benchmarks.scaling import cost_model; from suffice.engines import spark"
    done = python("-c", f"{imports}; assert {compared}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_cluster_is_timed(tmp_path: Path, cluster: str) -> None:
    pytest.importorskip(CLUSTERS[cluster], reason=f"{cluster} is not installed")
    if cluster == "spark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is absent")
    content, printed, _ = measured("engines", tmp_path, "--only", cluster)
    assert content["engines"]["memory"] == []
    (timed,) = content["engines"]["times"]
    assert timed["name"] == cluster
    assert timed["times"] > 0
    assert f"| {cluster} " in printed


def test_who_is_absent_is_skipped_with_the_reason() -> None:
    done = python("-c", ABSENT)
    assert done.returncode == 0, done.stderr
    assert "| polars " in done.stdout
    assert "skipped: " in done.stdout


@pytest.mark.parametrize("suite", ["naive-bayes", "all"])
def test_one_task_is_chosen_by_name(tmp_path: Path, suite: str) -> None:
    content, _, page = measured(suite, tmp_path, "--only", "iris")
    found = content["naive-bayes"]
    assert [task["name"] for task in found["tasks"]] == ["iris"]
    assert found["sizes"] == found["growth"] == found["peers"] == []
    if suite == "all":
        assert content["discriminant-analysis"]["tasks"] == []
        assert content["linear"]["tasks"] == content["linear"]["contests"] == []
        assert content["engines"]["memory"] == content["engines"]["times"] == []
        assert content["trade-offs"]["rows"] == content["trade-offs"]["columns"] == []
        assert not any(content["scaling"].values())
        assert not any(content["searchlight"].values())
    assert page.count("Every figure is the median") == 1


@pytest.mark.parametrize("name", ["iriss", ""])
def test_an_unknown_task_is_refused(name: str) -> None:
    done = benchmark("naive-bayes", "--only", name)
    assert done.returncode == 2
    assert "gaussian-fit" in done.stderr
