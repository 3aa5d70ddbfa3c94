"""The kernels of every processor repeat recorded calls bit by bit, without Python."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from suffice.numerics import kernels

from .record import record

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/replay"  # kept: the next run is short
LEVELS = ["v2", "v3", "v4"]
ARM = [
    "-DCMAKE_SYSTEM_NAME=Linux",
    "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
    "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++",
]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("replay") / "calls"
    assert record(file) > 10_000
    return file


def built(name: str, *options: str) -> str:
    """Build the program, and return its path."""
    folder = BUILD / name
    configure = ["cmake", "-S", str(ROOT / "tests/native"), "-B", str(folder), *options]
    for command in (
        [*configure, "-DSUFFICE_WERROR=ON"],
        ["cmake", "--build", str(folder), "--parallel", "2"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return str(folder / "replay")


def differing(run: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what the program says of kernels that gave something else."""
    assert run.returncode in (0, 1), run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) > 50
    found = [line for line in lines if ": 0 of " not in line]
    assert run.returncode == bool(found)
    return found


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True)


def require(*programs: str) -> None:
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not here")


@pytest.mark.parametrize("level", LEVELS)
def test_levels_of_x86(calls: Path, level: str) -> None:
    require("cmake", "c++")
    best = kernels.level()
    if platform.machine() != "x86_64" or LEVELS.index(best) < LEVELS.index(level):
        pytest.skip(f"this processor has no {level}")
    assert differing(run(built("x86"), str(calls), level)) == []


def test_arm(calls: Path) -> None:
    require("cmake", "aarch64-linux-gnu-g++", "qemu-aarch64")
    assert differing(run("qemu-aarch64", built("arm", *ARM), str(calls), "base")) == []


def test_a_bit_that_differs_is_found(calls: Path, tmp_path: Path) -> None:
    require("cmake", "c++")
    changed = bytearray(calls.read_bytes())
    changed[-1] ^= 1  # of the last digest
    file = tmp_path / "changed"
    file.write_bytes(changed)
    level = "v2" if platform.machine() == "x86_64" else "base"
    assert differing(run(built("x86"), str(file), level)) == ["digest.digamma: 1 of 1 calls differ"]
