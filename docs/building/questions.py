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
    """The searches of a page of questions that do not find their page, each as one sentence.

    Pages as good as the one that is looked for count as found before it. One of its headings has a
    word of the search, so that another page is not as good as soon as its text has the same words.
    """
    text = (site / "searchindex.js").read_text("utf8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = []
    for words, expected in ROW.findall(page.read_text("utf8")):
        scores = _scores(index, words)
        own = scores.pop(expected, 0)
        before = [name for name, score in scores.items() if score >= own and name != page.stem]
        if len(before) >= FIRST:
            found.append(f"{page.name}: {words!r} finds {', '.join(before)}, and not {expected}")
        elif own <= TEXT * len(words.split()):
            found.append(f"{page.name}: no heading of {expected} has a word of {words!r}")
    return found


def _scores(index: dict[str, Any], words: str) -> dict[str, int]:
    """Scores of the pages that have all words."""
    english = SearchEnglish({})
    scores: Counter[int] = Counter()
    common = set(range(len(index["docnames"])))
    for word in words.split():
        stem = english.stem(word.lower())
        titles, texts = (_pages(index[kind].get(stem, [])) for kind in ("titleterms", "terms"))
        common &= titles | texts
        scores.update(dict.fromkeys(texts, TEXT))
        scores.update(dict.fromkeys(titles, TITLE))
    return {index["docnames"][n]: scores[n] for n in common}


def _pages(places: int | list[int]) -> set[int]:
    return {places} if isinstance(places, int) else set(places)
