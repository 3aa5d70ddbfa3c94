"""The design of an experiment: the class, the run and the block of every volume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn
from suffice.numerics.in_print import listed
from suffice.phrases import amount

RESTS = ("rest", "resting", "baseline", "fixation", "fix", "blank", "null", "n/a")
MANY = 5  # times the volumes of any other class


@dataclass(frozen=True, eq=False)
class Design:
    """The T volumes that have a class, ordered by run, then by time; a fold holds out one run."""

    classes: NDArray[Any]  # (k,), increasing
    runs: tuple[str, ...]  # names of the R runs
    volumes: NDArray[np.intp]  # (T,): positions among all volumes that were given
    code: NDArray[np.int32]  # (T,): class
    run: NDArray[np.int32]  # (T,)
    block: NDArray[np.int32]  # (T,); a block has one run and one class
    run_of_all: NDArray[np.int32]  # of every volume that was given; −1 in a run without a class

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """The first volume of each run and the one after its last, (R, 2)."""
        edges = np.searchsorted(self.run, np.arange(len(self.runs) + 1))
        return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int64)

    @cached_property
    def first_of_block(self) -> NDArray[np.intp]:
        """The first volume of each block, (B,)."""
        return np.unique(self.block, return_index=True)[1]

    @cached_property
    def trained(self) -> NDArray[np.bool_]:
        """Return whether a fold trains on a run, (R, R)."""
        return ~np.eye(len(self.runs), dtype=bool)


def design(labels: Sequence[Any], groups: Sequence[Any], leave_out: Sequence[Any] = ()) -> Design:
    """Order the volumes that have a class by run and time.

    A volume whose label is None, NaN or one of ``leave_out`` has no class. A block is a stretch of
    volumes of one run that have one label.
    """
    given = np.asarray(labels, dtype=object)
    has_class = _with_class(given, leave_out)
    classes, codes = _classes(given[has_class])
    code = np.full(len(given), -1, np.int32)
    code[has_class] = codes
    keys, run = np.unique(np.asarray(groups), return_inverse=True)
    order = np.argsort(run, kind="stable")
    starts = (np.diff(run[order], prepend=-1) != 0) | (np.diff(code[order], prepend=-2) != 0)
    block = np.cumsum(starts)
    kept = code[order] >= 0
    volumes = order[kept]
    with_class, run_of_kept = np.unique(run[volumes], return_inverse=True)
    run_of_all = np.full(len(keys), -1, np.int32)
    run_of_all[with_class] = np.arange(len(with_class))
    found = Design(
        classes,
        tuple(map(str, keys[with_class])),
        volumes,
        code[volumes],
        run_of_kept.astype(np.int32),
        np.unique(block[kept], return_inverse=True)[1].astype(np.int32),
        run_of_all[run],
    )
    _check(found)
    _warn_of_rest(found)
    return found


def random_labellings(design: Design, number: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Permute the labels of the B blocks within each run, (P, B)."""
    labels = np.tile(design.code[design.first_of_block], (number, 1))
    for r in range(len(design.runs)):
        here = design.run[design.first_of_block] == r
        labels[:, here] = rng.permuted(labels[:, here], axis=1)
    return labels


def _with_class(labels: NDArray[Any], leave_out: Sequence[Any]) -> NDArray[np.bool_]:
    known = np.array([label is not None and label == label for label in labels], np.bool_)
    for name in leave_out:
        chosen = np.array([label == name for label in labels], np.bool_)
        if not chosen.any():
            names = dict.fromkeys(map(str, labels[known].tolist()))
            raise ParameterError(
                f"leave_out names the label {name!r}",
                f"the labels are {listed(map(repr, names))}",
            )
        known &= ~chosen
    return known


def _classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    if len({isinstance(label, str) for label in labels}) > 1:
        raise DataError("some labels are text and some are not", "labels are of one type")
    classes, codes = np.unique(np.array(labels.tolist()), return_inverse=True)
    if len(classes) < 2:
        fact = f"every label is {classes[0]!s}" if len(classes) else "no volume has a label"
        raise DataError(fact, "a classifier needs two classes or more", "check the labels")
    return classes, codes


def _check(found: Design) -> None:
    """Refuse a design in which some fold lacks a class to train on, or has one class to test."""
    if len(found.runs) < 2:
        raise DataError(
            f"there is one run, {found.runs[0]!r}",
            "a searchlight learns from some runs and is tested on another",
            "say which volumes belong to which run: groups, or a second column of the labels",
        )
    table = np.zeros((len(found.runs), len(found.classes)), np.intp)
    np.add.at(table, (found.run, found.code), 1)
    for name, row in zip(found.runs, table, strict=True):
        if (row > 0).sum() < 2:
            raise DataError(
                f"run {name!r} shows one class, {found.classes[row.argmax()]!s}",
                "every run is held out in turn and tells two classes or more apart",
                "join it with another run, or leave it out",
            )
    for fold in found.trained:
        learnt = table[fold].sum(axis=0)
        if not learnt.all():
            raise DataError(
                f"class {found.classes[learnt.argmin()]!s} occurs only in run "
                f"{found.runs[fold.argmin()]!r}",
                "a class must occur in the runs that are learnt from when that run is held out",
                "leave the class out, or divide the volumes into runs in another way",
            )


def _warn_of_rest(found: Design) -> None:
    """Warn of a class in which nothing seems to be shown."""
    volumes = np.bincount(found.code)
    for c, name in enumerate(found.classes.tolist()):
        if str(name).lower() in RESTS or volumes[c] >= MANY * np.delete(volumes, c).max():
            warn(
                f"class {name!r} has {amount(int(volumes[c]))} of {amount(len(found.code))} "
                f"volumes; if nothing is shown in them, it is no class: leave_out=[{name!r}]"
            )
