"""What an installation from source says where something is missing."""

import os
import platform
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.exhaustive

KERNELS = str(getattr(find_spec("suffice.numerics.kernels"), "origin", ""))
ROOT = Path(__file__).parents[1]
#: What is installed where there is no compiler.
PACKAGES = {
    "Debian, Ubuntu": "apt install g++",
    "Fedora": "dnf install gcc-c++",
    "macOS": "xcode-select --install",
    "Windows": "winget install LLVM.LLVM",
}


def without_compiler(home: Path) -> dict[str, str]:
    """Return an environment whose PATH has what a build needs, but no compiler."""
    if not shutil.which("cmake"):
        pytest.skip("cmake is not here")
    folder = home / "bin"
    folder.mkdir()
    for program in ("cmake", "ninja", "make", "sh", "uname"):
        found = shutil.which(program)
        if found:
            (folder / program).symlink_to(found)
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return kept | {"PATH": str(folder), "LC_ALL": "C.UTF-8"}


def configured(folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Let CMake prepare a build of the kernels."""
    if not shutil.which("cmake"):
        pytest.skip("cmake is not here")
    command = ["cmake", "-S", str(ROOT / "src/native"), "-B", str(folder)]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_a_build_without_a_compiler_says_what_brings_one(tmp_path: Path) -> None:
    run = configured(tmp_path / "build", without_compiler(tmp_path))
    assert run.returncode == 1
    assert "there is no C++ compiler here. Install one:" in " ".join(run.stderr.split())
    for system, command in PACKAGES.items():
        (line,) = (line for line in run.stderr.splitlines() if line.strip().startswith(system))
        assert command in line


def test_another_compiler_than_that_of_python_will_do(tmp_path: Path) -> None:
    if not shutil.which("c++"):
        pytest.skip("a compiler is not here")
    run = configured(tmp_path, os.environ | {"CXX": "absent++ -O2"})
    assert run.returncode == 0, run.stderr
    assert "There is no absent++, which CXX names" in run.stdout


def test_pip_shows_that_sentence(tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core")
    environment = without_compiler(tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.so"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    install = ["install", "--no-deps", "--no-build-isolation", "--no-index", "--target"]
    run = subprocess.run(
        [sys.executable, "-m", "pip", *install, str(tmp_path / "to"), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    for command in PACKAGES.values():
        assert command in run.stdout + run.stderr
    assert not list((tmp_path / "src").rglob("*.so"))


def on(processor: str, wish: str = "") -> subprocess.CompletedProcess[str]:
    """Import the kernels on another processor.

    Parts of NumPy and of others need later processors than this one, so that the module is loaded
    by itself.
    """
    program = (
        "import importlib.util as u, sys; spec = u.spec_from_file_location('kernels', sys.argv[1]);"
        "module = u.module_from_spec(spec); spec.loader.exec_module(module); print(module.level())"
    )
    command = ["qemu-x86_64", "-cpu", processor, sys.executable, "-c", program, KERNELS]
    return subprocess.run(
        command, env=os.environ | {"SUFFICE_SIMD": wish}, capture_output=True, text=True
    )


@pytest.fixture
def emulator() -> None:
    if not shutil.which("qemu-x86_64") or platform.machine() != "x86_64":
        pytest.skip("qemu-x86_64 is not here, or these kernels are for another processor")


@pytest.mark.usefixtures("emulator")
@pytest.mark.parametrize("processor", ["core2duo", "qemu64"])
def test_an_old_processor_gets_a_sentence(processor: str) -> None:
    run = on(processor)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        "ImportError: Suffice is compiled for processors of the levels v2 v3 v4; "
        "this one has none of them (x86-64-v2 is that of 2009)"
    )


@pytest.mark.usefixtures("emulator")
def test_each_processor_gets_its_level() -> None:
    assert on("Nehalem").stdout == "v2\n"
    assert on("Haswell").stdout == "v3\n"


@pytest.mark.usefixtures("emulator")
def test_a_level_that_the_processor_lacks_is_refused() -> None:
    run = on("Nehalem", "v3")
    assert run.returncode == 1
    assert "SUFFICE_SIMD asks for v3, which this one does not have" in run.stderr
