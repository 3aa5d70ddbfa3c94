"""In print: one table for text, terminal and notebook; lists, p-values, bounds, shares."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

# Colours that readers with any kind of colour vision tell apart: M. Okabe and K. Ito, Color
# Universal Design (2008). The yellow is left out: a thin line of it cannot be seen on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
FOR, AGAINST = COLOURS[0], COLOURS[1]  # what speaks for a class, and what against it
NAMED = 5  # columns that a message names; of the others it says how many they are
SMALLEST_P = 2e-16  # smaller p-values are printed as such, as R does
WIDTH, HEIGHT = 120, 10  # of a bar, in pixels
LONGEST = 60  # characters of a cell that a notebook shows; the whole is its title


@dataclass(frozen=True)
class Table:
    """A table of texts: the same for `print`, a terminal and a notebook.

    What comes from the data is text, never markup.
    """

    title: str  # a line above; empty, there is none
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()  # lines below
    left: Collection[int] = (0,)  # columns that stand to the left; the others stand to the right
    bars: Sequence[float] = ()  # in notebooks: one for every row, drawn as `bar`
    below: Sequence[Table] = ()  # those that follow

    def __str__(self) -> str:
        title = [self.title] if self.title else []
        lines = aligned([self.header, *self.rows], self.left) if any(self.header) else []
        if not lines and self.rows:
            lines = aligned(self.rows, self.left)
        own = "\n".join([*title, *lines, *(["", *self.notes] if self.notes else [])])
        return "\n\n".join([own, *map(str, self.below)])

    def html(self) -> str:
        known = [value for value in self.bars if math.isfinite(value)]
        sign = -1 if any(value < 0 for value in known) else 1
        largest = max(map(abs, known), default=0.0) * sign
        drawn = [bar(value, largest) for value in self.bars]
        head = "".join(f"<th>{escape(name)}</th>" for name in (*self.header, *[""][: len(drawn)]))
        lines = []
        for place, row in enumerate(self.rows):
            cells = [
                _cell(text, "left" if j in self.left else "right") for j, text in enumerate(row)
            ]
            if drawn:
                cells.append(f"<td>{drawn[place]}</td>")
            lines.append(f"<tr>{''.join(cells)}</tr>")
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<div>{escape(line)}</div>" for line in self.notes if line)
        below = "".join(table.html() for table in self.below)
        head = f"<tr>{head}</tr>" if any(self.header) else ""
        return f"<table>{caption}{head}{''.join(lines)}</table>{notes}{below}"


class Printed:
    """A result that prints as its table, and shows it in notebooks."""

    def table(self) -> Table:
        """Return the result as a table of texts."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def _cell(text: str, align: str) -> str:
    if len(text) <= LONGEST:
        return f'<td align="{align}">{escape(text)}</td>'
    whole = escape(text, quote=True)
    return f'<td align="{align}" title="{whole}">{escape(text[: LONGEST - 1])}…</td>'


def percent(fraction: float) -> str:
    """Write a fraction; rounding makes nothing certain, and an undefined one is a dash."""
    if math.isnan(fraction):
        return "-"
    if 0.9995 <= fraction < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < fraction < 0.0005 else f"{100 * fraction:.1f} %"


def number(value: float) -> str:
    """A number to four digits, or to its units where it is large."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def short(value: Any) -> str:
    """Write a cell or a parameter in little space."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, float):
        return number(value)
    text = str(value)
    if not text.strip():
        return "(empty)"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def signed(value: float) -> str:
    """Write evidence with its sign."""
    if not math.isfinite(value):
        return {math.inf: "+∞", -math.inf: "-∞"}.get(value, "-")
    return "0.00" if round(value, 2) == 0 else f"{value:+,.2f}"


def odds(nats: float) -> str:
    """Write log-odds as odds, in words."""
    if math.isnan(nats):
        return "-"
    size = math.exp(min(abs(nats), 700.0)) if math.isfinite(nats) else math.inf
    if size < 1.005:
        return "even"
    text = f"{size:.3g}" if size < 100 else f"{size:,.0f}" if size < 1e6 else f"{size:.0e}"
    return f"{text.replace('inf', '∞')} to 1 {'for' if nats > 0 else 'against'}"


def probability(p: float) -> str:
    """A p-value to three digits."""
    return f"<{SMALLEST_P:.0g}" if p < SMALLEST_P else f"{p:.3g}"


def bound(value: float) -> str:
    """A positive number, rounded up to one digit: no more than that."""
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit * (1 - 1e-9)) * unit:.0e}"


def criterion(value: float) -> str:
    """A log-likelihood, AIC or BIC, of which differences count: two decimals at least."""
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4g}"


def explained(unexplained: float) -> str:
    """R², from 1 − R²: to four digits, where it is nearly 1 by what it lacks."""
    return f"1 − {unexplained:.3g}" if 0 < unexplained < 5e-5 else f"{1 - unexplained:.4g}"


def listed(items: Iterable[str], most: int = 10) -> str:
    """The first items, and how many more there are."""
    every = list(items)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right, unless told."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if j in left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def steps(title: str, columns: Mapping[str, Sequence[float]], most: int = 10) -> Table:
    """A table of many rows: the first, the last, and some between, evenly spaced."""
    n = len(next(iter(columns.values())))
    shown = sorted({round(i * (n - 1) / (most - 1)) for i in range(most)}) if n > most else range(n)
    rows = [[f"{column[i]:.4g}" for column in columns.values()] for i in shown]
    return Table(title, [*columns], rows)


def bar(value: float, largest: float) -> str:
    """A bar as inline SVG, of a length in proportion; below 0 it points to the left.

    Where ``largest`` is negative, values have both signs, and 0 is in the middle.
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
