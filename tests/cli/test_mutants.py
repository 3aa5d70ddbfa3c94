"""Delimited text changed at random: every file is learnt from and answered, or refused.

No traceback, no NaN in what is printed, and one sentence with exit code 2 where a file is refused.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from typer.testing import Result

Run = Callable[..., Result]

EVERY, SOME = 3_000, 18

COMMAS = b"""\
age,pay,day,note,y
39,"1,000.50",2024-01-31,ab cd,yes
25,2000,2024-02-01,"x, ""y"" z",no
,3000.25,2024-02-02,,yes
61,"12,000",2024-02-03,r\xc3\xa9sum\xc3\xa9,no
18,0,2024-12-31,ef,yes
44,17.5,2025-01-01,NA,no
"""
SEMICOLONS = b"""\
a;b;day;y
1,5;10%;31/01/2024;u
2,25;20%;01/02/2024;v
3;7.5%;05/02/2024;u
-4,5;8 %;06/02/2024;v
1e3;0%;07/02/2024;u
"""
PLAIN = b"1\t2.5\tred\n2\t3.5\tblue\n3\t1e5\tred\n4\t-7\tblue\n5\t0.25\tred\n"
SOURCES = ((COMMAS, "y"), (SEMICOLONS, "y"), (PLAIN, "column_3"))
PIECES = (
    *(b"", b"\0", b'"', b'""', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\n\n", b" "),
    *(b"\xff", b"\xef\xbb\xbf", b"\xfe\xff", b"\xed\xa0\x80", b"nan", b"NaN", b"inf", b"-inf"),
    *(b"1e999", b"1e-999", b"0x1F", b"99999999999999999999", b"9007199254740993", b"--1", b"1,5"),
    *(b"$5", b"5%", b"\xe2\x82\xac5", b"2024-02-30", b"13/13/2024", b"01/02/2024", b"1.000,5"),
    *(
        b"true",
        b"None",
        b"\\N",
        b"=1+1",
        b"'",
        b"\xe2\x80\xa8",
        b"y",
        b"PAR1",
        b"[{",
        b"PK\x03\x04",
    ),
)


def mutant(seed: int) -> tuple[bytes, str]:
    """One of the tables with one to four changes, and its label."""
    random = Random(seed)
    text, label = random.choice(SOURCES)
    for _ in range(random.randint(1, 4)):
        text = random.choice((_inserted, _replaced, _cut, _lines, _cell))(text, random)
    return text, label


def _inserted(text: bytes, random: Random) -> bytes:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(PIECES) * random.choice((1, 1, 2, 50)) + text[at:]


def _replaced(text: bytes, random: Random) -> bytes:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(PIECES) + text[at + random.randint(1, 5) :]


def _cut(text: bytes, random: Random) -> bytes:
    return text[: random.randint(0, len(text))] if random.random() < 0.3 else text[:-1]


def _lines(text: bytes, random: Random) -> bytes:
    lines = text.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            lines.insert(at, random.choice(lines))
        case 1:
            del lines[at]
        case 2:
            random.shuffle(lines)
        case _:
            lines += lines[1:] * random.choice((1, 30))
    return b"".join(lines)


def _cell(text: bytes, random: Random) -> bytes:
    """Another cell in place of one, or of every one that is like it."""
    cells = re.findall(rb"[^,;\t\n]+", text) or [b"x"]
    return text.replace(random.choice(cells), random.choice(PIECES), random.choice((1, -1)))


def check(result: Result, seed: int) -> None:
    """Whether a command ended as it should."""
    ended = result.exception is None or isinstance(result.exception, SystemExit)
    assert ended, (seed, repr(result.exception))
    assert result.exit_code in (0, 2), (seed, result.stderr)
    assert "Traceback" not in result.stderr, (seed, result.stderr)
    if result.exit_code:
        errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, (seed, result.stderr)
        assert errors[0].endswith("."), (seed, result.stderr)
        assert not result.stdout, (seed, result.stdout)


def judge(run: Run, seed: int) -> bool:
    """Run the commands on a mutant; tell whether it was learnt from."""
    text, label = mutant(seed)
    file = Path("m.csv")
    file.write_bytes(text)
    model = ("naive-bayes", "naive-bayes", "naive-bayes", "lda", "logistic", "linear")[seed % 6]
    fitted = run("fit", file, "--label", label, "--model", model, "--json", "-o", "m.suffice")
    check(fitted, seed)
    if fitted.exit_code:
        return False
    number = model == "linear"
    answers = run("predict", "m.suffice", file, *([] if number else ["--proba"]))
    check(answers, seed)
    _, *rows = csv.reader(io.StringIO(answers.stdout, newline=""))
    numbers = [float(cell or 0) for row in rows for cell in (row if number else row[1:])]
    assert all(map(math.isfinite, numbers)), (seed, answers.stdout)
    return True


def test_some_mutants(run: Run) -> None:
    learnt = sum(judge(run, seed) for seed in range(SOME))
    assert 0 < learnt < SOME


@pytest.mark.exhaustive
def test_every_mutant(run: Run) -> None:
    learnt = sum(judge(run, seed) for seed in range(EVERY))
    assert 0 < learnt < EVERY
