"""No model file, whatever is in it, harms who loads it: it is refused, or its model answers.

The files are those of `tests/saved_models`, each changed in many ways, with digests that hold.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.saved_models.conftest import folder_of  # noqa: F401
from tests.saved_models.models import GROUPS

CHILD = Path(__file__).parent / "child.py"

FEW = 3  # mutants of each that are tried at any time


def check(first: int, last: int, *folders: Path) -> None:
    """Let a process of its own load mutants: if one kills it, the last line names that one."""
    arguments = map(str, (first, last, *folders))
    done = subprocess.run([sys.executable, CHILD, *arguments], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]} ended the process\n{done.stderr[-2000:]}"
    assert [line for line in lines if "FAILED" in line] == []
    files = sum(len(list(folder.glob("*.suffice"))) for folder in folders)
    assert len(lines) == (last - first) * files
    assert any(line.endswith("refused") for line in lines)


def test_a_few_forged_files_are_refused_or_answer(folder_of):  # noqa: F811
    check(0, FEW, *map(folder_of, GROUPS))


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", GROUPS)
def test_forged_files_are_refused_or_answer(group, folder_of):  # noqa: F811
    check(FEW, 100, folder_of(group))
