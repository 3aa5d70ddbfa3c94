"""Two versions side by side: processor time of fits and predictions, and Python calls, in turns.

Usage: ``python -m benchmarks.side_by_side OLD [NEW]``, each a commit or the path of a Python
interpreter that has the version installed. A commit is built and installed, without its
dependencies, into a temporary environment that sees the packages of this one. Either version runs
in one process of its own, which waits while the other works; every figure is the least of some
runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

ROOT = Path(__file__).parents[1]
ALONE = "import sys; sys.path.insert(0, sys.argv[1]); from benchmarks import side_by_side as s; "
RUNS, SECONDS = 9, 0.02  # of every task, and the least that one run lasts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.side_by_side", description=__doc__)
    parser.add_argument("old", help="a commit, or a Python interpreter")
    parser.add_argument("new", nargs="?", default=sys.executable, help="another; default: this one")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        pythons = [stack.enter_context(python(v)) for v in (chosen.old, chosen.new)]
        folder = stack.enter_context(TemporaryDirectory())
        both = [stack.enter_context(_child(p, folder)) for p in pythons]
        rows = []
        for task in _ask(both[0], "tasks").split(","):
            for child in both:
                _ask(child, task)  # to warm up, and to write the files
            least, counted = [float("inf")] * 2, [_ask(child, f"calls {task}") for child in both]
            for run in range(RUNS):
                for side in (0, 1) if run % 2 else (1, 0):
                    least[side] = min(least[side], float(_ask(both[side], task)))
            ms = [f"{1000 * s:.4g}" for s in least]
            rows.append([task, *ms, f"{least[1] / least[0]:.2f}", *counted])
    heading = ["task", "before, ms", "now, ms", "now / before", "calls, switches before", "now"]
    for row in (heading, ["---"] * len(heading), *rows):
        print(f"| {' | '.join(row)} |")


@contextmanager
def python(version: str) -> Iterator[str]:
    """The interpreter of a version: the one that is named, or one that a commit is built for."""
    if Path(version).is_file():
        yield version
        return
    with TemporaryDirectory() as folder:
        source, home = Path(folder, "source"), Path(folder, "environment")
        archive = subprocess.run(
            ["git", "archive", version], cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        source.mkdir()
        subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
        interpreter = _environment(home)
        install = [interpreter, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps"]
        subprocess.run([*install, str(source)], check=True, stdout=sys.stderr)
        yield interpreter


def _environment(home: Path) -> str:
    """Make an environment that has the packages of this one, after its own."""
    venv.create(home, with_pip=True)
    scheme = sysconfig.get_preferred_scheme("prefix")
    own = sysconfig.get_path("purelib", scheme, vars={"base": str(home), "platbase": str(home)})
    shared = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    Path(own, "shared.pth").write_text("\n".join(shared) + "\n")
    scripts = sysconfig.get_path("scripts", scheme, vars={"base": str(home)})
    return str(Path(scripts, Path(sys.executable).name))


def _child(interpreter: str, folder: str) -> subprocess.Popen[str]:
    words = [interpreter, "-c", ALONE + "s.serve(sys.argv[2])", str(ROOT), folder]
    return subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _ask(child: subprocess.Popen[str], question: str) -> str:
    assert child.stdin is not None
    assert child.stdout is not None
    print(question, file=child.stdin, flush=True)
    return child.stdout.readline().strip()


def serve(folder: str) -> None:
    """Answer with the seconds of a task, or its calls, until nobody asks any more."""
    from benchmarks.measure import calls

    tasks = _tasks(Path(folder))
    for question in map(str.strip, sys.stdin):
        if question == "tasks":
            answer = ",".join(tasks)
        elif question.startswith("calls "):
            answer = ", ".join(map(str, calls(tasks[question.removeprefix("calls ")])))
        else:
            answer = str(_seconds(tasks[question]))
        print(answer, flush=True)


def _seconds(task: Callable[[], Any]) -> float:
    start, times = process_time(), 0
    while (passed := process_time() - start) < SECONDS or not times:
        task()
        times += 1
    return passed / times


def _tasks(folder: Path) -> dict[str, Callable[[], Any]]:
    """Small fits, and one or more tasks of each suite."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    from suffice import discriminant_analysis as da
    from suffice import linear_model as lm
    from suffice import naive_bayes as nb

    naive_bayes = getattr(nb.NaiveBayes, "textbook", nb.NaiveBayes)  # older ones have no other
    rng = np.random.default_rng(0)
    few, three = rng.normal(size=(400, 5)), rng.integers(0, 3, 400)
    frame = pa.table({**{f"x{j}": column for j, column in enumerate(few.T)}, "y": three})
    iris, of_iris = rng.normal(size=(150, 4)), np.arange(150) % 3
    iris += of_iris[:, None]
    x, y = rng.normal(size=(100_000, 30)), rng.integers(0, 5, 100_000)
    counts, target = (
        rng.poisson(2.0, (100_000, 30)),
        x @ rng.normal(size=30) + rng.normal(size=100_000),
    )
    two, some = (target > 0).astype(int), slice(20_000)
    mixed = pa.table(
        {
            **{f"x{j}": x[:, j] for j in range(4)},
            **{f"s{j}": pa.array([f"v{v}" for v in counts[:, j]]) for j in range(3)},
            "y": pa.array([f"c{v}" for v in y]),
        }
    )
    if not (folder / "rows.parquet").exists():
        pyarrow.parquet.write_table(mixed, folder / "rows.parquet", row_group_size=25_000)
        pyarrow.csv.write_csv(mixed, folder / "rows.csv")
    gaussian, lda = (
        nb.GaussianNB().fit(x, y),
        da.LinearDiscriminantAnalysis().fit(x[some], y[some]),
    )
    return {
        "NaiveBayes.fit 400 x 5": lambda: naive_bayes().fit(few, three),
        "the same; an Arrow table": lambda: naive_bayes().fit(frame, "y"),
        "GaussianNB.fit 150 x 4": lambda: nb.GaussianNB().fit(iris, of_iris),
        "LogisticRegression.fit 400 x 5": lambda: lm.LogisticRegression().fit(few, three // 2),
        "the same; Boolean labels": lambda: lm.LogisticRegression().fit(few, three > 1),
        "LogisticRegression.fit 150 x 4": lambda: lm.LogisticRegression().fit(iris, of_iris),
        "GaussianNB.predict_proba 1 x 30": lambda: gaussian.predict_proba(x[:1]),
        "GaussianNB.fit 100 000 x 30": lambda: nb.GaussianNB().fit(x, y),
        "GaussianNB.predict_proba of them": lambda: gaussian.predict_proba(x),
        "MultinomialNB.fit of counts": lambda: nb.MultinomialNB().fit(counts, y),
        "CategoricalNB.fit of them": lambda: nb.CategoricalNB().fit(counts, y),
        "LinearDiscriminantAnalysis.fit 20 000": (
            lambda: da.LinearDiscriminantAnalysis().fit(x[some], y[some])
        ),
        "LinearDiscriminantAnalysis.predict": lambda: lda.predict(x),
        "QuadraticDiscriminantAnalysis.fit 20 000": (
            lambda: da.QuadraticDiscriminantAnalysis().fit(x[some], y[some])
        ),
        "LinearRegression.fit 20 000": lambda: lm.LinearRegression().fit(x[some], target[some]),
        "Ridge.fit 20 000": lambda: lm.Ridge().fit(x[some], target[some]),
        "LogisticRegression.fit 20 000": lambda: lm.LogisticRegression().fit(x[some], two[some]),
        "NaiveBayes.fit of Parquet": lambda: naive_bayes().fit(str(folder / "rows.parquet"), "y"),
        "NaiveBayes.fit of CSV": lambda: naive_bayes().fit(str(folder / "rows.csv"), "y"),
    }


if __name__ == "__main__":
    main()
