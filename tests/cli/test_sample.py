"""``suffice sample``: rows that a model would produce."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import suffice

from .conftest import Run


def test_rows_are_those_of_the_model(run: Run, model: Path, tmp_path: Path) -> None:
    drawn = run("sample", model, "-n", 4, "--seed", 7)
    assert drawn.exit_code == 0
    header, *rows = drawn.stdout.splitlines()
    assert header == "size,color,kind"
    fitted = suffice.load(model)
    columns, labels = fitted.sample(4, 7)  # type: ignore[union-attr]
    assert [row.split(",") for row in rows] == [
        [str(size), color, kind]
        for size, color, kind in zip(columns["size"], columns["color"], labels, strict=True)
    ]
    assert run("sample", model, "-n", 4, "--seed", 7).stdout == drawn.stdout


def test_drawn_rows_are_written_as_the_table_was(run: Run, tmp_path: Path) -> None:
    cells = ["size;sold;share;price;y"]
    for i in range(60):
        size = f"{(i % 7) - 2.5 + i % 2:.2f}".replace(".", ",")
        cells.append(f"{size};{1 + i % 28:02d}.0{1 + i % 9}.2024;{i}%;${i};{'ab'[i % 2]}")
    Path("t.csv").write_text("\n".join(cells))
    assert run("fit", "t.csv", "--label", "y").exit_code == 0
    for file in ("drawn.csv", "drawn.tsv", "drawn.parquet"):
        assert run("sample", "t.suffice", "-n", 20, "-o", file).exit_code == 0
        answered = run("predict", "t.suffice", file)
        assert answered.exit_code == 0, answered.stderr
        assert len(answered.stdout.splitlines()) == 21


def test_drawn_integers_are_whole_and_of_the_kind_of_those_learnt(run: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    age = random.integers(18, 90, 500)
    table = {"age": age, "code": random.integers(1, 4, 500), "kind": np.where(age > 50, "u", "v")}
    pd.DataFrame(table).to_csv(tmp_path / "rows.csv", index=False)
    run("fit", "rows.csv", "--label", "kind", "-o", "m.suffice")
    run("sample", "m.suffice", "-n", 500, "--seed", 1, "-o", "drawn.csv")
    drawn = pd.read_csv(tmp_path / "drawn.csv")
    assert drawn.dtypes.age == drawn.dtypes.code == np.int64
    assert abs(drawn.age[drawn.kind == "u"].mean() - age[age > 50].mean()) < 4
    run("fit", "drawn.csv", "--label", "kind", "-o", "d.suffice")
    kinds = [
        [column.kind for column in suffice.load(tmp_path / name).schema_]
        for name in ("m.suffice", "d.suffice")
    ]
    assert kinds == [["real", "real"]] * 2
