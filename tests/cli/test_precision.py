"""``--precision``: sums as pairs of doubles or as whole numbers, and what commands say of them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]
TABLE = "a,b,label\n1,2,x\n2,3,y\n1.5,9,x\n8,7,y\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


def test_the_file_says_how_sums_are_held(run: Run, table: Path, tmp_path: Path) -> None:
    for given, said in (
        ([], "pairs of doubles"),
        (["--precision", "pairs"], "pairs of doubles"),
        (["--precision", "exact"], "exact, as whole numbers"),
    ):
        model = tmp_path / "m.suffice"
        fit = ["fit", table, "--label", "label", *given, "-o", model]
        assert run(*fit).exit_code == 0
        assert f"sums of numbers: {said}\n" in run("show", model).stdout
        held = json.loads(run("show", model, "--json").stdout)["precision"]
        assert held == [given[1] if given else "pairs"]


@pytest.mark.parametrize("kind", ["linear", "lda"])
def test_the_order_of_rows_does_not_show_in_exact_files(
    run: Run, table: Path, tmp_path: Path, kind: str
) -> None:
    head, *rows = TABLE.splitlines(keepends=True)
    turned = tmp_path / "turned.csv"
    turned.write_text(head + "".join(rows[::-1]))
    label = "a" if kind == "linear" else "label"
    ignored = ["--ignore", "label"] if kind == "linear" else []
    files = []
    for path in (table, turned):
        options = ["--model", kind, "--precision", "exact", "-o", tmp_path / "m", *ignored]
        assert run("fit", path, "--label", label, *options).exit_code == 0
        files.append((tmp_path / "m").read_bytes())
    assert files[0] == files[1]


def test_two_linear_forms_are_not_merged(run: Run, table: Path, tmp_path: Path) -> None:
    models = [tmp_path / f"{precision}.suffice" for precision in ("exact", "pairs")]
    for model in models:
        options = ["--precision", model.stem, "--model", "linear", "--ignore", "label", "-o", model]
        assert run("fit", table, "--label", "a", *options).exit_code == 0
    result = run("merge", *models, "-o", tmp_path / "both")
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "error: the sums are exact in" in said
    assert said.endswith("fit both with the same --precision.")


def test_two_forms_are_not_merged(run: Run, table: Path, tmp_path: Path) -> None:
    models = [tmp_path / f"{precision}.suffice" for precision in ("exact", "pairs")]
    for model in models:
        options = ["--precision", model.stem, "-o", model]
        assert run("fit", table, "--label", "label", *options).exit_code == 0
    result = run("merge", *models, "-o", tmp_path / "both")
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "the sums of column 'a' are exact in" in said
    assert said.endswith("fit both with the same --precision.")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--precision", "double"], "--precision 'double'; it is one of 'pairs', 'exact'."),
        (["--model", "logistic", "--precision", "exact"], "it belongs to --model naive-bayes"),
    ],
)
def test_others_are_refused(run: Run, table: Path, given: list[str], message: str) -> None:
    result = run("fit", table, "--label", "label", *given)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
