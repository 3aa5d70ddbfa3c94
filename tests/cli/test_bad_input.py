"""Bad input of any kind: exit code 2, one sentence, and every file as it was."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import NaiveBayes, read_table

from .conftest import FRUIT, Run, check_refused

FIT = "fit fruit.csv --label kind -o new.suffice"
ROWS = [f"{i / 7:.2f},{'ab'[i % 2]},{'xyz'[i % 3]}" for i in range(30)]
HEADER = "size,kind,Hue"

CASES = {
    # Words that the command line does not know
    "frob": "No such command 'frob'.",
    f"{FIT} --frob": "No such option: --frob",
    "fit fruit.csv": "--label is not given",
    "predict fruit.suffice": "Missing argument 'DATA'",
    "merge fruit.suffice fruit.suffice": "Missing option '--output'",
    "forget fruit.suffice fruit.csv": "Missing option '--output'",
    # Options outside their rule
    f"{FIT} -p estimation=best": "--estimation best",
    f"{FIT} -p alpha=-1": "--alpha -1",
    f"{FIT} -p class_prior=odd": "--class-prior odd",
    f"{FIT} -p unseen=odd": "--unseen odd",
    f"{FIT} --engine local=0": "--engine local=0",
    f"{FIT} -r separator=ab": "--separator ab",
    f"{FIT} -r encoding=klingon": "--encoding klingon",
    f"{FIT} -r skip_bad_rows=-1": "--skip-bad-rows -1",
    f"{FIT} -r label_map=plum": "--label-map plum",
    # Columns
    "fit fruit.csv --label nope": "there is no column 'nope' to be the label",
    f"{FIT} --weight nope": "there is no column 'nope' to be the weight",
    f"{FIT} --ignore size,nope": "--ignore names the column 'nope'",
    f"{FIT} --categorical size --text size": "the column 'size' is given to --categorical and to",
    f"{FIT} --text kind": "the column 'kind' is given to --label and to --text",
    f"{FIT} --ignore id,size,color": "the table has no column besides the label",
    f"{FIT} -r names=a,b": "of fruit.csv: 4 fields, where --names holds 2",
    "show fruit.suffice --column nope": "--column names the column 'nope'",
    # Cells and rows
    f"{FIT} -p families=color:poisson": "line 2 of fruit.csv, column 'color': 'red' is not a",
    "fit one.csv --label y": "there is one class: every label is 'a'",
    "fit header.csv --label kind": "the file has no rows below its header",
    "fit ragged.csv --label y": "line 3 of ragged.csv: 1 field, where the table has 2 columns",
    "fit open.csv --label y": 'line 2 of open.csv: the quote " that opens here never closes',
    "evaluate fruit.suffice fruit.csv --label color": "the label 'blue' was never seen in",
    "evaluate fruit.suffice header.csv": "there is no labelled row whose weight is not zero",
    "explain fruit.suffice header.csv": "header.csv holds no row",
    # Files
    "fit nope*.csv --label y": "no file matches 'nope*.csv'",
    "fit table.parquet --label y -r header=false": "--header is given for table.parquet",
    "predict nope.suffice fruit.csv": "nope.suffice cannot be read: No such file or directory",
    "predict fruit.suffice fruit.csv -o answers.xlsx": "--output answers.xlsx",
    "predict fruit.suffice fruit.csv -o nope/answers.csv": "nope/answers.csv: No such file or",
    "predict fruit.suffice fruit.csv -o fruit.csv": "--output fruit.csv is one of the files to be",
    f"{FIT} -o nope/model.suffice": "nope/model.suffice cannot be written: No such file or",
    # Models
    "merge fruit.suffice -o both.suffice": "one model is given",
    "merge fruit.suffice other.suffice -o both.suffice": "the models differ: column 'size' is in",
    "forget fruit.suffice header.csv -o none.suffice": "header.csv holds no row with a weight",
    "forget fruit.suffice fruit.csv -o none.suffice": "no labelled row would be left",
    # What to do next
    "merge a b": "see suffice merge --help.",
    "export a": "see suffice export --help.",
    "fit t.csv --label knd": "perhaps 'kind' is meant.",
    "fit t.csv --label kind --ignore hue": "perhaps 'Hue' is meant.",
    "fit t.csv --label kind --label kind": "--label names 'kind' twice",
    "fit t.csv --label kind --features siz": "perhaps 'size' is meant.",
    "fit t.csv --label size --model linear -p reference=kind:A": "perhaps 'a' is meant.",
    "fit joined.csv --label kind": "line 32 of joined.csv is the header again",
    "fit empty.csv --label kind": "empty.csv is empty",
    "fit hole.csv --label kind --model logistic": "leave it out: --ignore gap.",
    "fit hole.csv --label size --model ridge": "leave it out: --ignore gap.",
    "fit unknown.csv --label kind": "there is no labelled row whose weight is not zero",
    "fit unknown.csv --label y --ignore kind --model linear": "the target 'y' has no value",
    "fit unknown.csv --label y --ignore kind --model ridge": "the target 'y' has no value",
    "cv one.csv --label y --folds 2": "there is one class: every label is 'a'",
    "calibrate m.suffice no_rows.csv -o new.suffice": "there is no labelled row whose weight is",
    "calibrate m.suffice later.csv -o new.suffice": "for rows that it has not learnt, use --new.",
    "fit t.csv --label size --model linear -p reference=kind:a -p ordered=kind:a,b": "leave it out",
    "fit cut.csv --label y": "if cells end with ' ', use --separator ' '.",
    "fit days.csv --label kind": "correct the cell, or --missing 2024-02-30, or --written day=text",
    "predict m.suffice strange.csv": "the file has no column of the model",
}


FILES = {
    "t.csv": [HEADER, *ROWS],
    "joined.csv": [HEADER, *ROWS, HEADER, *ROWS],
    "empty.csv": [],
    "hole.csv": ["size,gap,kind", "1,,a", "2,,b", "3,,a", "4,,b"],
    "unknown.csv": ["size,kind,y", "1,,", "2,,", "3,,"],
    "no_rows.csv": [HEADER],
    "cut.csv": ["a b y", "1 2 p", "3 4"],
    "later.csv": [HEADER, *(f"{i / 3:.2f},{'ab'[i % 2]},{'zyx'[i % 3]}" for i in range(60))],
    "days.csv": ["day,kind", "2024-01-02,a", "2024-02-30,b", "2024-03-01,a"],
    "one.csv": ["x,y", "1,a", "2,a"],
    "ragged.csv": ["x,y", "1,a", "2"],
    "open.csv": ["x,y", '"1,a', "2,b"],
    "header.csv": ["size,color,kind"],
    "other.csv": ["x,y", "1,a", "2,b"],
    "strange.csv": ["weight;sort", "1;p", "2;q"],
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tables and models, which no command here may change."""
    folder = tmp_path_factory.mktemp("written")
    for name, lines in FILES.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    (folder / "fruit.csv").write_text(FRUIT)
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), folder / "table.parquet")
    NaiveBayes().fit(folder / "other.csv", "y").save(folder / "other.suffice")
    NaiveBayes().fit(folder / "t.csv", "kind").save(folder / "m.suffice")
    fruit = read_table(folder / "fruit.csv", ignore=["id"])
    NaiveBayes().fit(fruit, "kind").save(folder / "fruit.suffice")
    return folder


@pytest.mark.parametrize("words", CASES)
def test_one_sentence(written: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    check_refused(words, CASES[words])


def test_a_damaged_model(model: Path) -> None:
    damaged = bytearray(model.read_bytes())
    damaged[-1] ^= 1
    Path("damaged.suffice").write_bytes(damaged)
    check_refused("show damaged.suffice", "error: damaged.suffice")


@pytest.mark.parametrize(
    "options", [["--label", "kind"], ["--target", "size", "--model", "linear"]]
)
def test_another_separator_is_named(run: Run, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "semi.csv").write_text("size;kind\n1.5;a\n2.5;b\n")
    given = [*options, "-r", "separator=,"]
    assert run("fit", tmp_path / "semi.csv", *given).stderr.startswith(
        f"error: there is no column {options[1]!r} to be the label; "
    )
    done = run("fit", tmp_path / "semi.csv", *options, "-r", "separator=;")
    assert "error" not in done.stderr
