"""What an import loads: nothing heavy before it is needed, nothing optional at all."""

import subprocess
import sys
from functools import cache

import pytest

OPTIONAL = ["pandas", "polars", "duckdb", "dask", "pyspark", "matplotlib", "nibabel"]
HEAVY = ["numpy", "scipy", "pyarrow", "sklearn", "narwhals", "typer", "rich"]


@cache
def loaded_by(statement: str) -> frozenset[str]:
    """Names of the top-level modules that a fresh interpreter holds after one statement."""
    program = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return frozenset(done.stdout.split())


def test_importing_the_package_loads_no_library() -> None:
    assert loaded_by("import suffice").isdisjoint(HEAVY + OPTIONAL)


def test_the_version_loads_no_library() -> None:
    assert loaded_by("import suffice; suffice.__version__").isdisjoint(HEAVY + OPTIONAL)


@pytest.mark.parametrize(
    "statement",
    [
        "from suffice import BayesClassifier",
        "from suffice import LinearRegression, Ridge",
        "from suffice import NaiveBayes",
        "from suffice import load",
        "from suffice import read_csv",
        "from suffice import read_sql",
        "from suffice.families import *",
        "from suffice.images import SearchLight",
    ],
)
def test_no_public_name_loads_an_optional_library(statement: str) -> None:
    # scikit-learn looks at pandas by itself where it is installed.
    theirs = loaded_by("import sklearn.base")
    assert (loaded_by(statement) - theirs).isdisjoint(OPTIONAL)
