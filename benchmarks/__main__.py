"""The command line: ``python -m benchmarks naive-bayes``."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.report import environment, markdown
from benchmarks.suite import NAMES, SECTIONS

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure, print, and write what was measured."""
    options = _options()
    where = environment()
    measured = _measured(options.only or NAMES, options.quick)
    if options.markdown:
        sections = [(SECTIONS[name][0], items) for name, items in measured.items() if items]
        options.markdown.write_text(markdown(sections, where))
    content = {"environment": where, "quick": options.quick} | {
        name: [_plain(item) for item in items] for name, items in measured.items()
    }
    path = options.json or RESULTS / f"naive-bayes{'-quick' * options.quick}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")
    print(f"\nWritten to {path}")


def _measured(names: Collection[str], quick: bool) -> dict[str, list[Any]]:
    """Measure section by section; print every row at once."""
    measured: dict[str, list[Any]] = {}
    for section, (table, measure) in SECTIONS.items():
        items = measured[section] = []
        for item in measure(names, quick):
            if not items:
                print("", f"## {table.title}", "", *table.header(), sep="\n")
            items.append(item)
            print(table.row(item), flush=True)
    return measured


def _plain(item: Any) -> dict[str, Any]:
    plain: dict[str, Any] = item.to_json() if hasattr(item, "to_json") else asdict(item)
    return plain


def _options() -> Namespace:
    parser = ArgumentParser("python -m benchmarks", description="Suffice beside its peers.")
    commands = parser.add_subparsers(required=True)
    naive_bayes = commands.add_parser("naive-bayes", help="against sklearn.naive_bayes and others")
    naive_bayes.add_argument("--quick", action="store_true", help="1/100 of the size")
    naive_bayes.add_argument("--only", action="append", choices=NAMES, help="may be repeated")
    naive_bayes.add_argument("--json", type=Path, metavar="FILE", help="default: in results/")
    naive_bayes.add_argument("--markdown", type=Path, metavar="FILE", help="write a page as well")
    return parser.parse_args()


if __name__ == "__main__":
    main()
