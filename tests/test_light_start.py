"""What an import and a first answer load: nothing heavy before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

ARRAY = """
import numpy as np
x = np.random.default_rng(0).normal(size=(30, 4))
y = np.arange(30) % 3
"""
FIRST_ANSWERS = [
    "GaussianNB",
    "NaiveBayes",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
]
OPTIONAL = ["pandas", "polars", "duckdb", "dask", "pyspark", "matplotlib", "nibabel"]
RIDGE = "from suffice.linear_model import Ridge; Ridge().fit(x, y).predict(x)"
TABLE = "size,hue,kind\n" + "1.5,red,apple\n2.5,blue,plum\n1.0,red,apple\n2.0,blue,plum\n" * 3


def lines_of(program: str) -> set[str]:
    """The lines that a program prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.splitlines())


def loaded_by(program: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after a program."""
    return lines_of(f"import sys\n{program}\nprint(*sys.modules, sep=chr(10))")


def command(*words: object) -> str:
    """The program of a command of `suffice`, which goes on after it."""
    return (
        "from contextlib import suppress; from suffice.cli import main\n"
        f"sys.argv = {['suffice', *map(str, words)]}\n"
        "with suppress(SystemExit): main()"
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A CSV file of numbers and words."""
    path = tmp_path / "fruit.csv"
    path.write_text(TABLE)
    return path


def test_importing_the_package_loads_no_library() -> None:
    loaded = loaded_by("import suffice; suffice.__version__")
    assert loaded.isdisjoint([*OPTIONAL, "numpy", "scipy", "pyarrow", "sklearn", "typer", "rich"])


def test_no_public_name_loads_an_optional_library() -> None:
    # scikit-learn looks at pandas by itself where it is installed.
    theirs = "import sys, sklearn.base; theirs = set(sys.modules)"
    names = "from suffice import *; from suffice.families import *; from suffice.images import *"
    shown = "print(*set(sys.modules) - theirs, sep=chr(10))"
    assert lines_of(f"{theirs}\n{names}\n{shown}").isdisjoint(OPTIONAL)


def test_imports_and_first_answers_load_no_scikit_learn() -> None:
    imports = "from suffice.naive_bayes import *; from suffice.discriminant_analysis import *"
    answers = "\n".join(f"{name}().fit(x, y).predict_proba(x)" for name in FIRST_ANSWERS)
    shown = "print(*({step!r} + name for name in sys.modules), sep=chr(10))"
    steps = [(imports, "import "), (f"{ARRAY}\n{RIDGE}", "ridge "), (answers, "answer ")]
    found = lines_of(
        "import sys\n" + "\n".join(f"{code}\n{shown.format(step=step)}" for code, step in steps)
    )
    absent = {
        "import ": "sklearn scipy pandas joblib narwhals threadpoolctl pyarrow.parquet pyarrow.fs "
        "suffice.linear_model",
        "ridge ": "sklearn scipy pandas suffice.models.logistic.model",
        "answer ": "sklearn scipy.stats scipy.sparse scipy.optimize pandas",
    }
    for step, names in absent.items():
        assert step + "suffice.naive_bayes" in found
        assert found.isdisjoint(step + name for name in names.split())


def test_the_help_of_a_command_loads_no_model() -> None:
    loaded = loaded_by(command("fit", "--help"))
    assert loaded.isdisjoint({"pyarrow", "scipy", "sklearn", "pydantic", "suffice.models"})


def test_the_help_of_the_command_line_loads_no_library() -> None:
    loaded = loaded_by(command("--help"))
    assert loaded.isdisjoint({"numpy", "pyarrow", "scipy", "sklearn", "pandas", "pydantic"})
    assert loaded.isdisjoint({"rich.markdown", "typer.rich_utils"})
    assert not any(name.startswith("suffice.cli.commands.") for name in loaded)


def test_commands_load_what_they_need(table: Path, tmp_path: Path) -> None:
    model, answers = tmp_path / "fruit.suffice", tmp_path / "answers.csv"
    heavy = {
        *("joblib", "pyarrow.parquet", "pydantic", "rich.markdown", "rich.progress", "sklearn"),
        *("scipy.optimize", "scipy.sparse", "scipy.stats", "suffice.linear_model", "threadpoolctl"),
    }
    fitting = loaded_by(command("fit", table, "--label", "kind", "-o", model))
    predicting = loaded_by(command("predict", model, table, "--proba", "-o", answers))
    assert fitting.isdisjoint(heavy)
    assert predicting.isdisjoint({*heavy, "rich", "suffice.cli.commands.fit"})
    assert answers.read_text().splitlines()[1].startswith("apple,")
