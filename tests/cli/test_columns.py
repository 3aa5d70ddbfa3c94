"""Columns without a value, and cells that no row of the fit showed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from .conftest import Run, facts_of

FIRST = "late,color,kind\n,red,apple\n,blue,plum\n,red,apple\n,red,plum\n"
SECOND = "late,color,kind\n1.5,red,apple\n7.25,blue,plum\n1.0,blue,apple\n6.5,red,plum\n"


def test_a_column_without_a_value_is_left_out(run: Run, tmp_path: Path) -> None:
    for name, text in (("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.csv").write_text(text)
    words = ("--label", "kind", "-p", "calibration=none")
    fitted = run("fit", "first.csv", *words)
    assert fitted.exit_code == 0
    said = " ".join(fitted.stderr.split())
    assert (
        "left out, now and later: 'late'; a family keeps a column: --families late:gaussian" in said
    )
    columns = facts_of(run, "show", "first.suffice")["columns"]
    assert [column["name"] for column in columns] == ["color"]
    assert run("fit", "first.csv", *words, "--ignore", "late", "-o", "without").exit_code == 0
    for command in ("predict", "explain", "evaluate"):
        found, expected = (run(command, of, "second.csv") for of in ("first.suffice", "without"))
        assert (found.exit_code, found.stdout) == (0, expected.stdout)


def test_a_third_value_is_missing_in_every_answer(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{i % 2},{i},{'ab'[i % 3 == 0]}\n" for i in range(30))
    (tmp_path / "two.csv").write_text(f"two,size,kind\n{rows}")
    assert run("fit", "two.csv", "--label", "kind").exit_code == 0
    said = {}
    for cell in ("", "2"):
        (tmp_path / "new.csv").write_text(f"two,size,kind\n{cell},3,a\n1,4,b\n")
        for command in ("predict", "explain", "evaluate"):
            extra = ("--proba",) if command == "predict" else ("--json",)
            result = run(command, "two.suffice", "new.csv", *extra)
            assert result.exit_code == 0, result.stderr
            said.setdefault(command, []).append(result.stdout)
    assert said["predict"][0] == said["predict"][1]
    assert said["evaluate"][0] == said["evaluate"][1]
    without, third = (json.loads(text)["rows"][0] for text in said["explain"])
    assert without["probability"] == third["probability"]
    assert run("fit", "two.csv", "--label", "kind").exit_code == 0
    (tmp_path / "more.csv").write_text("two,size,kind\n1,3,a\n2,4,b\n")
    refused = run("forget", "two.suffice", "more.csv", "-o", "rest.suffice")
    assert refused.exit_code == 2
    assert (
        "column 'two', line 3 of more.csv: 2; the first rows of this column hold only 0 and 1, so "
        "it has two values; give it a family of numbers when it is first fitted: "
        "--families column:gaussian."
    ) in " ".join(refused.stderr.split())


def test_show_tells_bins_apart_however_far_from_0_and_names_what_is_left_out(
    run: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    place = rng.integers(0, 100, 300)
    late = ((place > 30) & (place < 60)).astype(int)  # between the others: a histogram
    days = np.datetime64("2021-01-01") + place.astype("m8[D]")
    far = 5e7 + place / 10
    numbers = rng.permutation(300) + 10**6
    cells = zip(numbers, days, far.round(3), late, strict=True)
    (tmp_path / "far.csv").write_text(
        "id,day,far,late\n" + "".join(f"{i},{d},{x},{'ny'[y]}\n" for i, d, x, y in cells)
    )
    run("fit", "far.csv", "--label", "late")
    shown = run("show", "far.suffice").stdout
    assert "id: left out, as it tells one row from another\n" in shown
    assert re.search(r"< 50000003(\.\d+)? +0\.", shown)
    assert re.search(r"< 2021-0[12]-\d\d \d\d:\d\d +0\.", shown)
    known = facts_of(run, "show", "far.suffice")["columns"]
    assert [one["name"] for one in known if one.get("left_out")] == ["id"]
    for one in known[1:]:
        assert sum(values[0] for values in one["parameters"].values()) == pytest.approx(1)
