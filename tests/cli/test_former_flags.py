"""Options by their former names: they work, and a warning names the new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from suffice.cli.options.former_flags import FORMER_FLAGS

from .conftest import Run

FORMER = {
    "--delimiter": ["--delimiter", ";"],
    "--columns": ["--no-header", "--columns=size,kind"],
    "--relabel": ["--relabel", "a=b"],
    "--strip-label-suffix": ["--strip-label-suffix", "x"],
}


@pytest.mark.parametrize("former", FORMER_FLAGS)
def test_a_former_name_is_the_option(run: Run, tmp_path: Path, former: str) -> None:
    Path("t.csv").write_text("size;kind\n1.5;a\n2.5;cx\n3;b\n1;b\n")
    label = ["--label", "kind"]
    words = FORMER[former]
    old = run("fit", "t.csv", *label, *words, "-o", "old.suffice")
    new = [word.replace(former, FORMER_FLAGS[former]) for word in words]
    expected = run("fit", "t.csv", *label, *new, "-o", "new.suffice")
    assert (old.exit_code, expected.exit_code) == (0, 0)
    warning = f"warning: {former} is called {FORMER_FLAGS[former]} now.\n"
    assert warning in old.stderr
    assert old.stderr.replace(warning, "") == expected.stderr
    assert Path("old.suffice").read_bytes() == Path("new.suffice").read_bytes()


def test_help_has_the_names_of_now_alone(run: Run) -> None:
    shown = run("fit", "--help", "all").stdout
    for former, now in FORMER_FLAGS.items():
        assert former not in shown.replace(now, "")


def test_after_two_dashes_a_word_is_a_file(run: Run) -> None:
    said = run("fit", "--label", "y", "--", "--delimiter").stderr
    assert "'--delimiter' does not exist" in said
