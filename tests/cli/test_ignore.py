"""``--ignore`` of the commands that read tables with a model."""

from pathlib import Path

import pytest

import suffice

from .conftest import command

HEAD, ROWS = "size,color,y", ["1,red,u", "1.5,red,u", "4,blue,v", "4.5,red,v"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    Path("a.csv").write_text("\n".join([HEAD, *ROWS]) + "\n")
    wide = [f"{row},{i}" for i, row in enumerate(ROWS)]
    Path("wide.csv").write_text("\n".join([f"{HEAD},id", *wide]) + "\n")
    blank = [f",{row.partition(',')[2]}" for row in ROWS]
    Path("blank.csv").write_text("\n".join([HEAD, *blank]) + "\n")
    assert run("fit a.csv --label y")[0] == 0
    return tmp_path


def asked(*words: str) -> tuple[int, str, str]:
    found = command(*words)
    return found.exit_code, found.stdout, found.stderr


def run(line: str) -> tuple[int, str, str]:
    return asked(*line.split())


@pytest.mark.parametrize("line", ["predict {} --proba", "evaluate {} --json"])
def test_unknown_columns_are_left_out_and_known_ones_are_missing(home: Path, line: str) -> None:
    expected = run(line.format("a.suffice a.csv"))
    assert run(line.format("a.suffice wide.csv") + " --ignore id") == expected
    blank = run(line.format("a.suffice blank.csv"))
    assert blank[1] != expected[1]
    assert run(line.format("a.suffice wide.csv") + " --ignore id,size") == blank


def test_rows_with_more_columns_are_forgotten(home: Path) -> None:
    Path("some.csv").write_text(f"{HEAD},id\n{ROWS[0]},8\n")
    assert run("forget a.suffice some.csv -o b.suffice")[0] == 0
    Path("rest.csv").write_text("\n".join([HEAD, *ROWS[1:]]) + "\n")
    assert run("fit rest.csv --label y -o c.suffice")[0] == 0
    assert suffice.load("b.suffice").statistic_ == suffice.load("c.suffice").statistic_


def test_a_name_that_holds_a_comma_stands_in_quotes(home: Path) -> None:
    head = '"size, cm","5"" pipe",color,y'
    rows = [f"{i},{i % 3},{'red' if i % 2 else 'blue'},{'uv'[i % 2]}" for i in range(20)]
    Path("comma.csv").write_text("\n".join([head, *rows]) + "\n")

    fit = ("fit", "comma.csv", "--label", "y")
    assert asked(*fit, "--ignore", '"size, cm", color', "-o", "pipe.suffice")[0] == 0
    assert suffice.load("pipe.suffice").feature_names_in_.tolist() == ['5" pipe']
    assert asked(*fit, "--features", '5" pipe,"size, cm"', "-o", "two.suffice")[0] == 0
    assert suffice.load("two.suffice").feature_names_in_.tolist() == ["size, cm", '5" pipe']
    step = "; a name that holds a comma stands in quotes: --{} '\"size, cm\"'.\n"
    for words in (fit, ("predict", "two.suffice", "comma.csv")):
        code, _, said = asked(*words, "--ignore", "size, cm")
        assert (code, said.startswith("error: --ignore names the column 'size'")) == (2, True)
        assert said.endswith(step.format("ignore"))
    assert asked(*fit, "--features", "size, cm")[2].endswith(step.format("features"))
