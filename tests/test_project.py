"""What contributors meet: hooks check what CI checks, and workflows run scripts that are here."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = r"([a-z][a-z-]+(?: check| format)?)\b.*"


def _workflows() -> dict[str, str]:
    return {path.name: path.read_text("utf8") for path in ROOT.glob(".github/workflows/*.yml")}


def test_hooks_check_what_ci_checks() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf8")
    script = (ROOT / ".ci/run").read_text("utf8")
    (section,) = re.findall(r'section "Style, types, layers"\n(.*?)\nsection', script, re.DOTALL)
    in_hooks = re.findall(rf"^ +entry: (?:env -C src )?{PROGRAM}$", hooks, re.MULTILINE)
    in_ci = re.findall(rf"^(?:\(cd [^&]+ && )?{PROGRAM}$", section, re.MULTILINE)
    assert sorted(in_hooks) == sorted(set(in_ci) - {"pip"})
    assert len(in_hooks) == 5


def test_workflows_run_scripts_that_are_here() -> None:
    found = {name for text in _workflows().values() for name in re.findall(r"bash (\S+)", text)}
    assert {".ci/run", ".ci/all"} <= found
    assert [name for name in sorted(found) if not (ROOT / name).is_file()] == []


def test_workflows_cover_systems_and_the_oldest_python() -> None:
    tests = _workflows()["tests.yml"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    assert f'"{project["requires-python"].removeprefix(">=")}"' in tests
    assert {"ubuntu", "macos", "windows"} <= set(re.findall(r"(\w+)-latest", tests))
    assert "python -m docs" in _workflows()["docs.yml"]
    assert "pypa/cibuildwheel" in _workflows()["wheels.yml"]
