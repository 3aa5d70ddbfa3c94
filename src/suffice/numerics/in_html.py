"""In notebooks: tables in HTML, with small bars. What comes from the data is text, never markup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

__all__ = ["bar", "html_table"]

WIDTH, HEIGHT = 120, 10  # of a bar, in pixels
LONGEST = 60  # characters of a cell that are shown; the whole is its title
FOR, AGAINST = "#0072b2", "#d55e00"  # told apart by readers with any kind of colour vision


def bar(value: float, largest: float) -> str:
    """A bar as inline SVG, of a length in proportion; below 0 it points to the left.

    Where ``largest`` is negative, values have both signs, and 0 is in the middle.

    Examples
    --------
    >>> bar(0.5, 1.0).count("<rect"), bar(float("nan"), 1.0)
    (1, '')
    """
    if not (math.isfinite(value) and largest):
        return ""
    room, middle = (WIDTH, 0.0) if largest > 0 else (WIDTH / 2, WIDTH / 2)
    length = min(abs(value / largest), 1.0) * room
    start = middle - length if value < 0 else middle
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{value:.3g}">'
        f'<rect x="{start:.1f}" y="0" width="{length:.1f}" height="{HEIGHT}" '
        f'fill="{AGAINST if value < 0 else FOR}"/></svg>'
    )


def html_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    bars: Sequence[float] | None = None,
) -> str:
    """A table whose first column stands to the left, with a bar at the end of each row.

    Parameters
    ----------
    title : str
        What the table is about.
    header : sequence of str
    rows : sequence of sequences of str
    bars : sequence of float, optional
        One for every row.

    Examples
    --------
    >>> html_table("t", ["a"], [["<b>"]])
    '<table><caption>t</caption><tr><th>a</th></tr><tr><td align="left">&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in (*header, *([""] if bars else [])))
    known = [value for value in bars or () if math.isfinite(value)]
    largest = max(map(abs, known), default=0.0) * (-1 if any(value < 0 for value in known) else 1)
    lines = []
    for place, row in enumerate(rows):
        cells = [_cell(text, "left" if j == 0 else "right") for j, text in enumerate(row)]
        if bars:
            cells.append(f"<td>{bar(bars[place], largest)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<tr>{head}</tr>{''.join(lines)}</table>"


def _cell(text: str, align: str) -> str:
    if len(text) <= LONGEST:
        return f'<td align="{align}">{escape(text)}</td>'
    whole = escape(text, quote=True)
    return f'<td align="{align}" title="{whole}">{escape(text[: LONGEST - 1])}…</td>'
