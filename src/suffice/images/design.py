"""The design of an experiment: which volume shows what, in which run and which block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError
from suffice.phrases import Option, Phrase, PythonOnly

__all__ = ["Design", "Exchange", "design"]

Exchange = Literal["blocks", "volumes"]


@dataclass(frozen=True, eq=False)
class Design:
    """The volumes that have a class, in the order of runs and, within them, of blocks.

    A block is what may change its label as a whole: volumes of one run and one class.

    Parameters
    ----------
    classes : ndarray (k,)
        Increasing.
    runs : tuple of str
        Names.
    tested : ndarray of bool (R,)
        Runs that are only tested on; without any, every run is held out in turn.
    volumes : ndarray of int (T,)
        Where the volumes stand among all that were given.
    code, run, block : ndarray of int (T,)
        Class, run and block of each.
    run_of_all : ndarray of int
        The run of every volume given, with a class or without.
    """

    classes: NDArray[Any]
    runs: tuple[str, ...]
    tested: NDArray[np.bool_]
    volumes: NDArray[np.intp]
    code: NDArray[np.int32]
    run: NDArray[np.int32]
    block: NDArray[np.int32]
    run_of_all: NDArray[np.int32]

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def run_bounds(self) -> NDArray[np.int64]:
        """The first volume of each run and that after its last, (R, 2)."""
        edges = np.searchsorted(self.run, np.arange(len(self.runs) + 1))
        return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int64)

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """The volumes that each fold predicts, (F, 2): those of a run, or all that are tested."""
        if not self.tested.any():
            return self.run_bounds
        return np.array([[self.run_bounds[self.tested, 0].min(), len(self.run)]], np.int64)

    @cached_property
    def trained(self) -> NDArray[np.bool_]:
        """Whether a fold learns from a run, (F, R)."""
        return ~self.tested[None, :] if self.tested.any() else ~np.eye(len(self.runs), dtype=bool)

    @cached_property
    def predicted(self) -> NDArray[np.bool_]:
        """Whether a volume is predicted, (T,)."""
        return self.tested[self.run] if self.tested.any() else np.ones(len(self.run), np.bool_)

    @cached_property
    def first_of_block(self) -> NDArray[np.intp]:
        """A volume of each block, (B,)."""
        return np.unique(self.block, return_index=True)[1]

    @property
    def block_code(self) -> NDArray[np.int32]:
        """The class of each block, (B,)."""
        return self.code[self.first_of_block]

    @property
    def block_run(self) -> NDArray[np.int32]:
        """The run of each block, (B,)."""
        return self.run[self.first_of_block]


def design(
    labels: Sequence[Any],
    groups: Sequence[Any],
    tested: NDArray[np.bool_],
    leave_out: Sequence[Any] = (),
    exchange: Any = "blocks",
) -> Design:
    """Order the volumes that have a class by run and block.

    Parameters
    ----------
    labels, groups : sequence
        The class and the run of every volume; a volume whose label is None, NaN or one of
        ``leave_out`` has no class.
    tested : ndarray of bool
        Whether a volume is only tested on.
    exchange : {"blocks", "volumes"} or array-like
        What a block is: neighbouring volumes of a run that have one label, every volume, or what
        has one number in this array.

    Raises
    ------
    ParameterError
        If ``leave_out`` or ``exchange`` is outside its rule.
    DataError
        If there are not two classes in every run that is held out, or a class is not learnt.
    """
    given = np.asarray(labels, dtype=object)
    has_class = _with_class(given, leave_out)
    classes, codes = _classes(given[has_class])
    code = np.full(len(given), -1, np.int32)
    code[has_class] = codes
    runs, run, run_tested = _runs(groups, tested)
    block = _blocks(exchange, code, given, run)
    kept = np.flatnonzero(has_class)
    kept = kept[np.lexsort((kept, block[kept], run[kept]))]
    # A run without a class is none, and blocks are numbered as they come.
    shown = np.unique(run[kept])
    number = np.full(len(runs), -1, np.int32)
    number[shown] = np.arange(len(shown))
    change = np.diff(block[kept], prepend=-1) != 0
    change |= np.diff(run[kept], prepend=-1) != 0
    found = Design(
        classes,
        tuple(runs[r] for r in shown),
        run_tested[shown],
        kept,
        code[kept],
        number[run[kept]],
        (np.cumsum(change) - 1).astype(np.int32),
        number[run],
    )
    _check(found)
    return found


def _with_class(labels: NDArray[Any], leave_out: Sequence[Any]) -> NDArray[np.bool_]:
    known = np.array([label is not None and label == label for label in labels], np.bool_)
    for name in leave_out:
        chosen = np.array([label == name for label in labels], np.bool_)
        if not chosen.any():
            raise ParameterError(
                Phrase(Option("leave_out"), f" names the label {name!r}"),
                f"the labels are {_listed(labels[known])}",
            )
        known &= ~chosen
    return known


def _classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    kinds = {isinstance(label, str) for label in labels}
    if len(kinds) > 1:
        raise DataError("some labels are text and some are not", "labels are of one type")
    classes, codes = np.unique(np.array(labels.tolist()), return_inverse=True)
    if len(classes) < 2:
        fact = f"every label is {classes[0]!s}" if len(classes) else "no volume has a label"
        raise DataError(fact, "a classifier needs two classes or more", "check the labels")
    return classes, codes


def _runs(
    groups: Sequence[Any], tested: NDArray[np.bool_]
) -> tuple[list[str], NDArray[np.int32], NDArray[np.bool_]]:
    """Names of runs, the run of each volume, and which runs are tested on; these come last."""
    keys, run = np.unique(np.asarray(groups), return_inverse=True)
    both = run + len(keys) * tested
    shown, number = np.unique(both, return_inverse=True)
    return [str(keys[s % len(keys)]) for s in shown], number.astype(np.int32), shown >= len(keys)


def _blocks(
    exchange: Any, code: NDArray[np.int32], labels: NDArray[Any], run: NDArray[np.int32]
) -> NDArray[np.intp]:
    """A number for the block of every volume; within a run they increase with time."""
    every = np.arange(len(code))
    if isinstance(exchange, str) and exchange == "volumes":
        return every
    if isinstance(exchange, str) and exchange == "blocks":
        block = np.zeros(len(code), np.intp)
        for r in np.unique(run):
            here = run == r
            changes = code[here][1:] != code[here][:-1]
            block[here] = np.concatenate([[0], np.cumsum(changes)])
        return block
    if isinstance(exchange, str) or np.ndim(exchange) != 1:
        raise ParameterError(
            Option.of("exchange", exchange),
            "exchange is 'blocks', 'volumes', or a number for the block of each volume",
        )
    if len(exchange) != len(code):
        raise ParameterError(
            f"exchange has {len(exchange)} numbers for {len(code)} volumes",
            "every volume is in one block",
        )
    block = np.unique(np.asarray(exchange), return_inverse=True)[1]
    kept = code >= 0
    mixed = np.unique(np.stack([run, block, code])[:, kept], axis=1)
    keys, often = np.unique(mixed[:2], axis=1, return_counts=True)
    if (often > 1).any():
        number = np.asarray(exchange)[(block == keys[1, often > 1][0]) & kept][0]
        names = labels[kept & (block == keys[1, often > 1][0])]
        raise DataError(
            f"block {number} of exchange has the labels {_listed(names)}",
            "a block changes its label as a whole, so it has one",
        )
    return block


def _check(found: Design) -> None:
    """Refuse a design from which some fold cannot learn or tell every class."""
    if len(found.runs) < 2:
        raise DataError(
            f"there is one run, {found.runs[0]!r}",
            "a searchlight learns from some runs and is tested on another",
            Phrase(
                "say which volumes belong to which run",
                PythonOnly(
                    " (groups), or give a test set (test)", " in the second column of --labels"
                ),
            ),
        )
    table = np.zeros((len(found.runs), found.k), np.intp)
    np.add.at(table, (found.run, found.code), 1)
    if found.tested.all():
        raise DataError("no volume with a label is left to learn from", "check the labels")
    for name, row in zip(found.runs, table, strict=True):
        if (row > 0).sum() < 2 and not found.tested.any():
            raise DataError(
                f"run {name!r} shows one class, {found.classes[row.argmax()]!s}",
                "every run is held out in turn and tells two classes or more apart",
                "join it with another run, or leave it out",
            )
    for fold in found.trained:
        learnt = table[fold].sum(axis=0)
        if not learnt.all():
            held = [name for name, is_in in zip(found.runs, fold, strict=True) if not is_in]
            raise DataError(
                f"class {found.classes[learnt.argmin()]!s} occurs only in run {held[0]!r}",
                "a class must occur in the runs that are learnt from when that run is held out",
                "leave the class out, or divide the volumes into runs in another way",
            )


def _listed(labels: NDArray[Any]) -> str:
    return ", ".join(repr(str(label)) for label in dict.fromkeys(labels.tolist()))
