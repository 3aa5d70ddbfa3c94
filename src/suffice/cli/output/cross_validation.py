"""What ``suffice cv`` says: scores over folds, and which models are as good as the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any

from suffice.cli.output.tables import CommandLine, amount, grid, rows_in_print
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.model_selection import FoldEvaluations

__all__ = ["fold_facts", "fold_tables", "tuned_lines"]

SHOWN = ("log loss", "error rate", "ROC area", "RMSE", "MAE", "R²")
LEVEL = 0.95
BEST, AS_GOOD = "best", "as good"


def fold_facts(found: Mapping[str, FoldEvaluations | str], score: str | None) -> dict[str, Any]:
    """Scores of every model, for programs.

    Parameters
    ----------
    found : mapping
        Evaluations by name, or what is wrong.
    score : str, optional
        What models are ranked by.

    Raises
    ------
    ParameterError
        If there is no such score.
    """
    from suffice.model_selection.scores import scores_of

    judged = {name: one for name, one in found.items() if not isinstance(one, str)}
    known = scores_of(next(iter(judged.values())).folds[0])
    chosen = _named(score, list(known)) if score else next(iter(known))
    sign = -1 if known[chosen].more_is_better else 1
    best = min(judged, key=lambda name: sign * judged[name].mean(chosen))
    return {
        "folds": len(judged[best].folds),
        "rows": _rows(judged[best]),
        "score": chosen,
        "more_is_better": known[chosen].more_is_better,
        "best": best,
        "models": [
            {"name": name, "error": one}
            if isinstance(one, str)
            else _facts(name, one, judged[best], chosen, name == best)
            for name, one in found.items()
        ],
    }


def _rows(found: FoldEvaluations) -> float:
    weight = found.pooled.weight
    return float(weight if isinstance(weight, float) else weight.max())


def _named(given: str, known: Sequence[str]) -> str:
    """The score of a name, however it is spelt."""
    plain = {name.lower().replace("-", " ").replace("²", "2"): name for name in known}
    asked = given.lower().replace("-", " ").replace("_", " ").replace("²", "2")
    if asked not in plain:
        raise ParameterError(f"--score {given!r}", f"it is one of {', '.join(map(repr, known))}")
    return plain[asked]


def _facts(
    name: str, one: FoldEvaluations, best: FoldEvaluations, chosen: str, is_best: bool
) -> dict[str, Any]:
    from suffice.model_selection import compare_scores

    gap = None
    if not one.of_single_rows:
        gap = compare_scores(one.scores(chosen), best.scores(chosen), one.test_share, LEVEL)
    return {
        "name": name,
        "rows": _rows(one),
        "scores": {
            score: {
                "mean": one.mean(score),
                "standard_error": None if one.of_single_rows else one.standard_error(score),
                "folds": one.scores(score).tolist(),
            }
            for score in one.names
        },
        "difference_from_best": gap and {"mean": gap.mean, "low": gap.low, "high": gap.high},
        "verdict": BEST if is_best else "" if gap is None or gap.is_plain else AS_GOOD,
        "seconds": one.seconds,
    }


def fold_tables(facts: dict[str, Any]) -> Iterator[RenderableType]:
    """The same for people, the best model first."""
    judged = [model for model in facts["models"] if "scores" in model]
    sign = -1 if facts["more_is_better"] else 1
    judged.sort(key=lambda model: sign * model["scores"][facts["score"]]["mean"])
    names = [name for name in SHOWN if name in judged[0]["scores"]]
    names = [facts["score"], *(name for name in names if name != facts["score"])]
    differ = len({model["rows"] for model in judged}) > 1
    table = grid("model", *names, *(["rows"] if differ else []), "seconds", "")
    table.columns[-1].justify = "left"
    for model in judged:
        cells = [_with_error(name, model["scores"].get(name)) for name in names]
        cells += [amount(model["rows"])] if differ else []
        table.add_row(model["name"], *cells, f"{model['seconds']:.2g}", model["verdict"])
    yield table
    if differ:
        yield "  Models that need every cell are judged on fewer rows: compare with care."
    dealt = "" if facts["seed"] is None else f" dealt at random (seed {facts['seed']})"
    if facts["folds"] == 1:
        yield f"  {rows_in_print(facts['rows'])}, each answered by models of all others."
    else:
        yield (
            f"  {rows_in_print(facts['rows'])}{dealt} in {facts['folds']} folds, each answered by "
            "models that have not learnt it; mean ± standard error over folds."
        )
    if any(model["verdict"] == AS_GOOD for model in judged):
        yield (
            f"  {AS_GOOD}: its {facts['score']} cannot be told from that of the best "
            f"({LEVEL:.0%} interval of the difference, corrected for folds that overlap)."
        )
    for model in facts["models"]:
        if "error" in model:
            yield f"  {model['name']}: not judged; {model['error']}"
    yield CommandLine(f"\n  {facts['next']}")


def tuned_lines(facts: dict[str, Any] | None) -> Iterator[str]:
    """What ``suffice fit --tune`` says of the options that it took."""
    if facts is None:
        return
    judged = {model["name"]: model for model in facts["models"] if "scores" in model}
    score, best = facts["score"], facts["best"]
    alike = [name for name, model in judged.items() if model["verdict"] == AS_GOOD]
    others = f"; as good: {', '.join(alike)}" if alike else ""
    yield (
        f"  Tuned: {best}, of {len(facts['models'])} values: {score} "
        f"{_with_error(score, judged[best]['scores'][score])} in {facts['folds']} folds{others}"
    )


def _with_error(name: str, score: Mapping[str, Any] | None) -> str:
    """A score with the digits that its error leaves."""
    if score is None:
        return "-"
    factor, unit, most = (100, " %", 2) if name == "error rate" else (1, "", 3)
    mean = factor * score["mean"]
    if score["standard_error"] is None:
        return f"{mean:,.{most}f}{unit}".replace("inf", "∞")
    error = factor * score["standard_error"]
    if not (isfinite(mean) and isfinite(error)):
        return f"{mean:.4g}{unit}".replace("inf", "∞")
    places = most if error == 0 else min(max(0, 1 - floor(log10(error))), most)
    return f"{mean:,.{places}f} ± {error:,.{places}f}{unit}"
