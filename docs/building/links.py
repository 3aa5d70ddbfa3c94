"""Links inside the built site: each leads to a page and, where it names one, to a place in it.

What a page is made of, scripts, styles and pictures, lies in the site as well.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["dead_links"]


class _Page(HTMLParser):
    """The links of a page, and the places that links can name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text("utf8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if place := given.get("id") or (given.get("name") if tag == "a" else None):
            self.places.add(place)
        link = given.get("href") if tag in ("a", "link") else given.get("src")
        if link:
            self.links.append(link)
        if link and (tag not in ("a", "link") or given.get("rel") in ("stylesheet", "preload")):
            self.fetched.append(link)


def dead_links(site: Path) -> list[str]:
    """Links of a folder of HTML pages that lead nowhere in it, and what they fetch from elsewhere.

    Each is one sentence.
    """
    written = (path for path in sorted(site.rglob("*.html")) if path.parent.name != "_static")
    pages = {path.resolve(): _Page(path) for path in written}
    found = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.fetched and parts.scheme != "data":
                    found.append(f"{path.relative_to(site.resolve())}: {link} is elsewhere")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{path.relative_to(site.resolve())}: no file for {link}")
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].places
            ):
                found.append(f"{path.relative_to(site.resolve())}: no place for {link}")
    return found
