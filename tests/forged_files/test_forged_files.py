"""No model file, whatever is in it, harms who loads it: it is refused, or its model answers.

The files are those of `tests/saved_models`, each changed in many ways, with digests that hold.
"""

import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).parent / "child.py"
FOLDERS = sorted((Path(__file__).parents[1] / "saved_models").glob("*/predictions.json"))
FILES = [path for folder in FOLDERS for path in sorted(folder.parent.glob("*.suffice"))]

FEW = 6  # mutants of each that are tried at any time


def check(first: int, last: int, *files: Path) -> None:
    """Let a process of its own load mutants: if one kills it, the last line names that one."""
    arguments = [str(files[0].parent), str(first), str(last), *(path.name for path in files)]
    done = subprocess.run([sys.executable, CHILD, *arguments], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]} ended the process\n{done.stderr[-2000:]}"
    assert [line for line in lines if "FAILED" in line] == []
    assert len(lines) == (last - first) * len(files)
    assert any(line.endswith("refused") for line in lines)


def test_a_few_forged_files_of_every_model_are_refused_or_answer():
    for folder in FOLDERS:
        check(0, FEW, *(path for path in FILES if path.parent == folder.parent))


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_forged_files_are_refused_or_answer(path):
    check(FEW, 5_000, path)
