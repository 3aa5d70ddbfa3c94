"""Colours, sizes and names: what all pictures share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from suffice.numerics.in_print import COLOURS

try:
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties, findfont, get_font
except ModuleNotFoundError:  # pragma: no cover
    raise ModuleNotFoundError(
        "pictures are drawn by matplotlib, which is not installed; pip install 'suffice[plot]'",
        name="matplotlib",
    ) from None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = ("-", "--", ":", "-.")
INK, QUIET = "#222222", "#9a9a9a"

LONGEST = 24  # characters of a name in a picture
MOST_IN_LEGEND = 28  # classes that colours and lines tell apart


def sized_axes(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """The axes to draw on: those given, or new ones of a size in inches."""
    if ax is not None:
        return ax
    figure = plt.figure(figsize=(width, height), layout="constrained")
    made: Axes = figure.add_subplot()
    return made


def figure_of(ax: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def class_style(c: int) -> dict[str, Any]:
    """Colour and line of the class with code c: 28 of them differ."""
    lines = LINES[c // len(COLOURS) % len(LINES)]
    return {"color": COLOURS[c % len(COLOURS)], "linestyle": lines}


def legend_beside(ax: Axes, title: str | None) -> None:
    """List what is drawn, on the right of the axes, where it hides nothing."""
    handles, _ = ax.get_legend_handles_labels()
    ax.legend(
        handles=handles[:MOST_IN_LEGEND],
        title=None if title is None else shortened(title),
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize="small",
    )


def shortened(value: Any, most: int = LONGEST) -> str:
    """A name as a picture can show it: one line, of characters that the font has, and no formula.

    Examples
    --------
    >>> shortened("a name that is far too long for a picture")
    'a name that … or a picture'
    """
    text = " ".join(str(value).split())
    if len(text) > most:
        text = f"{text[: most // 2].rstrip()} … {text[-(most // 2) :].lstrip()}"
    known = _characters()
    return "".join(c if ord(c) in known else "□" for c in text).replace("$", r"\$")


def named(values: Iterable[Any], most: int = LONGEST) -> list[str]:
    """Each name of several as a picture can show it."""
    return [shortened(value, most) for value in values]


@cache
def _characters() -> frozenset[int]:
    """Code points that the font of pictures can draw."""
    return frozenset(get_font(findfont(FontProperties())).get_charmap())
