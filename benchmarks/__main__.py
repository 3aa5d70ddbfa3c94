"""The command line: ``python -m benchmarks naive-bayes``, or another suite, or ``all``."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.report import environment, provenance
from benchmarks.suites import SUITES, Suite

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure, print, and write what was measured."""
    options = _options()
    where = environment()
    content: dict[str, Any] = {"environment": where, "quick": options.quick}
    page = ["# Suffice beside its peers", "", provenance(where, options.suite), ""]
    for name in SUITES if options.suite == "all" else [options.suite]:
        suite = SUITES[name]
        measured = _measured(suite, options.only or suite.names, options.quick)
        content[name] = {key: list(map(_plain, items)) for key, items in measured.items()}
        if not any(measured.values()):
            continue
        content[name]["findings"] = findings = list(suite.findings(measured))
        glance = [f"- {finding}" for finding in findings] + [""] * bool(findings)
        for table, items in suite.overview(measured):
            glance += table.lines(items)
        print("", *glance, sep="\n")
        page += [f"## {suite.title}", "", *[suite.about] * (suite.about not in page), *glance]
        for section, (table, _) in suite.sections.items():
            page += table.lines(measured[section]) if measured[section] else []
    if options.markdown:
        options.markdown.write_text("\n".join(page))
    path = options.json or RESULTS / f"{options.suite}{'-quick' * options.quick}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")
    print(f"Written to {path}")


def _measured(suite: Suite, names: Collection[str], quick: bool) -> dict[str, list[Any]]:
    """Measure section by section; print every row at once."""
    measured: dict[str, list[Any]] = {}
    for section, (table, measure) in suite.sections.items():
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
    commands = parser.add_subparsers(dest="suite", required=True)
    for name, suite in SUITES.items():
        _add_options(commands.add_parser(name, help=suite.title), suite.names)
    every = tuple(name for suite in SUITES.values() for name in suite.names)
    _add_options(commands.add_parser("all", help="one after the other, on one page"), every)
    return parser.parse_args()


def _add_options(parser: ArgumentParser, names: Collection[str]) -> None:
    parser.add_argument("--quick", action="store_true", help="everything small")
    parser.add_argument("--only", action="append", choices=names, help="may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: in results/")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a page as well")


if __name__ == "__main__":
    main()
