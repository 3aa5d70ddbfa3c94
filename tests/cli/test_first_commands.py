"""First commands that go wrong: the answer says what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run

ROWS = [f"{i / 7:.2f},{'ab'[i % 2]},{'xyz'[i % 3]}" for i in range(30)]
HEADER = "size,kind,Hue"
COLUMNS = "the columns are 'size', 'kind', 'Hue'"

FILES = {
    "t.csv": [HEADER, *ROWS],
    "joined.csv": [HEADER, *ROWS, HEADER, *ROWS],
    "empty.csv": [],
    "blank.csv": ["", "", ""],
    "one.csv": ["size,kind", "1,a", "2,a", "3,a"],
    "hole.csv": ["size,gap,kind", "1,,a", "2,,b", "3,,a", "4,,b"],
    "other.csv": ["weight;sort", "1;p", "2;q"],
    "unknown.csv": ["size,kind,y", "1,,", "2,,", "3,,"],
    "no_rows.csv": [HEADER],
    "cut.csv": ["a b y", "1 2 p", "3 4"],
    "later.csv": [HEADER, *(f"{i / 3:.2f},{'ab'[i % 2]},{'zyx'[i % 3]}" for i in range(60))],
    "twice.csv": ["size,size,kind", "1,2,a"],
    "days.csv": ["day,kind", "2024-01-02,a", "2024-02-30,b", "2024-03-01,a"],
}

CASES = {
    "fit": "DATA is not given; it is the file with the rows; see suffice fit --help.",
    "fit t.csv": f"--label is not given; it names the column to be predicted; {COLUMNS}; "
    "see suffice fit --help.",
    "fit no.csv": "--label is not given; it names the column to be predicted; "
    "see suffice fit --help.",
    "predict": "MODEL is not given; it is a file that suffice fit wrote; "
    "see suffice predict --help.",
    "merge a b": "--output is not given; it is the file to be written; see suffice merge --help.",
    "export a": "--to is not given; it is the language: sql, json or onnx; "
    "see suffice export --help.",
    "fit t.csv --label Kind": f"there is no column 'Kind' to be the label; {COLUMNS}; "
    "perhaps 'kind' is meant.",
    "fit t.csv --label knd": f"there is no column 'knd' to be the label; {COLUMNS}; "
    "perhaps 'kind' is meant.",
    "fit t.csv --label colour": f"there is no column 'colour' to be the label; {COLUMNS}.",
    "fit t.csv --label kind --ignore hue": f"--ignore names the column 'hue'; {COLUMNS}; "
    "perhaps 'Hue' is meant.",
    "fit t.csv --label kind --label kind": "--label names 'kind' twice; a label is named once; "
    "drop one of them.",
    "fit t.csv --label kind --features siz": "perhaps 'size' is meant.",
    "fit t.csv --label size --model linear -p reference=hue:x": "reference names the column "
    "'hue'; the columns are 'kind', 'Hue'; perhaps 'Hue' is meant.",
    "fit t.csv --label size --model linear -p reference=kind:A": "column 'kind' has no value 'A' "
    "to be its reference; its values are 'a', 'b'; perhaps 'a' is meant.",
    "fit joined.csv --label kind": "line 32 of joined.csv is the header again; "
    "a header stands once, above the rows; take the line out.",
    "fit empty.csv --label kind": "empty.csv is empty; a table has at least a header or one row; "
    "check how it was written.",
    "fit blank.csv --label kind": "blank.csv is empty; a table has at least a header or one row; "
    "check how it was written.",
    "fit one.csv --label kind": "there is one class: every label is 'a'; a classifier needs two "
    "classes or more; check the label column.",
    "fit hole.csv --label kind --model logistic": "column 'gap' has no value; what depends on it "
    "cannot be estimated; leave it out: --ignore gap.",
    "fit hole.csv --label kind --model logistic -p incomplete=drop": "column 'gap' has no value; "
    "what depends on it cannot be estimated; leave it out: --ignore gap.",
    "fit hole.csv --label size --model ridge": "column 'gap' has no value; what depends on it "
    "cannot be estimated; leave it out: --ignore gap.",
    "fit unknown.csv --label kind": "there is no labelled row whose weight is not zero; a model "
    "needs at least one; check the label column and the weights.",
    "fit unknown.csv --label y --ignore kind --model linear": "the target 'y' has no value; a "
    "model learns from rows whose target is known; check the column.",
    "fit unknown.csv --label y --ignore kind --model lasso": "the target 'y' has no value; a model "
    "learns from rows whose target is known; check the column.",
    "fit unknown.csv --label y --ignore kind --model ridge -p incomplete=drop": "the target 'y' "
    "has "
    "no value; a model learns from rows whose target is known; check the column.",
    "cv one.csv --label kind --folds 3": "there is one class: every label is 'a'; a classifier "
    "needs two classes or more; check the label column.",
    "calibrate m.suffice no_rows.csv -o new.suffice": "there is no labelled row whose weight is "
    "not zero; weights of columns are learnt from at least one; check the label column and the "
    "weights.",
    "calibrate m.suffice later.csv -o new.suffice": "the model has not learnt all of these rows; "
    "each is taken out of its sums before it is asked about; for rows that it has not learnt, use "
    "--new.",
    "fit t.csv --label size --model linear -p reference=kind:a -p ordered=kind:a,b": "reference "
    "names the column 'kind'; its categories are ordered, and each level is compared with the one "
    "below; leave it out of reference.",
    "fit cut.csv --label y": "there is no column 'y' to be the label; the columns are 'a b y'; if "
    "cells end with ' ', use -r separator=' '.",
    "fit twice.csv --label kind": "line 1 of twice.csv: columns 1 and 2 are both named 'size'; "
    "column names must be unique; correct the header, or use -r names=...",
    "fit days.csv --label kind": "line 3 of days.csv, column 'day': '2024-02-30' is not written as "
    "YYYY-MM-DD; this column holds dates: YYYY-MM-DD, and every cell has to obey; correct the "
    "cell, declare '2024-02-30' in -r missing=..., or use -r written=day:text.",
    "predict m.suffice other.csv": "the file has no column of the model; the model has 'size', "
    "'Hue'; check the names, and how the file is written.",
}


@pytest.fixture
def _files(run: Run) -> None:
    for name, lines in FILES.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines))
    run("fit", "t.csv", "--label", "kind", "-o", "m.suffice")


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("words", CASES)
def test_the_answer_says_what_to_do(run: Run, words: str) -> None:
    result = run(*words.split())
    assert result.exit_code == 2
    said = result.stderr.splitlines()[-1]
    assert said.startswith("error: ")
    assert said.endswith(CASES[words])


@pytest.mark.usefixtures("_files")
def test_a_repeated_row_of_words_is_no_header(run: Run) -> None:
    rows = ["red,round", "blue,flat", "red,round", "blue,round", "red,flat"]
    Path("words.csv").write_text("\n".join(rows * 3) + "\n")
    fitted = run("fit", "words.csv", "--label", "column_2")
    assert fitted.exit_code == 0
    assert "15 rows learnt" in fitted.stdout
