"""What the cost model says: of fits that it has not seen, and of ten billion rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from benchmarks.measure.floor import THREADS
from benchmarks.scaling.cost_model import Cluster, Prediction, Speed, Work, predict
from benchmarks.scaling.fits import FEW, FITS, MODELS, SPLITS, Run, calibrated
from benchmarks.scaling.overheads import OVERHEADS, SMALL
from benchmarks.scaling.statistics import FITTED, MERGES

__all__ = [
    "CLUSTER",
    "SPLIT_ROWS",
    "TOTAL_ROWS",
    "Checked",
    "Measured",
    "checks",
    "findings",
    "predictions",
]

TOTAL_ROWS, SPLIT_ROWS = 10_000_000_000, 1_000_000
CLUSTER = Cluster()
CLUSTER_WORKERS = (1, 10, 100, 1_000)
ON = ("dask", "spark")

Measured = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Checked:
    """A run, and what the runs of few splits say it takes."""

    run: Run
    predicted: float

    @property
    def error(self) -> float:
        return self.predicted / self.run.seconds - 1


def _speeds(measured: Measured) -> dict[tuple[str, str], Speed]:
    """Fixed time and time of a split: the straight line through the files of few splits."""
    runs = {(r.model, r.engine, r.workers, r.splits): r for r in measured[FITS]}
    speeds = {}
    for model, kind in dict.fromkeys((r.model, r.engine) for r in measured[FITS]):
        fixed, split = {}, {}
        for w in calibrated():
            few, more = (runs[model, kind, w, splits] for splits in FEW)
            rounds = [ceil(splits / w) for splits in FEW]
            times = [run.seconds / run.passes for run in (few, more)]
            split[w] = max(times[1] - times[0], 0.0) / (rounds[1] - rounds[0])
            fixed[w] = max(times[0] - rounds[0] * split[w], 0.0)
        speeds[model, kind] = Speed(fixed, split, more.rows / FEW[1], more.bytes / FEW[1])
    return speeds


def checks(measured: Measured) -> list[Checked]:
    """The model against runs that it has not seen."""
    speeds = _speeds(measured)
    return [
        Checked(
            run,
            run.passes * speeds[run.model, run.engine].of_pass(run.splits, run.workers, THREADS),
        )
        for run in measured[FITS]
        if run.splits == SPLITS
    ]


def predictions(measured: Measured) -> list[Prediction]:
    """Ten billion rows, by every model, on clusters of several sizes."""
    speeds = _speeds(measured)
    passes = {run.model: run.passes for run in measured[FITS] if run.splits == SPLITS}
    statistics = {merge.kind: merge for merge in measured[MERGES]}
    found = {item.engine: item for item in measured[OVERHEADS] if item.statistic == SMALL}
    return [
        predict(
            Work(model.name, TOTAL_ROWS // SPLIT_ROWS, SPLIT_ROWS, passes[model.name]),
            workers,
            speeds[model.name, "processes"],
            statistics[FITTED + model.name],
            found[kind],
            CLUSTER,
        )
        for kind in ON
        if kind in found and found[kind].absent is None
        for model in MODELS
        if FITTED + model.name in statistics and model.name in passes
        for workers in CLUSTER_WORKERS
    ]


def findings(measured: Measured) -> list[str]:
    """How good the model is, and from how many workers on the driver is the bound."""
    if not measured[FITS]:
        return []
    checked, most = checks(measured), CLUSTER_WORKERS[-1]
    waits = [
        f"{most * max(one.computing, one.storage) / one.driver:,.0f} for {one.work.model}"
        for one in predictions(measured)
        if one.engine == ON[0] and one.workers == most
    ]
    driver = (
        f"{ON[0]}: with row groups of {SPLIT_ROWS:,} rows, workers wait for the driver where there "
        f"are more than {', '.join(waits)}."
    )
    return [*(_errors(kind, checked) for kind in ("local", "processes")), *[driver] * bool(waits)]


def _errors(kind: str, checked: Sequence[Checked]) -> str:
    errors = [abs(one.error) for one in checked if one.run.engine == kind]
    return (
        f"{kind}: {len(errors)} runs of {SPLITS} splits are predicted with a median error of "
        f"{np.median(errors):.0%}, {max(errors):.0%} at most."
    )
