"""Bad input of any kind: exit code 2, one sentence, and every file as it was."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    read_table,
)

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
    # Models and options that do not go together
    "fit gaps.csv --label c --model odd": "--model 'odd'",
    # Options of other models
    "fit gaps.csv --target y --model linear -p alpha=1": "--alpha 1 is given for --model linear",
    "fit gaps.csv --target y --model ridge -p alpha=1 -p penalty=1": "--penalty 1 is given for",
    "fit gaps.csv --label c -p penalty=gcv": "--penalty gcv is given for --model naive-bayes",
    "fit gaps.csv --label c --model lda -p class_prior=uniform": "--class-prior uniform is given",
    "fit gaps.csv --target y --model linear -r label_map=1:2": "--label-map is given for a",
    "fit gaps.csv --target y --model linear -p families=x:gaussian": "--families x:gaussian is",
    # Options outside their rule
    "fit gaps.csv --label c --model lda -p shrinkage=2": "--shrinkage 2",
    "fit gaps.csv --target y --model ridge -p alpha=odd": "--alpha odd",
    "fit gaps.csv --label c --model logistic -p penalty=odd": "--penalty odd",
    "fit gaps.csv --label c --model logistic -p C=0": "--C 0",
    "fit gaps.csv --label c --model logistic -p incomplete=gaussian": "--incomplete gaussian",
    "fit gaps.csv --label c --model logistic -p incomplete=guess": "--incomplete guess",
    # Columns
    "fit gaps.csv --target nope --model ridge": "there is no column 'nope' to be the label",
    "fit gaps.csv --target y --model ridge --features nope": "--features names the column 'nope'",
    "fit gaps.csv --target y --model ridge --features x,y": "the column 'y' is given to --label",
    "fit gaps.csv --target y --model ridge --features x --ignore x": "the column 'x' is given to",
    "fit gaps.csv --target c --model linear": "column 'c' holds text",
    "evaluate line.suffice gaps.csv --target x": "the target is called 'x'",
    # Cells
    "fit gaps.csv --target y --model linear": "cells are missing (NaN or null): 1 of column 'x'",
    "fit notes.csv --label y --model lda": "column 'x' holds text: 5.0 words a cell, 4 distinct",
    "fit gaps.csv --label x --target y": "--label names 'x', 'y'",
    "fit gaps.csv --target y --target y --model ridge": "--label names 'y' twice",
    "fit gaps.csv --label c --model qda --text x": "--text is given for --model qda",
    "fit apart.csv --label y --model logistic -p C=inf": "column 'x' separates the classes",
    # What a model does not have
    "predict line.suffice gaps.csv --proba": "--proba is given for a LinearRegression",
    "predict curve.suffice gaps.csv --interval prediction": "--interval prediction",
    "predict line.suffice gaps.csv --interval odd": "--interval odd",
    "predict line.suffice gaps.csv --interval prediction --level 2": "--level 2.0",
    "summary line.suffice --level 1": "--level 1.0",
    "summary lda.suffice": "lda.suffice holds a LinearDiscriminantAnalysis",
    "evaluate line.suffice gaps.csv -r label_map=1:2": "--label-map is given for a",
    "forget curve.suffice gaps.csv -o x.suffice": "curve.suffice holds a LogisticRegression",
    "merge line.suffice curve.suffice -o x.suffice": "curve.suffice holds a LogisticRegression",
    "merge line.suffice lda.suffice -o x.suffice": "lda.suffice holds a",
    # Decisions
    "evaluate m.suffice t.csv --threshold 1.5": "--threshold 1.5; a probability is from 0 to 1",
    "evaluate m.suffice t.csv --costs 0,1": "there are 2 labels (a, b): costs are 2 rows of 2",
    "evaluate m.suffice t.csv --costs 0,a;1,0": "costs are 2 rows of 2 numbers",
    "evaluate m.suffice t.csv --costs 0,-1;1,0": "costs[0][1]=-1.0; a cost is a finite number",
    "evaluate m.suffice t.csv --costs 0,1;1,0 --threshold 0.5": "--threshold and --costs are both",
    "evaluate hue.suffice t.csv --threshold 0.5": "is given for 3 labels; a threshold decides",
    "predict line.suffice gaps.csv --threshold 0.5": "--threshold is given for a LinearRegression",
    # Intervals and columns beside answers
    "predict m.suffice t.csv --interval prediction": "--interval prediction; the answers are",
    "predict m.suffice t.csv --level 0.9": "add --interval confidence",
    "predict fruit.suffice fruit.csv --keep price": "'price'",
    "predict fruit.suffice answers.csv --keep prediction": "'prediction'",
    "predict m.suffice t.csv --ignore nothing": "column 'nothing'; the columns are 'size', 'Hue'.",
    "predict m.suffice t.csv --ignore kind": "column 'kind'; the columns are 'size', 'Hue'.",
    "predict fruit.suffice words.csv --json": "error: line 3 of words.csv, column 'size'",
    # References
    "fit t.csv --label size --model linear -p reference=kind": "--reference kind; it says of every",
    "fit t.csv --label size --model linear -p reference=tint:a": "the columns are 'kind', 'Hue'.",
    "fit t.csv --label size --model linear -p reference=kind:c": "'kind' has no value 'c' to be",
    "fit gaps.csv --target y --model linear -p reference=x:1": "name it in --categorical x too",
    # Engines
    f"{FIT} --engine hadoop": "the engines are 'local', 'dask'.",
    f"{FIT} --engine local=many": "--engine local=many; behind local= stands a number",
    # What a model is not
    "calibrate plain.suffice t.csv -o x.suffice": "error: --calibration none; this rests on rows",
    "calibrate lda.suffice gaps.csv -o x.suffice": "holds a LinearDiscriminantAnalysis; ",
    "update curve.suffice gaps.csv": "curve.suffice holds a LogisticRegression; ",
    "columns line.suffice": "its columns have no distribution in a class",
    "sample line.suffice": "error: line.suffice holds a LinearRegression; ",
    # Exports
    "export m.suffice --to sql --table t": "error: --dialect is not given; SQL is of a dialect "
    "and reads a table; add --dialect.",
    "export m.suffice --to sql --dialect duckdb": "error: --table is not given; SQL is of a "
    "dialect and reads a table; add --table.",
    "export m.suffice --to json --keep id": "error: --keep is given; it is an option of --to sql, "
    "not of json; leave it out.",
    "export m.suffice --to onnx": "error: --output is not given; an ONNX graph is no text; add "
    "--output model.onnx.",
    # Files that would be lost
    "export m.suffice --to json -o fruit.suffice": "fruit.suffice is a file of a model",
    "report m.suffice -o fruit.suffice": "fruit.suffice is a file of a model",
    "fit t.csv --label kind -o notes.csv": "notes.csv is there, and is no model file",
    "merge m.suffice m.suffice -o notes.csv": "notes.csv is there, and is no model file",
    "calibrate m.suffice t.csv -o notes.csv": "notes.csv is there, and is no model file",
    "predict m.suffice *.csv -o t.csv": "t.csv is one of the files to be read",
    "predict m.suffice . -o t.csv": "t.csv is one of the files to be read",
    # Splits
    "split t.csv --by size --label kind": "--label and --by are given",
    "split t.csv --test 1": "--test 1",
    "split t.csv --by colour": "--by names the column 'colour'",
    "split t.csv --test 0.001": "choose another --test",
    "split none.csv": "'none.csv' does not exist",
    # Sums
    **dict.fromkeys(
        (
            *("predict fruit.sums fruit.csv", "evaluate fruit.sums fruit.csv"),
            *("explain fruit.sums fruit.csv", "update fruit.sums fruit.csv", "report fruit.sums"),
            *("columns fruit.sums", "sample fruit.sums", "export --to json fruit.sums"),
        ),
        "fruit.sums holds sums; this is done with a model, which is fitted to sums; suffice "
        "fit fruit.sums.",
    ),
    "fit nowhere.sums --label kind": "'nowhere.sums' does not exist",
    "fit fruit.suffice -o x.suffice": "fruit.suffice holds a model",
    "merge fruit.sums nowhere.sums -o x.suffice": "nowhere.sums",
    "merge fruit.sums fruit.csv -o x.suffice": "fruit.csv",
    "sums fruit.csv --label kind --model logistic -o x.sums": "--model logistic",
    "sums fruit.csv --label kind --model auto -o x.sums": "--model auto",
    "fit fruit.sums --model logistic -o x.suffice": "--model logistic",
    "fit fruit.sums --model auto -o x.suffice": "--model auto",
    "fit by.sums --where color": "--where color; it is a key and a value",
    "fit by.sums --where hue=red": "'hue' is no key",
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
    "gaps.csv": ["x,c,y", "1,a,1", "2,b,2", ",a,3", "4,b,5", "5,a,4", "3,b,3"],
    "notes.csv": ["x,y", *(f"no {i} a b c,{'ab'[i % 2]}" for i in range(4))],
    "apart.csv": ["x,y", "1,a", "2,a", "3,b", "4,b"],
    "answers.csv": ["size,color,prediction", "1.0,red,a"],
    "words.csv": ["size,color", "1.1,red", "red,red"],
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tables and models, which no command here may change."""
    folder = tmp_path_factory.mktemp("written")
    for name, lines in FILES.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    (folder / "fruit.csv").write_text(FRUIT)
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), folder / "table.parquet")
    for name, model, table, label in (
        ("other", NaiveBayes(), "other", "y"),
        ("m", NaiveBayes(), "t", "kind"),
        ("hue", NaiveBayes(), "t", "Hue"),
        ("plain", NaiveBayes(calibration="none"), "t", "kind"),
        ("line", LinearRegression(incomplete="drop"), "gaps", "y"),
        ("curve", LogisticRegression(incomplete="drop"), "gaps", "c"),
        ("lda", LinearDiscriminantAnalysis(), "gaps", "c"),
    ):
        model.fit(folder / f"{table}.csv", label).save(folder / f"{name}.suffice")
    fruit = read_table(folder / "fruit.csv", ignore=["id"])
    NaiveBayes().fit(fruit, "kind").save(folder / "fruit.suffice")
    NaiveBayes().sums(fruit, "kind").save(folder / "fruit.sums")
    NaiveBayes().sums(fruit, "kind", by="color").save(folder / "by.sums")
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
