"""``llms.txt``: the pages of the site for programs that read, one line each (llmstxt.org)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes

__all__ = ["write"]

ABOUT = """\
# Suffice

> A Python library and a command for probabilistic classification and regression from tables. It
> reads the rows once and keeps exact sums; the model is a function of these sums. So models merge,
> forget rows, are cross-validated and explained without reading the rows again.

The public estimators have scikit-learn's names and parameters. Every command has `--help`, and
`--json` where it prints facts; it ends with 0, or with 2 and one sentence that says what to do.
"""
SECTIONS = {
    "Tutorials": "tutorials/index",
    "How-to": "howto",
    "Explanation": "explanation",
    "Reference": "reference",
    "Project": "project",
}


def write(app: Any, error: Exception | None) -> None:
    """Write the file at the root of the site."""
    if error is not None or app.builder.name != "html":
        return
    lines = [ABOUT]
    for heading, start in SECTIONS.items():
        lines.append(f"## {heading}\n")
        pages = app.env.toctree_includes.get(start, [])
        lines += [_entry(app.env, page) for page in pages]
        lines.append("")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines), encoding="utf8")


def _entry(env: Any, page: str) -> str:
    """A page, and the first paragraph of it."""
    title = env.titles[page].astext()
    first = next(iter(env.get_doctree(page).findall(_is_prose)), None)
    said = "" if first is None else ": " + " ".join(first.astext().split())
    return f"- [{title}]({page}.html){said}"


def _is_prose(node: Any) -> bool:
    """Whether a node is a paragraph of the page itself, and of no note or table in it."""
    return isinstance(node, nodes.paragraph) and isinstance(node.parent, nodes.section)
