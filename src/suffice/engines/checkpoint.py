"""An engine that another process can go on from: what is summed so far is in a file.

The file keeps the sums of a fit, each under a checksum of its kernel, options and files by path,
size and times. The same fit, run again, goes on with the first part that is not in the sum; as
terms are added in the order they would have had, the result has the bits of a fit never stopped.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Annotated, Any, TypeVar, cast

import numpy as np

from suffice._version import __version__
from suffice.data.source import Part
from suffice.data.version import FileVersion
from suffice.engines.engine import EngineView, current_fit
from suffice.errors import EngineError, ModelFileError, ParameterError, SufficeError
from suffice.hints import fits
from suffice.persist import read_model, write_model
from suffice.rules import NONNEGATIVE, rule
from suffice.sums.base import Statistic, TreeSum
from suffice.sums.register import STATISTICS

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")

KIND = "checkpoint"
SHARE = 0.05  # of the time, at most, that goes into writing
ANEW = "give another name, or delete the file to start from the beginning"
GO_ON = "it was to be a checkpoint to go on from"


@dataclass(frozen=True)
class CheckpointedEngine(EngineView):
    """An engine whose passes of sums over files go on in another process after they were ended."""

    path: str | os.PathLike[str]
    every: float = 30.0  # seconds from one writing to the next, at least

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise ParameterError(f"checkpoint={self.path!r}", "it is the path of a file")

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        fit = current_fit()
        if fit is None:
            return self.engine.run(kernel, params, parts)
        files = list(dict.fromkeys(part.file for part in parts))
        if None in files:
            raise ParameterError(
                "a checkpoint is asked for of rows that are not in files",
                "another process, which goes on, has to find them as they were",
                "write them to a Parquet file, or leave the checkpoint out",
            )
        file = fit.keep((_File, self.path), lambda: _File(Path(self.path), self.every))
        # Parts differ in their files and places only.
        of = _checksum(__version__, kernel, params, parts[:1], len(parts), files)
        sum_: TreeSum[S] = file.begun(of)
        forged = sum_.done > 0
        try:
            with closing(cast(Any, self.engine.map(kernel, params, parts[sum_.done :]))) as terms:
                for term in terms:
                    sum_.add(term)
                    file.write_when_due()
            total = sum_.total()
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if not forged or isinstance(error, SufficeError):
                raise
            fact = f"{self.path} holds sums that cannot be added to those of the rows"
            raise ModelFileError(fact, GO_ON, ANEW) from error
        file.sums[of] = TreeSum([(0, total)], sum_.done)
        return total


@dataclass(frozen=True)
class Kept:
    """A sum as the file has it: the first parts, in the stack of a `TreeSum`."""

    of: str
    done: Annotated[int, NONNEGATIVE]
    stack: tuple[tuple[int, Any], ...]  # levels and sums

    @rule("every sum has a level, each below the one before")
    def _is_stack(self) -> bool:
        return all(a > b for (a, _), (b, _) in pairwise(self.stack))


TYPES = {cls.__name__: cls for cls in (*STATISTICS, Kept)}
HOLDABLE = (*STATISTICS, np.ndarray, np.generic, int, float)  # what files hold


class _File(AbstractContextManager["_File"]):
    """The sums of one fit, in memory and in a file, which stays if the fit fails."""

    def __init__(self, path: Path, every: float) -> None:
        self._path, self._every = path, every
        self.sums: dict[str, TreeSum[Any]] = {
            kept.of: TreeSum(kept.stack, kept.done) for kept in _read(path)
        }
        self._is_other_work = bool(self.sums)
        # Who cannot write the file should know before the work, not after a part of it.
        self._write()

    def begun(self, of: str) -> TreeSum[Any]:
        if self._is_other_work and of not in self.sums:
            fact = f"{self._path} is the checkpoint of other work"
            rule = "the files, their columns and the options are those of the fit that wrote it"
            raise ParameterError(fact, rule, ANEW)
        self._is_other_work = False
        return self.sums.setdefault(of, TreeSum())

    def write_when_due(self) -> None:
        if time.monotonic() >= self._due:
            self._write()

    def _write(self) -> None:
        begun = time.monotonic()
        kept = [
            Kept(of, sum_.done, tuple(sum_.stack))
            for of, sum_ in self.sums.items()
            if sum_.done and all(isinstance(one, HOLDABLE) for _, one in sum_.stack)
        ]
        write_model(self._path, KIND, kept, types=TYPES)
        ended = time.monotonic()
        self._due = ended + max(self._every, (ended - begun) / SHARE)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or not any(sum_.done for sum_ in self.sums.values()):
            self._path.unlink(missing_ok=True)
            return
        self._write()
        if isinstance(error, EngineError) or not isinstance(error, SufficeError):
            where = f"What is summed so far is kept in {self._path}"
            error.add_note(f"{where}: run the same again to go on.")


def _read(path: Path) -> list[Kept]:
    if not path.exists():
        return []
    try:
        kind, sums = read_model(path, types=TYPES)
    except ModelFileError as error:
        raise ModelFileError(error.fact, GO_ON, ANEW) from None
    if kind != KIND or not fits(list[Kept], sums):
        fact = f"{path} holds a {kind}, no checkpoint"
        raise ModelFileError(fact, "it would be replaced", "give another name")
    return cast(list[Kept], sums)


class _Pickler(pickle.Pickler):
    """Writes equal values as equal bytes; a file stands for its content."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, FileVersion):
            return tuple, ()  # told by size and times
        if isinstance(value, PurePath):
            with suppress(OSError):
                state = os.stat(value)
                times = state.st_mtime_ns, state.st_ctime_ns
                return tuple, ((str(value), state.st_size, *times),)
        if is_dataclass(value) and not isinstance(value, type):  # not what it keeps beside fields
            return type(value), tuple(getattr(value, field.name) for field in fields(value))
        return NotImplemented


def _checksum(*values: Any) -> str:
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.fast = True  # as if no two values were the same object
    pickler.dump(values)
    return hashlib.sha256(file.getbuffer()).hexdigest()
