"""What the end of a Parquet file costs, which lists its row groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from benchmarks import mixed_file
from benchmarks.measure.timing import Call, medians
from suffice.data.file_formats import open_files
from suffice.data.files.parquet import open_parquet

__all__ = ["FOOTERS", "Footer", "footers"]

FOOTERS = "footers"


@dataclass(frozen=True)
class Footer:
    """What the end of a Parquet file costs: the driver, once; a worker, with every split."""

    row_groups: int
    bytes: int
    driver: float
    worker: float


def footers(most: int, names: Collection[str]) -> Iterator[Footer]:
    """Open mixed files of one to so many row groups; how long these are makes no difference."""
    with TemporaryDirectory(prefix="suffice-") as folder:
        for groups in (1, most // 10, most) if FOOTERS in names else ():
            path = Path(folder, f"{groups}.parquet")
            mixed_file.write(path, 10 * groups, 10)
            calls: dict[str, Call] = {
                "driver": partial(open_files, path),
                "worker": partial(_opened, path),
            }
            yield Footer(groups, pq.read_metadata(path).serialized_size, **medians(calls))


def _opened(path: Path) -> int:
    with open_parquet(path) as file:
        return int(file.num_row_groups)
