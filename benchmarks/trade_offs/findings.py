"""Sentences about the measured figures: every number and every order is looked up in the cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from benchmarks.trade_offs.cells import Cell, grouped

__all__ = ["findings"]

CLOSE = 0.01  # of accuracy: one point
AHEAD = 0.005

COSTS = {
    "training": "training time",
    "prediction": "prediction time",
    "bytes": "size of the model",
}
COMPARED = (
    ("LDA", "naive Bayes"),
    ("logistic regression", "LDA"),
    ("nearest neighbours", "naive Bayes"),
)

AtSize = Mapping[str, Cell]  # the cells of one truth and size, by method


def findings(measured: Mapping[str, Sequence[Cell]]) -> list[str]:
    """What the measured cells say; what was left out is not spoken of."""
    rows, columns = (
        [cell for cell in measured[section] if cell.reason is None] for section in measured
    )
    return [*_reach(rows), *_quadratic(rows), *_copies(columns), *_humps(columns), *_costs(rows)]


def _reach(cells: Sequence[Cell]) -> Iterator[str]:
    """How many rows each method needs to come close to the best rule."""
    for (truth,), on_truth in grouped(cells, "truth").items():
        reached: dict[int | None, list[str]] = {}
        for (method,), own in grouped(on_truth, "method").items():
            n = _from((cell.n, cell.best - cell.accuracy <= CLOSE) for cell in own)
            reached.setdefault(n, []).append(method)
        never = reached.pop(None, [])
        parts = [f"{_listed(reached[n])} from n = {n:,} on" for n in sorted(reached)]
        parts += [f"{_listed(never)} for no n measured"] * bool(never)
        yield f"Within a point of the best rule, {truth}: {'; '.join(parts)}."


def _quadratic(cells: Sequence[Cell]) -> Iterator[str]:
    """What a covariance matrix for every class brings and costs."""
    for truth in ("unequal", "equal"):
        if sizes := _sizes(cells, truth, "LDA", "QDA"):
            gains = [at["QDA"].accuracy - at["LDA"].accuracy for at in sizes]
            rows = [at["QDA"].n for at in sizes]
            start = _from((n, gain >= AHEAD) for n, gain in zip(rows, gains, strict=True))
            yield (
                f"QDA less LDA, {truth}: {_points(gains[0])} at n = {rows[0]:,}, "
                f"{_points(gains[-1])} at n = {rows[-1]:,}; half a point or more ahead "
                f"{'at no n for good' if start is None else f'from n = {start:,} on'}."
            )


def _copies(cells: Sequence[Cell]) -> Iterator[str]:
    """What counting the same evidence several times costs."""
    names = ("naive Bayes", "LDA")
    if sizes := _sizes(cells, "copies", *names):
        losses = (
            f"{name} {_pair(_points(at[name].accuracy - at[name].best) for at in sizes)}"
            for name in names
        )
        yield f"Less the best rule, copies, {_dimensions(sizes)}: {'; '.join(losses)}."


def _humps(cells: Sequence[Cell]) -> Iterator[str]:
    """Freedom from assumptions, and the curse of dimensionality."""
    name = "nearest neighbours"
    if sizes := _sizes(cells, "humps", name, "LDA"):
        others = (max(at[other].accuracy for other in at if other != name) for at in sizes)
        yield (
            f"Accuracy, humps, {_dimensions(sizes)}: {name} "
            f"{_pair(f'{at[name].accuracy:.1%}' for at in sizes)}, "
            f"the best of the others {_pair(f'{accuracy:.1%}' for accuracy in others)}."
        )


def _costs(cells: Sequence[Cell]) -> Iterator[str]:
    """What a method costs beside another, on the most rows that both were measured on."""
    truths = [truth for (truth,) in grouped(cells, "truth")]
    for pair in COMPARED:
        both = [at for truth in truths for at in _sizes(cells, truth, *pair)]
        most = max((at[pair[0]].n for at in both), default=0)
        largest = [tuple(at[name] for name in pair) for at in both if at[pair[0]].n == most]
        if largest:
            times = (f"{_ratio(largest, figure)} times the {COSTS[figure]}" for figure in COSTS)
            yield f"At n = {most:,}, {pair[0]} against {pair[1]}: {_listed(times)}."


def _ratio(pairs: Iterable[tuple[Cell, Cell]], figure: str) -> str:
    """The median of a figure of the one over that of the other."""
    ratio = median(getattr(one, figure) / getattr(other, figure) for one, other in pairs)
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _sizes(cells: Iterable[Cell], truth: str, *methods: str) -> list[AtSize]:
    """The cells of a truth by method, at every size where these methods were measured."""
    own = grouped((cell for cell in cells if cell.truth == truth), "n", "d")
    by_method = [{cell.method: cell for cell in at} for at in own.values()]
    return [at for at in by_method if at.keys() >= set(methods)]


def _from(known: Iterable[tuple[int, bool]]) -> int | None:
    """The smallest n from which on something holds."""
    start = None
    for n, holds in known:
        start = (n if start is None else start) if holds else None
    return start


def _points(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:+} points"  # no −0.0


def _dimensions(sizes: Sequence[AtSize]) -> str:
    return f"d = {_pair(str(next(iter(at.values())).d) for at in sizes)}"


def _pair(texts: Iterable[str]) -> str:
    """The first and the last."""
    listed = list(texts)
    return f"{listed[0]} and {listed[-1]}"


def _listed(texts: Iterable[str]) -> str:
    *before, last = texts
    return f"{', '.join(before)} and {last}" if before else last
