"""What ``suffice cv`` says: scores over folds, and which models are as good as the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import floor, inf, isfinite, log10
from typing import TYPE_CHECKING, Any, Final

from suffice.cli.output.tables import CommandLine, amount, grid, rows_in_print
from suffice.errors import ParameterError
from suffice.phrases import rows_of_classes

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.cli.documents import CrossValidation, Folds, FoldScores, JudgedModel
    from suffice.model_selection import FoldEvaluations

__all__ = ["fold_facts", "fold_tables", "tuned_lines"]

SHOWN = ("log loss", "error rate", "ROC area", "RMSE", "MAE", "R²")
LEVEL = 0.95
BOUNDED, ABSOLUTE = "error rate", "MAE"
BEST: Final = "best"
AS_GOOD: Final = "as good"


def fold_facts(found: Mapping[str, FoldEvaluations | str], score: str | None) -> Folds:
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
    asked = _named(score, list(known)) if score else next(iter(known))
    chosen, ranked = asked, judged
    for chosen in (asked, *known):
        if ranked := {n: one for n, one in judged.items() if isfinite(one.mean(chosen))}:
            break
    sign = -1 if known[chosen].more_is_better else 1
    best = min(ranked or judged, key=lambda name: sign * judged[name].mean(chosen))
    return {
        "folds": len(judged[best].folds),
        "rows": _rows(judged[best]),
        "score": chosen,
        "instead_of": None if chosen == asked else asked,
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
) -> JudgedModel:
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
        "difference_from_best": None
        if gap is None
        else {"mean": gap.mean, "low": gap.low, "high": gap.high},
        "verdict": BEST if is_best else AS_GOOD if _is_as_good(one, best, chosen) else "",
        "heavy_tails": _has_heavy_tails(one, chosen),
        "infinite_log_loss": [
            {"label": label, "rows": rows, "learnt": _is_learnt(one, label)}
            for label, rows in one.infinite_rows.items()
        ],
        "seconds": one.seconds,
    }


def _is_as_good(one: FoldEvaluations, best: FoldEvaluations, chosen: str) -> bool:
    """Whether a model cannot be told from the best, by its score and by the size of its errors.

    Its score is finite; 0 is in the interval of the differences; the sign test of the folds does
    not tell the two apart, nor is it worse in all folds where a few rows make its score. A loss has
    no bound, so a few rows can make any interval as wide as one likes: the error rate of classes,
    and the mean absolute error of numbers, has to pass as well.
    """
    from suffice.model_selection import compare_scores
    from suffice.model_selection.scores import scores_of

    if one.of_single_rows or not isfinite(one.mean(chosen)):
        return False
    known = scores_of(one.folds[0])
    for name in dict.fromkeys((chosen, BOUNDED if BOUNDED in known else ABSOLUTE)):
        sign = -1 if known[name].more_is_better else 1
        mine, others = sign * one.scores(name), sign * best.scores(name)
        gap = compare_scores(mine, others, one.test_share, LEVEL)
        if gap.low > 0:
            return False
        often = gap.sign_p_value <= 1 - LEVEL and (mine > others).mean() > 0.5
        if often or ((mine > others).all() and _has_heavy_tails(one, name)):
            return False
    return True


def _has_heavy_tails(one: FoldEvaluations, score: str) -> bool:
    """Whether a few rows make most of a loss: folds vary by more than its mean."""
    from suffice.model_selection.scores import scores_of

    folds = one.scores(score)
    if one.of_single_rows or scores_of(one.folds[0])[score].more_is_better:
        return False
    return bool(isfinite(folds.sum()) and folds.std(ddof=1) > folds.mean())


def _is_learnt(one: FoldEvaluations, label: Any) -> bool:
    """Whether models that hold a label impossible had learnt rows of it."""
    rows = [fold.confusion.value[fold.classes.index(label)].sum() for fold in one.folds]
    lost = [fold.infinite_rows.get(label, 0.0) for fold in one.folds]
    if one.of_single_rows:
        return bool(rows[0] > 1)
    return any(mine > 0 and own < sum(rows) for mine, own in zip(lost, rows, strict=True))


def fold_tables(facts: CrossValidation) -> Iterator[RenderableType]:
    """The same for people, the best model first."""
    judged = [model for model in facts["models"] if "scores" in model]
    sign = -1 if facts["more_is_better"] else 1
    judged.sort(key=lambda model: _order(sign, model["scores"].get(facts["score"])))
    names = [
        name
        for name in SHOWN
        if any(name in m["scores"] and isfinite(m["scores"][name]["mean"]) for m in judged)
    ]
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
    stretches = "folds, each a stretch of the table," if facts["in_order"] else "folds, each"
    if facts["folds"] == 1:
        yield f"  {rows_in_print(facts['rows'])}, each answered by models of all others."
    else:
        yield (
            f"  {rows_in_print(facts['rows'])}{dealt} in {facts['folds']} {stretches} answered by "
            "models that have not learnt it; mean ± standard error over folds."
        )
    yield from _infinite_lines(facts, judged)
    if any(model["verdict"] == AS_GOOD for model in judged):
        also = BOUNDED if BOUNDED in names else ABSOLUTE
        nor = "" if also == facts["score"] else f", and its {also} passes the same"
        yield (
            f"  {AS_GOOD}: its {facts['score']} cannot be told from that of the best "
            f"({LEVEL:.0%} interval of the difference, corrected for folds that overlap, and sign "
            f"test of the folds){nor}."
        )
    for model in judged:
        if model["heavy_tails"]:
            folds = model["scores"][facts["score"]]["folds"]
            yield (
                f"  {model['name']}: heavy tails; a few rows make most of its {facts['score']}, "
                f"which is {min(folds):,.4g} in one fold and {max(folds):,.4g} in another."
            )
    for refused in facts["models"]:
        if "error" in refused:
            yield f"  {refused['name']}: not judged; {refused['error']}"
    yield CommandLine(f"\n  {facts['next']}")


def _order(sign: int, score: FoldScores | None) -> float:
    """What models are sorted by: the best first, those without a finite score last."""
    mean = inf if score is None else sign * score["mean"]
    return mean if isfinite(mean) else inf


def _infinite_lines(facts: Folds, judged: Sequence[JudgedModel]) -> Iterator[str]:
    """Why log losses are infinite, and what models are ranked by instead."""
    if facts["instead_of"]:
        yield (
            f"  Ranked by {facts['score']}, as no model has a finite {facts['instead_of']} in "
            "all folds."
        )
    causes: dict[str, list[str]] = {}
    for model in judged:
        rows = {one["label"]: one["rows"] for one in model["infinite_log_loss"]}
        if rows:
            new = not any(one["learnt"] for one in model["infinite_log_loss"])
            why = ", which models that answer such rows have not learnt" if new else ""
            causes.setdefault(f"{rows_of_classes(rows)}{why}", []).append(model["name"])
    for cause, names in causes.items():
        whose = "" if len(names) == len(judged) else f" of {', '.join(names)}"
        yield f"  The log loss{whose} is ∞ by {cause}."


def tuned_lines(facts: Folds | None) -> Iterator[str]:
    """What ``suffice fit --tune`` says of the options that it took."""
    if facts is None:
        return
    judged = {model["name"]: model for model in facts["models"] if "scores" in model}
    score, best = facts["score"], facts["best"]
    alike = [name for name, model in judged.items() if model["verdict"] == AS_GOOD]
    others = f"; as good: {', '.join(alike)}" if alike else ""
    instead = f" (no {facts['instead_of']} is finite)" if facts["instead_of"] else ""
    yield (
        f"  Tuned: {best}, of {len(facts['models'])} values: {score} "
        f"{_with_error(score, judged[best]['scores'][score])} in {facts['folds']} folds"
        f"{instead}{others}"
    )


def _with_error(name: str, score: FoldScores | None) -> str:
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
