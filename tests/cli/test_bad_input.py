"""Bad input of any kind: exit code 2, one sentence, and every file as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

Run = Callable[..., Result]

FIT = "fit fruit.csv --label kind -o new.suffice"
FRUIT_COLUMNS = "the columns are 'id', 'size', 'color', 'kind'"

CASES = {
    # Words that the command line does not know
    "frob": "No such command 'frob'.",
    f"{FIT} --frob": "No such option: --frob (Possible options: --force).",
    "fit fruit.csv": "--label is not given; it names the column to be predicted; the columns are "
    "'id', 'size', 'color', 'kind'; see suffice fit --help.",
    "predict fruit.suffice": "DATA is not given; it is the file with the rows; "
    "see suffice predict --help.",
    "merge fruit.suffice fruit.suffice": "--output is not given; it is the file to be written; "
    "see suffice merge --help.",
    "forget fruit.suffice fruit.csv": "--output is not given; it is the file to be written; "
    "see suffice forget --help.",
    # Options outside their rule
    f"{FIT} -p estimation=best": "-p estimation=best; estimation is one of 'mle', 'map', 'bayes'.",
    f"{FIT} -p alpha=-1": "-p alpha=-1; alpha is a finite number, 0 or more.",
    f"{FIT} -p class_prior=odd": "-p class_prior=odd; it is 'empirical', 'smoothed', 'uniform', "
    "a mapping or one number per class.",
    f"{FIT} -p unseen=odd": "-p unseen=odd; it is 'ignore', 'error' or 'smooth'.",
    f"{FIT} --threads 0": "--threads 0; it is a whole number, 1 or more, or None for all cores.",
    f"{FIT} -r separator=ab": (
        '-r separator=ab; it must be one ASCII character that ends no line; for a tab write "\\t".'
    ),
    f"{FIT} -r encoding=klingon": (
        "-r encoding=klingon; it must be a text encoding that Python knows; "
        'for example "utf8", "latin-1" or "utf-16".'
    ),
    f"{FIT} -r skip_bad_rows=-1": (
        "-r skip_bad_rows=-1; it must be a whole number, 0 or more; "
        "0 makes every malformed row an error."
    ),
    f"{FIT} -r label_map=plum": (
        "-r label_map=plum; it is a name, a colon, and what stands for it; write -r "
        "label_map=y:yes."
    ),
    # Columns
    "fit fruit.csv --label nope": (f"there is no column 'nope' to be the label; {FRUIT_COLUMNS}."),
    f"{FIT} --weight nope": f"there is no column 'nope' to be the weight; {FRUIT_COLUMNS}.",
    f"{FIT} --ignore size,nope": f"--ignore names the column 'nope'; {FRUIT_COLUMNS}.",
    f"{FIT} --categorical size --text size": (
        "the column 'size' is given to --categorical and to --text; "
        "a column has one part to play; drop one of them."
    ),
    f"{FIT} --text kind": (
        "the column 'kind' is given to --label and to --text; "
        "a column has one part to play; drop one of them."
    ),
    f"{FIT} --ignore id,size,color": (
        "the table has no column besides the label; a model needs features."
    ),
    f"{FIT} -r names=a,b": (
        "line 1 of fruit.csv: 4 fields, where -r names=... holds 2; "
        "there must be one name per column; correct the names or the separator."
    ),
    "show fruit.suffice --column nope": (
        "--column names the column 'nope'; the columns are 'size', 'color'."
    ),
    # Cells and rows
    f"{FIT} -p families=color:poisson": (
        "line 2 of fruit.csv, column 'color': 'red' is not a number; "
        "every cell of this column is read as a number; correct the cell, declare 'red' in "
        "-r missing=..., or read it as text with -r written=color:text."
    ),
    "fit one.csv --label y": (
        "there is one class: every label is 'a'; a classifier needs two classes or more; "
        "check the label column."
    ),
    "fit header.csv --label kind": (
        "the file has no rows below its header; a model is fitted to one row at least; "
        "check that this is the file that was meant."
    ),
    "fit ragged.csv --label y": (
        "line 3 of ragged.csv: 1 field, where the table has 2 columns; "
        "every row must have one field per column; correct the row, or leave such rows out with "
        "-r skip_bad_rows=..."
    ),
    "fit open.csv --label y": (
        'line 2 of open.csv: the quote " that opens here never closes; '
        "everything after it would be lost; close the quote, or use -r quote=none where quotes "
        "are ordinary characters."
    ),
    "evaluate fruit.suffice fruit.csv --label color": (
        "the label 'blue' was never seen in training; the model knows 'apple', 'plum'; "
        "clean the labels, or learn the new class first."
    ),
    "evaluate fruit.suffice header.csv": (
        "there is no labelled row whose weight is not zero; an evaluation needs at least one; "
        "check the label column and the weights."
    ),
    "explain fruit.suffice header.csv": ("header.csv holds no row; there is nothing to explain."),
    # Files
    "fit table.parquet --label y -r header=false": (
        "-r header is given for table.parquet; "
        "only delimited text needs to be told how it is written; leave the option out."
    ),
    "predict nope.suffice fruit.csv": (
        "nope.suffice cannot be read: No such file or directory; "
        "check the path and its permissions."
    ),
    "predict fruit.suffice fruit.csv -o answers.xlsx": (
        "--output answers.xlsx; the suffix tells the format: .csv, .tsv, .parquet, .arrow, .jsonl."
    ),
    "predict fruit.suffice fruit.csv -o nope/answers.csv": (
        "nope/answers.csv: No such file or directory."
    ),
    "predict fruit.suffice fruit.csv -o fruit.csv": (
        "--output fruit.csv is one of the files to be read; it would be replaced; "
        "choose another name."
    ),
    f"{FIT} -o nope/model.suffice": (
        "nope/model.suffice cannot be written: No such file or directory; "
        "check the path, its permissions and the free space."
    ),
    # Models
    "merge fruit.suffice -o both.suffice": (
        "one model is given; a merge takes two or more; name the others as well."
    ),
    "merge fruit.suffice other.suffice -o both.suffice": (
        "the models differ: column 'size' is in fruit.suffice only; "
        "only models of the same columns and families can be merged; "
        "fit both with the same options."
    ),
    "forget fruit.suffice header.csv -o none.suffice": (
        "header.csv holds no row with a weight above zero; there is nothing to forget; "
        "check the file and the weights."
    ),
    "forget fruit.suffice fruit.csv -o none.suffice": (
        "no labelled row would be left; a model rests on one row at least; "
        "delete the model instead."
    ),
}


@pytest.fixture
def folder(run: Run, model: Path, tmp_path: Path) -> Path:
    files = {
        "extra.csv": "size,color,extra\n1,red,3\n",
        "one.csv": "x,y\n1,a\n2,a\n",
        "ragged.csv": "x,y\n1,a\n2\n",
        "open.csv": 'x,y\n"1,a\n2,b\n',
        "header.csv": "size,color,kind\n",
        "other.csv": "x,y\n1,a\n2,b\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), tmp_path / "table.parquet")
    assert run("fit", "other.csv", "--label", "y").exit_code == 0
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("words", CASES)
def test_one_sentence(run: Run, folder: Path, words: str) -> None:
    before = contents(folder)
    result = run(*words.split())
    assert result.stderr == f"error: {CASES[words]}\n"
    assert (result.exit_code, result.stdout) == (2, "")
    assert contents(folder) == before


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    result = run("fit", "nope*.csv", "--label", "y")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: no file matches 'nope*.csv'; check the path; "
        f"the working directory is {tmp_path}.\n"
    )


def test_a_damaged_model(run: Run, folder: Path) -> None:
    damaged = bytearray((folder / "fruit.suffice").read_bytes())
    damaged[-1] ^= 1
    (folder / "damaged.suffice").write_bytes(damaged)
    result = run("show", "damaged.suffice")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: damaged.suffice")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow"])
def test_an_error_halfway_leaves_the_old_answers(run: Run, folder: Path, suffix: str) -> None:
    rows = "1.0,red\n" * 100_000
    (folder / "long.csv").write_text(f"size,color\n{rows}oops,red\n")
    answers = folder / f"answers.{suffix}"
    answers.write_text("the old answers")
    before = contents(folder)
    result = run("predict", "fruit.suffice", "long.csv", "-o", answers)
    assert result.exit_code == 2
    assert result.stderr == (
        "error: line 100002 of long.csv, column 'size': 'oops' is not a number; every cell of this "
        "column is read as a number; correct the cell, declare 'oops' in -r missing=..., or "
        "read it as "
        "text with -r written=size:text.\n"
    )
    assert contents(folder) == before


@pytest.mark.parametrize(
    "options", [["--label", "kind"], ["--target", "size", "--model", "linear"]]
)
def test_another_separator_is_named(run: Run, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "semi.csv").write_text("size;kind\n1.5;a\n2.5;b\n")
    given = [*options, "-r", "separator=,"]
    assert run("fit", tmp_path / "semi.csv", *given).stderr == (
        f"error: there is no column {options[1]!r} to be the label; the columns are 'size;kind'; "
        "if cells end with ';', use -r separator=';'.\n"
    )
    done = run("fit", tmp_path / "semi.csv", *options, "-r", "separator=;")
    assert "error" not in done.stderr
