"""Colours, sizes and names: what all pictures share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Self

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
HATCHES = ("", "///", "...", "xxx")  # of areas, as the lines
MARKERS = "os^D"  # of points
INK, QUIET = "#222222", "#9a9a9a"

LONGEST = 24  # characters of a name in a picture
LETTER = 0.075  # inches: its width
MOST_IN_LEGEND = 28  # classes that colours and lines tell apart


def sized_axes(
    ax: Axes | None, width: float = 6.4, height: float = 4.0, beside: Iterable[str] = ()
) -> Axes:
    """The axes to draw on: those given, or new ones of a size in inches, with room for names."""
    if ax is not None:
        return ax
    width += LETTER * max(0, max(map(len, beside), default=0) - 6)
    figure = plt.figure(figsize=(width, height), layout="constrained")
    made: Axes = figure.add_subplot()
    return made


def titled(ax: Axes, title: str, below: str | None = None) -> None:
    """Put a title above, on the left, and a text below, in as many lines as they need."""
    ax.set_title(title, fontsize="medium", loc="left", wrap=True)
    if below is not None:
        ax.set_xlabel(below, wrap=True)


class Display:
    """A picture that was drawn: its axes ``ax_``, and the figure ``figure_`` they belong to."""

    ax_: Axes
    figure_: Figure

    def drawn(self, ax: Axes) -> Self:
        """Keep the axes of the picture, and their figure."""
        figure = ax.get_figure(root=True)
        assert isinstance(figure, Figure)
        self.ax_, self.figure_ = ax, figure
        return self


def class_style(c: int) -> dict[str, Any]:
    """Colour and line of the class with code c: 28 of them differ."""
    return {"color": COLOURS[c % len(COLOURS)], "linestyle": _of_turn(LINES, c)}


def area_style(c: int) -> dict[str, Any]:
    """Colour and hatch of an area of the class with code c."""
    return {"color": COLOURS[c % len(COLOURS)], "hatch": _of_turn(HATCHES, c), "edgecolor": "white"}


def point_style(c: int) -> dict[str, Any]:
    """Colour and marker of a point of the class with code c."""
    return {"color": COLOURS[c % len(COLOURS)], "marker": _of_turn(MARKERS, c)}


def _of_turn(kinds: Sequence[str], c: int) -> str:
    """Tell classes of one colour apart."""
    return kinds[c // len(COLOURS) % len(kinds)]


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
    """A name as a picture can show it: one line, in characters of the font, and no formula."""
    text = " ".join(str(value).split())
    if len(text) > most:
        text = f"{text[: most // 2].rstrip()} … {text[-(most // 2) :].lstrip()}"
    known = _characters()
    return "".join(c if ord(c) in known else "□" for c in text).replace("$", r"\$")


def named(values: Iterable[Any], most: int = LONGEST) -> list[str]:
    """Each name of several as a picture can show it; longer where two would be the same."""
    whole = list(values)
    for longer in (most, 2 * most, 4 * most):
        found = [shortened(value, longer) for value in whole]
        if len(set(found)) == len(found):
            break
    return found


@cache
def _characters() -> frozenset[int]:
    """Code points that the font of pictures can draw."""
    return frozenset(get_font(findfont(FontProperties())).get_charmap())
