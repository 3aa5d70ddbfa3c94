"""Commands as people mistype them: each ends with one sentence, and no file is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]

# Names of types and objects that only programmers know.
FOREIGN = re.compile(
    r"Traceback|large_string|\bint64\b|\bdouble\b|\bdtype\b|\bNoneType\b|<class|object at 0x|"
    "pyarrow"
)
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
fit fruit.csv --lable kind
fit fruit.csv --label
fit fruit.csv -l kind
fit fruit.csv --label Kind
fit fruit.csv --label kind,size
fit fruit.csv --label kind --label size
fit fruit.csv --label "kind "
fit fruit.csv --label 4
fit fruit.cvs --label kind
fit fruit --label kind
fit nowhere/fruit.csv --label kind
fit *.tsv --label kind
fit . --label kind
fit empty.csv --label kind
fit header.csv --label kind
fit blank.csv --label kind
fit ragged.csv --label kind
fit picture.png --label kind
fit fruit.suffice --label kind
fit fruit.csv other.csv --label kind
fit fruit.csv fruit.parquet --label kind
fit one.csv --label kind
fit twice.csv --label kind
fit open.csv --label kind
fit latin.csv --label kind
fit dates.csv --label kind
fit commas.csv --label kind
fit fruit.csv --target size
fit fruit.csv --label kind --model linear
fit fruit.csv --label size --model ridge
fit fruit.csv --label kind --model forest
fit fruit.csv --label kind --model naive_bayes
fit fruit.csv --label kind --model
{FIT} --sep ;
{FIT} -r separator=,,
{FIT} -r separator=ab
{FIT} -r separator=
{FIT} -r separator=é
{FIT} -r quote=ab
{FIT} -r decimal=x
{FIT} -r decimal=, -r thousands=,
{FIT} -r thousands=5
{FIT} -r header
{FIT} -r
{FIT} -r names=a,b
{FIT} -r names=a,a,b,c
{FIT} -r encoding=utf-99
{FIT} -r encoding=utf-16
{FIT} -r skip_bad_rows=many
{FIT} -r skip_bad_rows=-1
{FIT} -r skip_bad_rows=1.5
{FIT} -p
{FIT} -r written=size
{FIT} -r written=size:
{FIT} -r written=size:money
{FIT} -r written=nope:text
{FIT} -r written=size:DD/MM
{FIT} -r written=color:DD/MM/YYYY
{FIT} -r written=size:$1
{FIT} --ignore
{FIT} --ignore nope
{FIT} --ignore kind
{FIT} --ignore id,size,color
{FIT} --features nope
{FIT} --features kind
{FIT} --features size --ignore size
{FIT} -p families=color:gaussian
{FIT} -p families=nope:gaussian
{FIT} -p families=size:gaussian --categorical size
{FIT} -p families=size:poisson
{FIT} -p families=size:bernoulli
{FIT} --weight
{FIT} --weight nope
{FIT} --weight color
{FIT} --weight kind
{FIT} -p alpha=much
{FIT} -p alpha=-1
{FIT} -p alpha=nan
{FIT} -p alpha=inf
{FIT} -p estimation=best
{FIT} -p class_prior=half
{FIT} -p unseen=maybe
{FIT} --threads 0
{FIT} --threads two
{FIT} --threads -3
{FIT} --engine processes=0
{FIT} --engine gpu
{FIT} --engine local=yarn
{FIT} -r nothing=1
{FIT} -r label_map=plum
{FIT} -r label_map=:x
{FIT} -p penalty=1
{FIT} -p C=1
{FIT} -o fruit.csv
{FIT} -o nowhere/at/all.suffice
{FIT} -o .
{FIT} --output
{FIT} --checkpoint fruit.csv
{FIT} --checkpoint fruit.suffice
{FIT} --jsn
{FIT} --json=yes
{FIT} -p alpah=1
predict
predict fruit.suffice
predict fruit.csv
predict fruit.csv fruit.suffice
predict nowhere.suffice fruit.csv
predict fruit.suffice nowhere.csv
predict fruit.suffice empty.csv
predict fruit.suffice one.csv
predict fruit.suffice ragged.csv
predict picture.png fruit.csv
{PREDICT} --prob
{PREDICT} --proba yes
{PREDICT} --interval prediction
{PREDICT} --interval wide
{PREDICT} --level 2
{PREDICT} -o answers.doc
{PREDICT} -o fruit.csv
{PREDICT} -o fruit.suffice
{PREDICT} -o nowhere/answers.csv
{PREDICT} --ignore nope
{PREDICT} --ignore kind
{PREDICT} -r separator=
{PREDICT} -r separator=;
{PREDICT} --model lda
{PREDICT} --label kind
evaluate fruit.suffice
evaluate fruit.suffice nowhere.csv
evaluate fruit.suffice one.csv
evaluate fruit.suffice fruit.csv --label nope
evaluate fruit.suffice fruit.csv --by nope
evaluate fruit.suffice fruit.csv --weight color
explain fruit.suffice
explain fruit.suffice fruit.csv --rows 0
explain fruit.suffice fruit.csv --rows three
explain fruit.suffice fruit.csv --top 0
explain fruit.suffice header.csv
show
show fruit.csv
show nowhere.suffice
show fruit.suffice --column nope
show fruit.suffice fruit.csv
summary fruit.suffice
summary fruit.suffice --level 1.5
sample fruit.suffice -n 0
sample fruit.suffice -n many
sample fruit.suffice -o rows.doc
merge
merge fruit.suffice
merge fruit.suffice fruit.csv -o both.suffice
merge fruit.suffice other.suffice
merge fruit.suffice nowhere.suffice -o both.suffice
forget fruit.suffice
forget fruit.suffice fruit.csv
forget fruit.suffice fruit.csv -o fewer.suffice
forget fruit.suffice other.csv -o fewer.suffice
forget fruit.suffice header.csv -o fewer.suffice
compare fruit.suffice
compare fruit.suffice fruit.csv
compare fruit.suffice nowhere.suffice
columns fruit.csv
columns fruit.suffice --top 0
searchlight
searchlight fruit.csv
""".strip().splitlines()


@pytest.fixture
def _files(model: Path) -> None:
    Path("empty.csv").write_bytes(b"")
    Path("header.csv").write_text("id,size,color,kind\n")
    Path("blank.csv").write_text("\n\n\n")
    Path("ragged.csv").write_text("id,size,color,kind\n1,2\n3,4,5,6,7\n")
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0")
    Path("other.csv").write_text("a,b\n1,2\n3,4\n")
    Path("one.csv").write_text("kind\napple\napple\n")
    Path("twice.csv").write_text("size,size,kind\n1,2,a\n3,4,b\n")
    Path("open.csv").write_text('size,kind\n1,a\n2,"b\n')
    Path("latin.csv").write_bytes("size,kind\n1,café\n2,thé\n".encode("latin-1"))
    Path("dates.csv").write_text("day,kind\n01/02/2024,a\n03/04/2024,b\n")
    Path("commas.csv").write_text("size;kind\n1,000;a\n1,5;b\n")


def words_of(line: str) -> list[str]:
    """Cut a command line as a shell does, but for the backslash."""
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("line", COMMANDS)
def test_one_sentence(run: Run, line: str) -> None:
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    result = run(*words_of(line))
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 2
    assert not FOREIGN.search(result.stderr)
    errors = [text for text in result.stderr.splitlines() if text.startswith("error: ")]
    assert len(errors) == 1
    assert errors[0].endswith((".", "?"))
    assert not result.stdout
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
