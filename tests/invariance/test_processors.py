"""Files, predictions and probabilities have the same bits whatever the processor can do."""

import json
import os
import re
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.invariance import models_of_processors

from suffice.numerics import kernels

ROOT = Path(__file__).parents[2]
LEVELS = ["v2", "v3", "v4"]
#: What may call functions of NumPy, SciPy or the C library whose last bits depend on the processor.
ELSEWHERE = {
    "src/suffice/numerics/in_print.py": "decimals that are printed",
    "src/suffice/models/design/remarks.py": "decimals that are printed",
    "src/suffice/numerics/linalg.py": "decimals that are printed",
    "src/suffice/reports/columns.py": "steps of a slider",
    "src/suffice/sums/comparison.py": "a report on two statistics",
}
#: What may call LAPACK, by NumPy or SciPy.
LINEAR_ALGEBRA = {
    "discriminant_analysis/linear.py": "axes of `transform`",
    "discriminant_analysis/quadratic.py": "`rotations_` and `scalings_`",
    "families/multivariate_gaussian.py": "draws, intervals, rows left out, columns beyond the rows",
    "images/scoring.py": "millimetres of a grid",
    "models/design/norm.py": "the minimum norm of dependent terms",
    "models/linear/diagnostics.py": "inflation of variances",
    "models/linear/level_rows.py": "categories of many levels",
    "models/linear/regressor.py": "`singular_`",
    "models/linear/ridge.py": "the penalty of the least error left out",
    "models/linear/robust.py": "F of a summary, errors of clusters",
    "models/linear/rows.py": "least squares of fewer rows than columns",
    "models/logistic/in_memory.py": "steps of logistic regression",
    "models/logistic/minimise.py": "the end of logistic regression",
    "models/logistic/model.py": "terms that the rows leave open",
    "models/logistic/objective.py": "Firth's penalty",
    "models/optimise/newton.py": "iterations of logistic regression",
    "sums/kept_rows.py": "roots of fewer rows than columns",
    "numerics/linalg.py": "a proof that a matrix is definite, of which no number is used",
}
LAPACK = re.compile(r"\b(?:np|scipy)\.linalg\.(?!norm\()\w+|from scipy\.linalg\b.* import")
FUNCTIONS = re.compile(
    r"(?:np|math)\.(?:exp|exp2|expm1|log|log1p|log2|log10|logaddexp|lgamma|gamma|sinh|cosh|tanh)\("
    r"|import.*\b(?:gammaln|loggamma|psi|logsumexp|expit|log_expit|softmax|log_softmax|xlogy)\b"
)
IN_NATIVE = re.compile(r"#include <c?math|std::(?:exp|log|lgamma|pow)|__builtin_(?:exp|log|pow)")


@cache
def digests(*arguments: str, **environment: str) -> dict[str, Any]:
    """Return what the program prints in a process of its own."""
    program = str(ROOT / "tests/invariance/models_of_processors.py")
    command = [sys.executable, program, *arguments]
    changed = os.environ | environment
    run = subprocess.run(command, env=changed, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def instructions_of_numpy() -> str:
    """Return the names of the instructions that NumPy chooses loops by, and that are here."""
    module = pytest.importorskip("numpy._core._multiarray_umath")
    here = module.__cpu_features__
    return " ".join(name for name in module.__cpu_dispatch__ if here.get(name))


def environments() -> dict[str, dict[str, str]]:
    """What a process is told of the processor, by what it is told to do without."""
    return {
        **{level: {"SUFFICE_SIMD": level} for level in LEVELS},
        "loops of NumPy": {"NPY_DISABLE_CPU_FEATURES": instructions_of_numpy()},
        "loops of BLAS": {"OPENBLAS_CORETYPE": "Prescott"},
        "threads of BLAS": {"OPENBLAS_NUM_THREADS": "3"},
    }


def test_neither_the_processor_nor_threads_matter() -> None:
    """Everything at once; the exhaustive test tells which it is."""
    if kernels.level() not in LEVELS:
        pytest.skip("the names are those of an x86 processor")
    changed: dict[str, str] = {}
    for one in environments().values():
        changed.update(one)
    lesser = digests(**changed | {"SUFFICE_SIMD": "v2"})
    assert lesser["level"] == "v2"
    with warnings.catch_warnings(action="ignore"):
        assert models_of_processors.digests(models_of_processors.models()) == lesser["digests"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("models", ["", "slow"])
@pytest.mark.parametrize(
    "environment", [*LEVELS, "loops of NumPy", "loops of BLAS", "threads of BLAS"]
)
def test_models_are_the_same_everywhere(environment: str, models: str) -> None:
    arguments = [models] if models else []
    best = digests(*arguments, SUFFICE_SIMD="")
    if environment in LEVELS and best["level"] < environment:
        pytest.skip(f"this processor has no {environment}")
    changed = {"SUFFICE_SIMD": ""} | environments()[environment]
    assert digests(*arguments, **changed)["digests"] == best["digests"]


def without_examples(text: str) -> str:
    """Return the lines that are no example of a docstring."""
    return "\n".join(line for line in text.splitlines() if not re.match(r"\s*(>>>|\.\.\.) ", line))


def test_lapack_is_on_no_path_to_closed_forms() -> None:
    package = ROOT / "src/suffice"
    found = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if LAPACK.search(without_examples(file.read_text(encoding="utf-8")))
    }
    assert found == set(LINEAR_ALGEBRA)


def test_elementary_functions_have_one_home() -> None:
    files = {str(file.relative_to(ROOT)): file for file in (ROOT / "src/suffice").rglob("*.py")}
    found = {
        name
        for name, file in files.items()
        if FUNCTIONS.search(without_examples(file.read_text(encoding="utf-8")))
    }
    assert found == set(ELSEWHERE)
    native = [*(ROOT / "src/native").rglob("*.?pp")]
    assert [file.name for file in native if IN_NATIVE.search(file.read_text("utf-8"))] == []
