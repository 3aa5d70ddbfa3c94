"""The tasks of docs/tasks.md and docs/export.md: a command prints what stands beside it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from suffice.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "tasks.md"
ROW = re.compile(r"\| (?P<task>[^|]+) \| `(?P<command>[^`]+)` \| `(?P<result>[^`]+)` \|")
TASKS, EXPORTS = (
    [match.groupdict() for match in ROW.finditer(page.read_text("utf8"))]
    for page in (PAGE, PAGE.with_name("export.md"))
)


def _rows() -> Iterator[tuple[int, float, float, str, str]]:
    """40 customers: number, age, balance, job, answer."""
    for i in range(40):
        yes = i % 3 == 0
        job = ("nurse", "smith", "clerk")[(i // 4 + 2 * yes) % 3]
        balance = 12.5 * i + 300 * yes + 5.5 * (i * i % 17)
        yield 1000 + i, 20 + i + 9 * yes, balance, job, "yes" if yes else "no"


def write_files() -> None:
    """Write the tables that the page speaks of."""
    rows = list(_rows())
    lines = [
        f"{age};{f'{balance:.2f}'.replace('.', ',')};{job};{y}" for _, age, balance, job, y in rows
    ]
    Path("bank.csv").write_text("age;balance;job;y\n" + "\n".join(lines) + "\n")
    plain = [f"{n},{age},{balance},{job},{y}" for n, age, balance, job, y in rows]
    Path("people.csv").write_text("id,age,balance,job,y\n" + "\n".join(plain) + "\n")
    Path("new.csv").write_text("age,balance,job\n31,640,nurse\n50,,baker\n")
    Path("tabs.csv").write_text("\n".join(line.replace(",", "\t") for line in plain) + "\n")
    Path("north.csv").write_text("age,balance,job,y\n" + _part(plain[:20]))
    Path("south.csv").write_text("age,balance,job,y\n" + _part(plain[20:]))
    dated = [
        f"{1 + i % 28:02}/03/2024,${balance:.2f},{i % 50}%,{y}"
        for i, (_, _, balance, _, y) in enumerate(rows)
    ]
    Path("orders.csv").write_text("day,price,discount,y\n" + "\n".join(dated) + "\n")
    Path("unclear.csv").write_text("day,y\n01/02/2024,a\n03/04/2024,b\n")
    Path("mail.csv").write_text("text,kind\n" + _mails())
    names = ("id", "age", "balance", "job", "y")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    pq.write_table(table, "people.parquet")
    objects = [str(row).replace("'", '"') for row in table.drop(["id"]).to_pylist()]
    Path("people.jsonl").write_text("\n".join(objects) + "\n")
    Path("people.arff").write_text(
        "@relation people\n@attribute age numeric\n@attribute job {nurse,smith,clerk}\n"
        "@attribute y {yes,no}\n@data\n" + "".join(f"{a},{j},{y}\n" for _, a, _, j, y in rows)
    )


def _part(lines: list[str]) -> str:
    return "\n".join(line.partition(",")[2] for line in lines) + "\n"


def _mails() -> str:
    words = ("free prize money call now", "lunch at noon with the team")
    return "".join(f"{words[i % 2]} number{i} today,{('spam', 'ham')[i % 2]}\n" for i in range(12))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    def command(line: str) -> str:
        words = shlex.split(line)
        assert words[0] == "suffice"
        return plain(CliRunner().invoke(app, words[1:], prog_name="suffice").output)

    return command


def plain(text: str) -> str:
    """A text in one line, without what lines need for their looks."""
    return " ".join(text.replace("─", " ").split())


def test_there_are_thirty() -> None:
    assert len(TASKS) >= 30


def test_every_command_prints_what_the_page_says(run: Callable[[str], str]) -> None:
    """In their order, because later ones use the models of earlier ones."""
    write_files()
    for task in TASKS:
        printed = run(task["command"])
        assert plain(task["result"]) in printed, (task["task"], printed)


def test_exports(run: Callable[[str], str]) -> None:
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    write_files()
    assert len(EXPORTS) >= 7
    for task in EXPORTS:
        printed = run(task["command"])
        assert plain(task["result"]) in printed, (task["task"], printed)
