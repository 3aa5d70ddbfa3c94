"""``suffice update``: more rows for a model, month by month."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import suffice

from ..conftest import Run, check_refused

MONTHS = range(1, 13)


def month(number: int, rows: int, seed: int) -> str:
    """A table that drifts: the classes come nearer, one of them grows, cells go missing."""
    rng = np.random.default_rng([number, seed])
    y = (rng.random(rows) < 0.3 + 0.02 * number).astype(int)
    size = rng.normal(size=rows) + (1.6 - 0.05 * number) * y
    again = size + 0.3 * rng.normal(size=rows)  # nearly the same
    pressure = 1013 + 0.3 * number + rng.normal(size=rows) * 6 + 4 * y  # far from 0
    shade = np.where(rng.random(rows) < 0.5, y, rng.integers(0, 3, rows))
    hue = np.array(["red", "green", "blue"])[shade]
    hue[rng.random(rows) < 0.01 * number] = "NA"
    cells = zip(size, again, pressure, hue, np.array(["no", "yes"])[y], strict=True)
    lines = (f"{a:.3f};{b:.3f};{c:.1f};{d};{e}" for a, b, c, d, e in cells)
    return "\n".join(["size;again;pressure;hue;churn", *lines, ""]).replace(".", ",")


def test_a_year_of_updates_is_as_good_as_a_refit(run: Run) -> None:
    Path("1.csv").write_text(month(1, 400, 0))
    assert run("fit", "1.csv", "--label", "churn", "-o", "m.suffice").exit_code == 0
    for number in MONTHS[1:]:
        Path(f"{number - 1}.csv").unlink()  # no row is read twice
        Path(f"{number}.csv").write_text(month(number, 400, 0))
        done = run("update", "m.suffice", f"{number}.csv")
        assert done.exit_code == 0, done.stderr
        said = f"400 rows join: {400 * number:,} rows in all. Column weights follow."
        assert said in " ".join(done.stdout.split())
    for number in MONTHS:
        Path(f"{number}.csv").write_text(month(number, 400, 0))
        Path(f"held{number}.csv").write_text(month(number, 2000, 1))
    files = [f"{number}.csv" for number in MONTHS]
    assert run("fit", *files, "--label", "churn", "-o", "year.suffice").exit_code == 0
    updated, refit = suffice.load("m.suffice"), suffice.load("year.suffice")
    assert updated.statistic_ == refit.statistic_
    held_out = [f"held{number}.csv" for number in MONTHS]
    losses = [model.evaluate(held_out, "churn").log_loss for model in (updated, refit)]
    assert abs(losses[0] - losses[1]) < 0.005
    Path("next.csv").write_text(month(13, 4000, 1))
    following = [model.evaluate("next.csv", "churn").log_loss for model in (updated, refit)]
    assert following[0] < following[1] + 0.005
    first = run("fit", "1.csv", "--label", "churn", "-o", "first.suffice")
    assert first.exit_code == 0
    assert suffice.load("first.suffice").evaluate("next.csv", "churn").log_loss > following[0]


def test_labels_columns_and_other_files(run: Run, model: Path) -> None:
    before = model.read_bytes()
    Path("new.csv").write_text("id,size,color,kind,more\n7,5.1,blue,fig,1\n8,1.1,red,apple,\n")
    done = run("update", model, "new.csv", "-o", "other.suffice", "--json")
    assert done.exit_code == 0
    assert "left out, as the model does not know it: 'more'" in done.stderr
    assert '"new_labels": [\n    "fig"\n  ]' in done.stdout
    assert model.read_bytes() == before
    assert suffice.load("other.suffice").classes_.tolist() == ["apple", "fig", "plum"]
    Path("short.csv").write_text("size,kind\n1,apple\n")
    Path("none.csv").write_text("size,color,kind\n1,red,\n")
    for words, said in {
        "update fruit.suffice short.csv": "column 'color' is not in the table",
        "update fruit.suffice none.csv": "none.csv holds no row with a weight above zero",
        "update fruit.suffice new.csv -o new.csv": "it would be replaced",
    }.items():
        check_refused(words, said)


def test_what_a_regression_forgets_is_said(run: Run) -> None:
    Path("line.csv").write_text("x,y\n" + "".join(f"{x},{2 * x + x % 3}\n" for x in range(30)))
    words = ("--target", "y", "--model", "linear", "-o", "line.suffice")
    assert run("fit", "line.csv", *words).exit_code == 0
    assert "calibrate" not in run("update", "line.suffice", "line.csv").stdout
    assert run("calibrate", "line.suffice", "line.csv", "-o", "line.suffice").exit_code == 0
    said = run("update", "line.suffice", "line.csv").stdout
    assert "suffice calibrate line.suffice line.csv -o line.suffice" in said
