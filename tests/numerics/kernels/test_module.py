"""The compiled module as a whole: its levels, its stubs, and what its levels may not share."""

import ast
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from suffice.numerics import kernels

ROOT = Path(__file__).parents[3]
STUBS = ROOT / "src/suffice/numerics/kernels"


def test_stubs_say_what_the_module_has(tmp_path: Path) -> None:
    arguments = ["-q", "-r", "-m", "suffice.numerics.kernels", "-O", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", *arguments], check=True, timeout=120)
    made = {stub.name: stub for stub in (tmp_path / "kernels").glob("*.pyi")}
    assert set(made) == {stub.name for stub in STUBS.glob("*.pyi")}
    for name, stub in made.items():
        ours = ast.dump(ast.parse((STUBS / name).read_text()))
        assert ast.dump(ast.parse(stub.read_text())) == ours, f"write {name} with nanobind.stubgen"


def test_a_level_can_be_asked_for() -> None:
    def level(wish: str) -> subprocess.CompletedProcess[str]:
        program = "from suffice.numerics import kernels; print(kernels.level())"
        environment = os.environ | {"SUFFICE_SIMD": wish}
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )

    best = level("").stdout.strip()
    assert best in {"base", "v2", "v3", "v4"}
    lowest = "base" if best == "base" else "v2"
    assert level(lowest).stdout.strip() == lowest
    assert "SUFFICE_SIMD asks for v9" in level("v9").stderr
    assert kernels.level() == os.environ.get("SUFFICE_SIMD", best)


def test_levels_share_no_symbol() -> None:
    """A function that two levels define is taken from one: AVX-512 on an older processor."""
    objects = sorted(ROOT.glob("build/*/CMakeFiles/level_*.dir/*.o*"))
    nm = shutil.which("nm")
    if not objects or not nm:
        pytest.skip("the folder of the build is not here, or nm is not")
    owners: Counter[str] = Counter()
    for build in {file.parents[1] for file in objects}:
        for level in sorted(build.glob("level_*.dir")):
            files = [str(file) for file in level.glob("*.o*")]
            listed = subprocess.run(
                [nm, "--defined-only", "--extern-only", *files], capture_output=True, text=True
            )
            lines = [line.split() for line in listed.stdout.splitlines()]
            names = {line[2] for line in lines if len(line) == 3 and "DW.ref" not in line[2]}
            assert names
            owners.update(f"{build} {name}" for name in names)
    assert [name for name, levels in owners.items() if levels > 1] == []
