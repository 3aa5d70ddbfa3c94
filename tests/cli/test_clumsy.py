"""Commands as people mistype them: each ends with one sentence, and no file is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from suffice import NaiveBayes, read_table

from .conftest import FRUIT, check_refused

FIT, PREDICT = "fit fruit.csv --label kind", "predict fruit.suffice fruit.csv"

COMMANDS = f"""
fti fruit.csv --label kind
Fit fruit.csv --label kind
train fruit.csv --label kind
fruit.csv
--label kind
fit
fit --label kind
fit fruit.csv
fit fruit.csv kind
fit fruit.csv --label
fit fruit.csv -l kind
fit fruit.csv --label Kind
fit fruit.csv --label kind,size
fit fruit.csv --label kind --label size
fit fruit.cvs --label kind
fit fruit --label kind
fit . --label kind
fit picture.png --label kind
fit fruit.suffice --label kind
fit fruit.csv other.csv --label kind
fit fruit.csv fruit.parquet --label kind
fit latin.csv --label kind
fit dates.csv --label kind
fit commas.csv --label kind
fit fruit.csv --target size
fit fruit.csv --label kind --model linear
fit fruit.csv --label size --model ridge
fit fruit.csv --label kind --model naive_bayes
fit fruit.csv --label kind --model
{FIT} --sep ;
{FIT} -r separator=,,
{FIT} -r separator=
{FIT} -r separator=é
{FIT} -r quote=ab
{FIT} -r decimal=x
{FIT} -r decimal=, -r thousands=,
{FIT} -r thousands=5
{FIT} -r header
{FIT} -r
{FIT} -r names=a,a,b,c
{FIT} -r encoding=utf-16
{FIT} -r skip_bad_rows=1.5
{FIT} -p
{FIT} -r written=size:
{FIT} -r written=size:money
{FIT} -r written=size:DD/MM
{FIT} -r written=size:$1
{FIT} --ignore
{FIT} --ignore kind
{FIT} --features nope
{FIT} --features size --ignore size
{FIT} -p families=color:gaussian
{FIT} -p families=size:gaussian --categorical size
{FIT} -p families=size:bernoulli
{FIT} --weight
{FIT} --weight color
{FIT} -p alpha=much
{FIT} -p alpha=inf
{FIT} --engine local=0
{FIT} --engine local=yarn
{FIT} -r nothing=1
{FIT} -p penalty=1
{FIT} -o fruit.csv
{FIT} -o .
{FIT} --jsn
{FIT} --json=yes
{FIT} -p alpah=1
predict
predict fruit.csv
predict fruit.csv fruit.suffice
predict fruit.suffice one.csv
predict picture.png fruit.csv
{PREDICT} --prob
{PREDICT} --proba yes
{PREDICT} --interval prediction
{PREDICT} --level 2
{PREDICT} -o fruit.suffice
{PREDICT} --ignore nope
{PREDICT} --ignore kind
{PREDICT} -r separator=;
{PREDICT} --model lda
evaluate fruit.suffice
evaluate fruit.suffice one.csv
evaluate fruit.suffice fruit.csv --label nope
evaluate fruit.suffice fruit.csv --by nope
evaluate fruit.suffice fruit.csv --weight color
explain fruit.suffice
explain fruit.suffice fruit.csv --rows 0
explain fruit.suffice fruit.csv --rows three
show
show fruit.suffice fruit.csv
summary fruit.suffice
summary fruit.suffice --level 1.5
sample fruit.suffice -n 0
merge
merge fruit.suffice fruit.csv -o both.suffice
merge fruit.suffice other.suffice
forget fruit.suffice
forget fruit.suffice fruit.csv
forget fruit.suffice other.csv -o fewer.suffice
compare fruit.suffice
compare fruit.suffice fruit.csv
columns fruit.csv
columns fruit.suffice --top 3
searchlight fruit.csv
""".strip().splitlines()


FILES = {
    "fruit.csv": FRUIT.encode(),
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
    "other.csv": b"a,b\n1,2\n3,4\n",
    "one.csv": b"kind\napple\napple\n",
    "latin.csv": "size,kind\n1,café\n2,thé\n".encode("latin-1"),
    "dates.csv": b"day,kind\n01/02/2024,a\n03/04/2024,b\n",
    "commas.csv": b"size;kind\n1,000;a\n2,500;b\n",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tables and a model, which no command here may change."""
    folder = tmp_path_factory.mktemp("written")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    fruit = read_table(folder / "fruit.csv", ignore=["id"])
    NaiveBayes().fit(fruit, "kind").save(folder / "fruit.suffice")
    return folder


@pytest.mark.parametrize("first", range(4))
def test_one_sentence(written: Path, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    for line in COMMANDS[first::4]:
        check_refused(line)
