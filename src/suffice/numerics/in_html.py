"""In notebooks: tables in HTML, with small bars. What comes from the data is text, never markup."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from suffice.numerics.palette import AGAINST, COLOURS, FOR

__all__ = ["bar", "bars_by_class", "curves", "html_notes", "html_table", "key"]

WIDTH, HEIGHT = 120, 10  # of a bar, in pixels
LONGEST = 60  # characters of a cell that are shown; the whole is its title
TALL = 24  # pixels of a picture of several classes


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


def key(c: int) -> str:
    """A square in the colour of class c."""
    square = f'<rect x="0" y="0" width="10" height="10" fill="{_colour(c)}"/>'
    return f'<svg width="10" height="10">{square}</svg>'


def curves(lines: Sequence[Sequence[float]]) -> str:
    """One curve for each class, over the same points, above a common line.

    Examples
    --------
    >>> curves([[0.0, 1.0, 0.0], [0.5, 0.5, 0.5]]).count("<polyline")
    2
    """
    most = max((value for line in lines for value in line), default=0.0)
    drawn = [
        '<polyline fill="none" stroke-width="1.5" stroke="{}" points="{}"/>'.format(
            _colour(c),
            " ".join(
                f"{WIDTH * i / max(len(line) - 1, 1):.1f},{TALL - 1 - (TALL - 2) * v / most:.1f}"
                for i, v in enumerate(line)
            ),
        )
        for c, line in enumerate(lines)
        if most > 0
    ]
    return f'<svg width="{WIDTH}" height="{TALL}">{"".join(drawn)}</svg>'


def bars_by_class(lines: Sequence[Sequence[float]]) -> str:
    """One group of bars for each value, one bar in it for each class.

    Examples
    --------
    >>> bars_by_class([[0.2, 0.8], [0.5, 0.5]]).count("<rect")
    4
    """
    values = max(map(len, lines), default=0)
    most = max((value for line in lines for value in line), default=0.0)
    if not (values and most > 0):
        return ""
    room = WIDTH / values
    each = 0.8 * room / len(lines)
    drawn = [
        f'<rect x="{v * room + c * each:.1f}" y="{TALL - TALL * value / most:.1f}" '
        f'width="{each:.1f}" height="{TALL * value / most:.1f}" fill="{_colour(c)}"/>'
        for c, line in enumerate(lines)
        for v, value in enumerate(line)
    ]
    return f'<svg width="{WIDTH}" height="{TALL}">{"".join(drawn)}</svg>'


def _colour(c: int) -> str:
    return COLOURS[c % len(COLOURS)]


def html_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    bars: Sequence[float] | None = None,
    pictures: Sequence[str] | None = None,
) -> str:
    """A table whose first column stands to the left, with a picture at the end of each row.

    Parameters
    ----------
    title : str
        What the table is about.
    header : sequence of str
    rows : sequence of sequences of str
    bars : sequence of float, optional
        One for every row, drawn as `bar`.
    pictures : sequence of str, optional
        In their place, one for every row, as markup.

    Examples
    --------
    >>> html_table("t", ["a"], [["<b>"]])
    '<table><caption>t</caption><tr><th>a</th></tr><tr><td align="left">&lt;b&gt;</td></tr></table>'
    """
    known = [value for value in bars or () if math.isfinite(value)]
    largest = max(map(abs, known), default=0.0) * (-1 if any(value < 0 for value in known) else 1)
    drawn = pictures or [bar(value, largest) for value in bars or ()]
    head = "".join(f"<th>{escape(name)}</th>" for name in (*header, *([""] if drawn else [])))
    lines = []
    for place, row in enumerate(rows):
        cells = [_cell(text, "left" if j == 0 else "right") for j, text in enumerate(row)]
        if drawn:
            cells.append(f"<td>{drawn[place]}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<tr>{head}</tr>{''.join(lines)}</table>"


def html_notes(lines: Iterable[str]) -> str:
    """Lines below a table.

    Examples
    --------
    >>> html_notes(["rows: 5", "", "p < 2e-16"])
    '<div>rows: 5</div><div>p &lt; 2e-16</div>'
    """
    return "".join(f"<div>{escape(line)}</div>" for line in lines if line)


def _cell(text: str, align: str) -> str:
    if len(text) <= LONGEST:
        return f'<td align="{align}">{escape(text)}</td>'
    whole = escape(text, quote=True)
    return f'<td align="{align}" title="{whole}">{escape(text[: LONGEST - 1])}…</td>'
