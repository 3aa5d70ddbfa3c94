"""Searches of the built site: each question of ``questions.md`` has to find its page.

The score is that of Sphinx: 15 for a word of a title, 5 for a word of the text; all words have to
be there. What its program in the browser adds for parts of words is left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from sphinx.search.en import SearchEnglish

__all__ = ["unanswered"]

FIRST = 5  # places that are looked at
TITLE, TEXT = 15, 5
ROW = re.compile(r"^\| .+ \| ([\w ]+) \| \[.+\]\((.+)\.(?:md|rst)\) \|$", re.MULTILINE)


def unanswered(site: Path, page: Path) -> list[str]:
    """The searches of a page of questions that do not find their page, each as one sentence."""
    text = (site / "searchindex.js").read_text("utf8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = []
    for words, expected in ROW.findall(page.read_text("utf8")):
        first = [name for name in _ranked(index, words) if name != page.stem][:FIRST]
        if expected not in first:
            found.append(f"{page.name}: {words!r} finds {', '.join(first)}, and not {expected}")
    return found


def _ranked(index: dict[str, Any], words: str) -> list[str]:
    """Names of the pages that have all words, the best first."""
    english = SearchEnglish({})
    scores: Counter[int] = Counter()
    common = set(range(len(index["docnames"])))
    for word in words.split():
        stem = english.stem(word.lower())
        titles, texts = (_pages(index[kind].get(stem, [])) for kind in ("titleterms", "terms"))
        common &= titles | texts
        scores.update(dict.fromkeys(texts, TEXT))
        scores.update(dict.fromkeys(titles, TITLE))
    return [index["docnames"][n] for n, _ in scores.most_common() if n in common]


def _pages(places: int | list[int]) -> set[int]:
    return {places} if isinstance(places, int) else set(places)
