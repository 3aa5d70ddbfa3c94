"""Two models on one page: what they are, what columns tell them, and how they answer test rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError, SchemaError
from suffice.model_selection.paired_scores import mcnemar_test
from suffice.models.base.evaluated_rows import known_codes
from suffice.models.linear.model import LinearModel
from suffice.numerics.elementary import exp
from suffice.numerics.in_print import probability
from suffice.numerics.logspace import log_normalise, row_sums
from suffice.reports.rows import answered_rows, most_rows, rows_at
from suffice.reports.tested import in_print, percentage
from suffice.statistics.batch import Batch

__all__ = ["columns_of_both", "facts_of_both", "judged_both", "require_one_task"]

NORMAL = 1.959963984540054  # standard errors to either side of a mean, for 95 %
SURE = 0.05  # a smaller p-value is called a difference
MOST_COLUMNS = 50
SHOWN = 4  # classes that a message names
FACTS = ("Model", "name", 80), ("Rows learnt", "rows", 80), ("Fingerprint", "fingerprint", 12)
ERRORS = "Rows in error", "Log loss, in nats", "Brier score"


def require_one_task(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Check that two models answer the same question.

    Raises
    ------
    ParameterError
        If one predicts classes and the other numbers, or they predict other numbers, or no class of
        one is one of the other.
    """
    alike = one["task"] == other["task"]
    if one["task"] == "classes":
        alike = alike and not {*one["outputs"]}.isdisjoint(other["outputs"])
    else:
        alike = alike and one["outputs"] == other["outputs"]
    if alike:
        return
    first, second = map(_predicted, (one, other))
    raise ParameterError(
        f"the model predicts {first}, the one to compare with {second}",
        "a page compares two answers to one question",
        "write a page of each",
    )


def _predicted(model: Mapping[str, Any]) -> str:
    """What a model predicts, in words."""
    names = ", ".join(map(str, model["outputs"][:SHOWN]))
    more = ", ..." if len(model["outputs"]) > SHOWN else ""
    return f"the classes {names}{more}" if model["task"] == "classes" else names + more


