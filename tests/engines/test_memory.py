"""Memory of a pass: it does not grow with the number of rows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
GROUP, FEW, MANY = 20_000, 4, 16
ALLOCATED = 20.0  # MB that allocators keep of what was given back

RISE = """
import sys
from benchmarks.measure import rise
from suffice import NaiveBayes, set_engine

few, many = sys.argv[1:]
set_engine("local", threads=1)
model = NaiveBayes.textbook().fit(few, "y")
calls = {
    "fit": lambda path: NaiveBayes.textbook().fit(path, "y"),
    "evaluate": lambda path: model.evaluate(path, "y"),
    "predict": lambda path: sum(table.num_rows for table in model.predict_batches(path)),
}
for verb, call in calls.items():
    print(verb, rise(lambda: call(few)), rise(lambda: call(many)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell")
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    group = pa.table({f"x{j}": rng.normal(size=GROUP) for j in range(20)})
    group = group.append_column("y", pa.array(np.arange(GROUP) % 2))
    paths = [tmp_path / f"{groups}.parquet" for groups in (FEW, MANY)]
    for path, groups in zip(paths, (FEW, MANY), strict=True):
        with pq.ParquetWriter(path, group.schema) as file:
            for _ in range(groups):
                file.write_table(group)
    command = [sys.executable, "-c", RISE, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        verb, few, many = line.split()
        # Twelve more row groups have 40 MB of numbers.
        assert float(many) < float(few) + ALLOCATED, verb
    assert len(done.stdout.splitlines()) == 3
