"""``suffice explain`` for numbers and for logistic regression."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import suffice

from .conftest import Run, facts_of

ROWS = "x,colour,kind,y\n" + "".join(
    f"{i % 7},{('red', 'blue', 'green')[i % 3]},{'ab'[i % 5 > 2]},{i % 7 + 2 * (i % 3)}\n"
    for i in range(60)
)


def test_a_number(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    run("fit", "rows.csv", "--label", "y", "--model", "linear", "--ignore", "kind", "-o", "m")
    (first, second) = facts_of(run, "explain", "m", "rows.csv", "--rows", 2)["rows"]
    assert [part["column"] for part in first["columns"]] == ["x", "colour"]
    for row, y in ((first, 0.0), (second, 3.0)):
        added = row["average_row"]["y"] + sum(part["adds"]["y"] for part in row["columns"])
        assert added == pytest.approx(row["prediction"]["y"])
        assert row["prediction"]["y"] == pytest.approx(y, abs=1e-9)
    printed = run("explain", "m", "rows.csv", "--rows", 1).stdout
    assert "average row" in printed


def test_a_logistic_regression(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    run("fit", "rows.csv", "--label", "kind", "--model", "logistic", "--ignore", "y", "-o", "m")
    (row,) = facts_of(run, "explain", "m", "rows.csv", "--rows", 1)["rows"]
    total = row["average_row"] + sum(part["log_odds"] for part in row["columns"])
    assert row["sum"] == pytest.approx(total)
    odds = row["probability"] / (1 - row["probability"])
    assert math.exp(row["sum"]) == pytest.approx(odds)


def mail(path: Path) -> None:
    lines = ["text,size,kind"]
    for i in range(40):
        words = ("win a free prize today", "see you at lunch today")[i % 2]
        lines.append(
            f"{words} {('now', 'now now', 'later')[i % 3]},{i % 5},{('spam', 'ham')[i % 2]}"
        )
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    "options",
    [
        ("-p", "calibration=none"),
        ("-p", "calibration=weights"),
        ("--model", "logistic", "-p", "words=counted"),
        ("--model", "logistic"),
    ],
)
def test_words_of_a_text(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    mail(tmp_path / "mail.csv")
    assert run("fit", "mail.csv", "--label", "kind", "--text", "text", *options).exit_code == 0
    rows = facts_of(run, "explain", "mail.suffice", "mail.csv")["rows"]
    for row in rows:
        (text,) = (part for part in row["columns"] if part["column"] == "text")
        assert set(text["words"]) == set(text["value"].split()) - {"a"}
        if "logistic" not in options:
            assert sum(text["words"].values()) == pytest.approx(text["log_odds"], abs=1e-9)
    values = list(rows[0]["columns"][0]["words"].values())
    assert values == sorted(values, key=lambda value: -abs(value))
    # The words of two rows that differ in one word differ by what it says.
    first, second = rows[0]["columns"][0], rows[2]["columns"][0]
    assert rows[0]["prediction"] == rows[2]["prediction"] == "spam"
    assert first["log_odds"] - second["log_odds"] == pytest.approx(
        first["words"]["now"] - second["words"]["later"], abs=1e-9
    )
    printed = run("explain", "mail.suffice", "mail.csv", "--rows", 1).stdout
    assert [line.split()[0] for line in printed.splitlines() if "prize" in line][-1] == "prize"


def test_many_words_are_added_up(run: Run, tmp_path: Path) -> None:
    long = " ".join(f"word{i}" for i in range(12))
    rows = [f"{long},a" if i % 2 else f"other text {i},b" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["t,y", *rows]))
    run("fit", "t.csv", "--label", "y", "--text", "t", "-p", "calibration=none")
    printed = run("explain", "t.suffice", "t.csv", "--rows", 2).stdout
    assert "(4 other words)" in printed


def test_a_logistic_regression_of_bins(run: Run, tmp_path: Path) -> None:
    cells = ["" if i % 9 == 0 else str(i % 100) for i in range(400)]
    kinds = ["in" if 30 < i % 100 < 60 else "out" for i in range(400)]
    lines = (f"{cell},{kind}\n" for cell, kind in zip(cells, kinds, strict=True))
    (tmp_path / "ages.csv").write_text("age,kind\n" + "".join(lines))
    words = ("fit", "ages.csv", "--label", "kind", "--model", "logistic")
    fitted = run(*words, "-p", "numbers=bins", "-p", "incomplete=indicator", "-o", "b.suffice")
    assert "age[(missing)]" in fitted.stdout
    model = suffice.load(tmp_path / "b.suffice")
    assert model.predict({"age": [10.0, 45.0, 90.0]}).tolist() == ["out", "in", "out"]
    found = facts_of(run, "explain", "b.suffice", "ages.csv", "--rows", 1)
    assert [part["column"] for part in found["rows"][0]["columns"]] == ["age"]
    refused = run(*words, "-p", "incomplete=indicator")
    assert refused.exit_code == 2
    assert refused.stderr.endswith("set --numbers bins.\n")