def facts_of_both(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[list[str]]:
    """What the models are, as rows of a table: a name, and a text of each."""
    shown = [
        [title, *(str(about[key] or "not kept")[:most] for about in (one, other))]
        for title, key, most in FACTS
    ]
    options = sorted({*one["options"], *other["options"]})
    texts = ([about["options"].get(name, "default") for name in options] for about in (one, other))
    return shown + [list(row) for row in zip(options, *texts, strict=True)]


def columns_of_both(
    models: tuple[Any, Any], one: Mapping[str, Any], other: Mapping[str, Any]
) -> dict[str, Any]:
    """What every column tells either model, and how far their rows are apart in it.

    Returns
    -------
    dict
        ``columns``: those with the largest differences, each with ``name``, ``tells`` (texts),
        ``shares`` (of the longest bar) and ``apart``; ``more``: how many are left out; ``bits``:
        whether both are told bits.
    """
    sides = [{column["name"]: column for column in model["columns"]} for model in (one, other)]
    names = list(dict.fromkeys(name for side in sides for name in side))
    sizes = np.array([[_size(side.get(name)) for side in sides] for name in names])
    longest = sizes.max(axis=0)
    bits = all("moves" not in column for side in sides for column in side.values())
    shares = sizes / np.maximum(longest.max() if bits else longest, np.finfo(float).tiny)
    apart = _apart(*models)
    differs = -np.abs(shares[:, 0] - shares[:, 1])
    order = sorted(range(len(names)), key=lambda j: (differs[j], -apart.get(names[j], 0.0)))
    shown = [
        {
            "name": names[j],
            "tells": [_tells(side.get(names[j])) for side in sides],
            "shares": shares[j].tolist(),
            "apart": f"{apart[names[j]]:.3f}" if names[j] in apart else "",
        }
        for j in order[:MOST_COLUMNS]
    ]
    return {"columns": shown, "more": len(order) - len(shown), "bits": bits, "apart": bool(apart)}


def _size(column: Mapping[str, Any] | None) -> float:
    return 0.0 if column is None else float(column.get("bits", column.get("moves", 0.0)))


def _tells(column: Mapping[str, Any] | None) -> str:
    if column is None:
        return "not read"
    if "moves" in column:
        return f"{column['moves']:.3g}"
    return f"{column['bits']:.2f}" if "bits" in column else ""


def _apart(one: Any, other: Any) -> dict[str, float]:
    """Hellinger's distance of the rows learnt, by column, where both models keep such sums."""
    if type(one) is not type(other) or not (hasattr(one, "statistic_") and hasattr(one, "compare")):
        return {}
    try:
        found = one.compare(other)
    except (ParameterError, SchemaError):  # other columns, or other families
        return {}
    return {one.column: one.overall.hellinger for one in found.columns if one.overall is not None}


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model answers n rows, and how wrong that is.

    Parameters
    ----------
    places : ndarray of int (n,)
        Where the rows stand in the table, ascending: those with an answer whose truth is known.
    answer : ndarray (n,) of labels, or (n, t) of numbers
    errors : ndarray (n, 3) or (n, t)
        Of labels whether they are wrong, −log P(truth | x), and Σ_c (P(c | x) − [c is true])²; of
        numbers (y − ŷ)².
    """

    places: NDArray[np.intp]
    answer: NDArray[Any]
    errors: NDArray[np.float64]

    def at(self, places: NDArray[np.intp]) -> Self:
        """Those of some of the rows."""
        i = np.searchsorted(self.places, places)
        return replace(self, places=places, answer=self.answer[i], errors=self.errors[i])


def _answers(model: Any, X: Any, y: Any) -> Answers:
    of_batch = _numbers if isinstance(model.model_, LinearModel) else _labels
    found = [
        (places, *of_batch(model.model_, batch)) for places, _, batch in answered_rows(model, X, y)
    ]
    places, answer, errors = (np.concatenate(parts) for parts in zip(*found, strict=True))
    known = ~np.isnan(errors).any(axis=1)
    return Answers(places[known], answer[known], errors[known])


def _labels(fitted: Any, batch: Batch) -> tuple[NDArray[Any], NDArray[np.float64]]:
    codes = known_codes(batch, fitted)
    logs, _ = log_normalise(fitted.log_joint(batch), fitted.log_prior)
    rows, answer = np.arange(batch.rows), logs.argmax(axis=1)
    truth = np.zeros_like(logs)
    truth[rows, np.maximum(codes, 0)] = 1
    names = np.empty(len(fitted.classes), object)
    names[:] = [str(label) for label in fitted.classes.values]
    loss, brier = -logs[rows, np.maximum(codes, 0)], row_sums((exp(logs) - truth) ** 2)
    errors = np.stack([answer != codes, loss, brier], axis=1)
    errors[codes < 0] = np.nan
    return names[answer], errors


def _numbers(fitted: LinearModel, batch: Batch) -> tuple[NDArray[Any], NDArray[np.float64]]:
    parts = [
        (answer := fitted.fit.predict(x), (y - answer) ** 2)
        for _, x, y in fitted.rows(batch, with_targets=True)
    ]
    nothing = np.empty((0, len(fitted.design.targets)))
    answers, errors = zip((nothing, nothing), *parts, strict=True)
    return np.concatenate(answers), np.concatenate(errors)


def judged_both(
    models: tuple[Any, Any], tests: Sequence[tuple[Any, Any]], columns: tuple[list[Any], list[Any]]
) -> dict[str, Any]:
    """How both models answer the rows of a test, and the rows that they answer most differently.

    Parameters
    ----------
    models : tuple of two fitted estimators
    tests : sequence of two pairs
        The rows as each reads them, and their answers; see `rows_for_both`.
    columns : tuple of two lists
        The columns of the pages of both.

    Returns
    -------
    dict
        How many ``rows`` both answer, ``measures`` (``name``, ``one``, ``other``, and their
        ``difference`` with its 95 % interval), the ``verdict`` in words, and ``differ``: rows as
        `rows_of` has them, with the cells of the other model as ``others``.

    Raises
    ------
    ParameterError
        If there is no row that both answer.
    """
    found = [_answers(model, *rows) for model, rows in zip(models, tests, strict=True)]
    both = np.intersect1d(found[0].places, found[1].places)
    one, other = (answers.at(both) for answers in found)
    if not len(both):
        raise ParameterError(
            "no row of the test is answered by both models",
            "they are compared on rows that both answer, and whose truth is known",
            "give rows without missing cells",
        )
    if one.answer.ndim == 1:
        names: tuple[str, ...] = ERRORS
        apart = np.abs(exp(-one.errors[:, 1]) - exp(-other.errors[:, 1]))  # of P(truth | x)
        unlike = np.flatnonzero(one.answer != other.answer)
        verdict = _of_labels(one.errors[:, 0], other.errors[:, 0])
    else:
        names = tuple(f"Mean squared error, {name}" for name in models[0].target_names_)
        apart = np.abs(one.answer - other.answer).max(axis=1)
        unlike = np.flatnonzero(apart > 0)
        verdict = _of_numbers(one.errors.mean(axis=1), other.errors.mean(axis=1))
    order = np.argsort(-apart[unlike], kind="stable")[: most_rows(sum(map(len, columns)))]
    places = both[unlike[order]]
    differ, others = (
        rows_at(model, *rows, of, places)
        for model, rows, of in zip(models, tests, columns, strict=True)
    )
    return {
        "rows": in_print(len(both)),
        "measures": [
            _measure(name, one.errors[:, i], other.errors[:, i]) for i, name in enumerate(names)
        ],
        "verdict": verdict,
        "unlike": in_print(len(unlike)),
        "differ": [a | {"others": b["cells"]} for a, b in zip(differ, others, strict=True)],
    }


def _measure(name: str, one: NDArray[np.float64], other: NDArray[np.float64]) -> dict[str, str]:
    """Two means, and their difference with its interval over rows."""
    mean, low, high = _difference(one, other)
    shown = f"{mean:+.3g} ({low:+.3g} to {high:+.3g})" if isfinite(mean) else "not finite"
    means = (float(errors.mean()) for errors in (one, other))
    if name == ERRORS[0]:
        texts = [percentage(value) for value in means]
        shown = f"{100 * mean:+.2f} points ({100 * low:+.2f} to {100 * high:+.2f})"
    else:
        texts = [f"{value:.4g}" if isfinite(value) else "∞" for value in means]
    shown = shown.replace("-", "\N{MINUS SIGN}")
    return {"name": name, "one": texts[0], "other": texts[1], "difference": shown}


def _difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float, float]:
    """d̄, and d̄ ± 1.96 s/√n of the differences d of n rows."""
    with np.errstate(invalid="ignore"):
        d = np.where(one == other, 0.0, one - other)
    if not np.isfinite(d).all():
        return inf, -inf, inf
    mean = float(d.mean())
    half = NORMAL * float(d.std(ddof=1)) / len(d) ** 0.5 if len(d) > 1 else inf
    return mean, mean - half, mean + half


def _of_labels(one: NDArray[np.float64], other: NDArray[np.float64]) -> str:
    """McNemar's test in words."""
    found = mcnemar_test(one == 1, other == 1)
    p = f"p = {probability(found.p_value)}".replace("= <", "< ")
    better = "A" if found.only_one < found.only_other else "B"
    return (
        f"Only A is wrong in {in_print(found.only_one)} of them, only B in "
        f"{in_print(found.only_other)}. "
        + (
            f"{better} errs less often, by more than chance explains"
            if found.p_value < SURE
            else "Chance alone often makes such a difference"
        )
        + f" (McNemar's exact test, {p})."
    )


def _of_numbers(one: NDArray[np.float64], other: NDArray[np.float64]) -> str:
    """Whether the difference of two mean squared errors is more than chance, in words."""
    mean, low, high = _difference(one, other)
    if low <= 0 <= high:
        return "Chance alone often makes such a difference: its 95 % interval holds 0."
    return f"{'B' if mean > 0 else 'A'} is closer to the truth, by more than chance explains."
