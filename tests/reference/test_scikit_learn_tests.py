"""scikit-learn's own tests with the import changed: which fail is what docs/scikit_learn.md lists.

The installed files are copied to a temporary folder; what they import from scikit-learn's modules
is imported from ours, where we have it. Tests that also use another class or a private function of
these modules are left out: what these do does not tell what our classes do. Skipped tests do not
count. ``python tests/reference/test_scikit_learn_tests.py`` prints what fails and why.
"""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sklearn

VERSION = "1.9."
FOLDER = Path(sklearn.__file__).parent
FILES = (
    FOLDER / "tests" / "test_naive_bayes.py",
    FOLDER / "tests" / "test_discriminant_analysis.py",
    FOLDER / "linear_model" / "tests" / "test_logistic.py",
)
OURS = ("naive_bayes", "discriminant_analysis", "linear_model")
THEIRS = ("sklearn._loss", "sklearn.linear_model._logistic")
PAGE = Path(__file__).parents[2] / "docs" / "scikit_learn.md"
LISTED = re.compile(r"^\| `(?!\w+\.py`)(test_[^`]+)` \| \S.* \|$", re.MULTILINE)
COUNTED = re.compile(r"^\| `(test_\w+\.py)` \| (\d+) of (\d+) \|$", re.MULTILINE)
SETTINGS = """[pytest]
filterwarnings =
    ignore:Estimator .* does not inherit from `sklearn.base.BaseEstimator`:UserWarning
"""


def changed(source: str) -> tuple[str, set[str]]:
    """The file with our classes, and the names in it that are still scikit-learn's."""
    lines, kept = source.splitlines(keepends=True), set[str]()
    for node in reversed(ast.parse(source).body):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        names = [alias.name for alias in node.names]
        if node.module in THEIRS:
            kept.update(names)
        module = node.module.removeprefix("sklearn.")
        if module not in OURS:
            continue
        here = importlib.import_module(f"suffice.{module}").__all__
        mine = [name for name in names if name in here]
        others = [name for name in names if name not in here]
        kept.update(others)
        imports = [f"from suffice.{module} import {', '.join(mine)}\n"]
        imports += [f"from {node.module} import {name}\n" for name in others]
        lines[node.lineno - 1 : node.end_lineno] = imports
    return "".join(lines), kept


def functions_of_others(source: str, names: set[str]) -> set[str]:
    """The test functions that use one of these names."""
    tests = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return {test.name for test in tests if names & _names_in(test)}


def _names_in(test: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}


def outcomes(folder: Path) -> dict[str, dict[str, str]]:
    """What every test that counts ended with, by file: nothing, or the message of its failure."""
    (folder / "conftest.py").write_text("from sklearn.conftest import *\n")
    (folder / "pytest.ini").write_text(SETTINGS)
    left_out = set[tuple[str, str]]()
    for file in FILES:
        text, names = changed(file.read_text())
        (folder / file.name).write_text(text)
        left_out |= {(file.stem, test) for test in functions_of_others(text, names)}
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run([*command, f"--junitxml={report}", "."], cwd=folder, capture_output=True)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for case in ElementTree.parse(report).iter("testcase"):
        file, name = case.attrib["classname"], case.attrib["name"]
        if (file, name.partition("[")[0]) in left_out or case.find("skipped") is not None:
            continue
        found[f"{file}.py"][name] = " ".join(_messages(case))
    return found


def _messages(case: ElementTree.Element) -> Iterator[str]:
    for tag in ("failure", "error"):
        if (problem := case.find(tag)) is not None:
            yield problem.attrib["message"] or tag


@pytest.mark.exhaustive
@pytest.mark.skipif(
    not sklearn.__version__.startswith(VERSION), reason=f"the page is about {VERSION}x"
)
def test_what_fails_of_scikit_learns_tests_is_listed_with_a_reason(tmp_path: Path) -> None:
    found, page = outcomes(tmp_path), PAGE.read_text()
    failed = {name for tests in found.values() for name, message in tests.items() if message}
    assert sorted(failed) == sorted(LISTED.findall(page))
    counts = {
        file: (sum(not message for message in tests.values()), len(tests))
        for file, tests in found.items()
    }
    assert counts == {name: (int(a), int(b)) for name, a, b in COUNTED.findall(page)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for name, tests in outcomes(Path(temporary)).items():
            print(f"| `{name}` | {sum(not m for m in tests.values())} of {len(tests)} |")
            for test, message in sorted(tests.items()):
                if message:
                    print(f"| `{test}` | {message[:300]!r} |")
