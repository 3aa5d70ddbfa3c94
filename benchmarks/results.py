"""Write RESULTS.md: ``python -m benchmarks.results [SECTION ...]``, of all sections by default.

A section is what one command prints, below a sentence. Those that are not named stay as they are.
"""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from benchmarks.__main__ import environment

RESULTS = Path(__file__).with_name("RESULTS.md")
TASKS = (
    *("gaussian-fit", "gaussian-proba", "categorical-fit", "multinomial-fit", "lda-fit"),
    *("qda-predict", "ridge-fit", "logistic-2", "folds", "csv"),
)


def as_it_is(table: Sequence[str]) -> Sequence[str]:
    return table


def by_shape(table: Sequence[str]) -> list[str]:
    """Return one line for all models of a shape."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    lines = ["| shape | CPU, ours / theirs | MB, in this order | not met |", "|---|---|---|---|"]
    for shape, own in groupby(rows, key=lambda row: row[0]):
        seconds, megabytes, short = [], [], []
        for _, model, ours, theirs, mb, their_mb, _, _, met in own:
            seconds.append(f"{model} {ours} / {theirs or '-'}")
            megabytes.append(f"{mb or '-'} / {their_mb or '-'}")
            short += [] if met == "met" else [f"{model}: {met.strip('*')}"]
        lines.append(
            f"| {shape} | {', '.join(seconds)} | {', '.join(megabytes)} | {', '.join(short)} |"
        )
    return lines


class Section(NamedTuple):
    """A title, a sentence, the command whose table follows, and how it is shown."""

    title: str
    about: str
    command: tuple[str, ...]
    shown: Callable[[Sequence[str]], Sequence[str]] = as_it_is


SECTIONS = {
    "tasks": Section(
        "Ten tasks beside their peers",
        "Milliseconds of processor time and by the clock; **ratio** is the peer's time over ours. "
        "The file of `csv` is fitted, and its peer, pyarrow, only reads it.",
        ("benchmarks", *TASKS),
    ),
    "shapes": Section(
        "Tables of other shapes",
        "Wide, sparse, many classes, many categories: seconds of processor time and MB at the peak "
        "of a fresh process, beside scikit-learn's best solver for the same optimum, which the "
        "command compares too.",
        ("benchmarks.shapes",),
        by_shape,
    ),
    "accuracy": Section(
        "Accuracy on tables of the UCI repository",
        "Error % / log loss in nats of held-out rows. The mean leaves out letter, sick and "
        "waveform5000.",
        ("benchmarks.accuracy", "--model", "NaiveBayes()", "--model", "AutoClassifier()"),
    ),
    "made": Section(
        "Accuracy on tables that nothing was tuned to",
        "As above.",
        ("benchmarks.made_tables", "--model", "NaiveBayes()", "--model", "AutoClassifier()"),
    ),
    "memory": Section(
        "Memory",
        "MB at the peak of a process that reads a file; **more** than for the smaller file.",
        ("benchmarks.memory",),
    ),
}


def head() -> str:
    """Say what the figures depend on."""
    where = environment()
    names = ("suffice", "scikit-learn", "numpy", "scipy", "python")
    versions = ", ".join(f"{name} {where[name]}" for name in names)
    return (
        f"# Results\n\n{versions}; {where['cores']} cores, {where['processor']}. "
        "`python -m benchmarks.results` measures again and writes this page; "
        "`benchmarks/README.md` says how to read the tables.\n"
    )


def measured(section: Section) -> str:
    """Run a command, and return its section of the page."""
    command = [sys.executable, "-m", *section.command]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    shown = re.sub(r" +\|", " |", "\n".join(section.shown(table)))
    words = (f'"{word}"' if "(" in word else word for word in section.command)
    about = f"{section.about} `python -m {' '.join(words)}`"
    return f"## {section.title}\n\n{about}\n\n{shown}\n"


def kept(page: str) -> dict[str, str]:
    """Return the sections of a page by their titles."""
    parts = re.split(r"^(?=## )", page, flags=re.M)[1:]
    return {part.partition("\n")[0].removeprefix("## "): part.rstrip() + "\n" for part in parts}


def main() -> None:
    """Measure sections, and write the page after each."""
    parser = ArgumentParser("python -m benchmarks.results", description=__doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}")
    names = parser.parse_args().names or list(SECTIONS)
    if unknown := set(names) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    for name in names:
        found = kept(RESULTS.read_text("utf-8"))
        found[SECTIONS[name].title] = measured(SECTIONS[name])
        in_order = [found[one.title] for one in SECTIONS.values() if one.title in found]
        RESULTS.write_text("\n".join([head(), *in_order]), "utf-8")


if __name__ == "__main__":
    main()
