"""What ``suffice fit`` says at the end: a command that judges the same table."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Run


def written(path: Path, separator: str = ";", header: str = "") -> None:
    """Rows of two classes: a key, a size with decimal comma, a day, a code, and a weight."""
    rng = np.random.default_rng(7)
    lines = [header] if header else []
    for i in range(60):
        kind = "good" if i % 2 else "bad"
        size = f"{rng.normal(i % 2):.2f}".replace(".", ",") if i % 10 else "?"
        cells = [f"k{i}", size, f"{1 + i % 28:02d}/03/2024", str(rng.integers(1, 4)), kind, "2"]
        lines.append(separator.join(cells))
    path.write_text("\n".join(lines) + "\n")


NAMES = "key,size,day,code,the kind,w"
OPTIONS = [
    *("-r", "header=false", "-r", f"names={NAMES}", "-r", "separator=;", "-r", "decimal=,"),
    *("-r", "missing=?", "-r", "written=day:DD/MM/YYYY", "--ignore", "key"),
    *("--categorical", "code"),
    *("--weight", "w", "-p", "alpha=0.5", "-p", "numbers=gaussian"),
]


def test_the_printed_command_runs_and_reads_the_same_table(run: Run, tmp_path: Path) -> None:
    written(tmp_path / "odd table.csv")
    fit = run("fit", "odd table.csv", "--label", "the kind", *OPTIONS)
    assert fit.exit_code == 0, fit.stderr
    (line,) = (line for line in fit.stdout.splitlines() if line.startswith("  suffice cv"))
    program, *words = shlex.split(line)
    assert program == "suffice"
    assert words[words.index("--model") + 1] == "naive-bayes,auto"
    words[words.index("--model") + 1] = "naive-bayes"
    judged = run(*words, "--folds", 2, "--json")
    assert judged.exit_code == 0, judged.stderr
    assert '"rows": 120.0' in judged.stdout
    for word in OPTIONS:
        assert word in words


@pytest.mark.parametrize(
    "model", ["linear", "ridge", "lasso", "logistic -p C=inf", "logistic -p penalty=firth"]
)
def test_regressions_name_baselines_and_count_rows(run: Run, tmp_path: Path, model: str) -> None:
    rng = np.random.default_rng(5)
    lines = ["size,colour,year,y"]
    for _ in range(90):
        colour, y = rng.choice(["blue", "green", "red"]), rng.integers(2)
        lines.append(f"{rng.normal():.3f},{colour},{rng.choice(['old', 'new'])},{y}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    printed = run("fit", "t.csv", "--label", "y", "--model", *model.split()).stdout
    assert "\n  Categories are compared with colour[blue], year[new].\n" in printed
    assert "Fitted to 90 rows" in printed
    ordered = ("-p", "ordered=colour:green,red,blue", "--ignore", "year", "-o", "o")
    printed = run("fit", "t.csv", "--label", "y", "--model", *model.split(), *ordered).stdout
    assert "compared with" not in printed
    if model == "linear":
        robust = run("summary", "t.suffice", "t.csv", "--robust", "HC3").stdout
        assert "  Categories are compared with colour[blue], year[new].\n" in robust


def test_a_label_of_fractions_is_for_a_regression(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,price\n1,2.5\n2,3.5\n3,4.25\n")
    chosen = run("fit", "t.csv", "--label", "price", "-o", "line.suffice")
    assert chosen.exit_code == 0
    assert "'price' holds numbers, which --model linear predicts" in chosen.stderr
    refused = run("fit", "t.csv", "--label", "price", "--model", "naive-bayes")
    assert refused.exit_code == 2
    assert "to predict a number, use a linear model" in refused.stderr


def test_a_linear_model_of_an_intercept_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("colour,price\nred,1.5\n")
    fit = run("fit", "one.csv", "--target", "price", "--model", "linear")
    assert fit.exit_code == 0, fit.stderr
    assert "(Intercept)       1.5" in fit.stdout
