"""
More rows than memory
=====================

A fit reads the rows once, part by part, and keeps sums. So a file may be larger than memory, and
rows may come in any number of files, batches or machines: the model is the same.
"""

# %%
# A folder of files
# -----------------

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

folder = tempfile.TemporaryDirectory()
rng = np.random.default_rng(0)
for part in range(4):
    y = rng.integers(0, 2, 50_000)
    rows = pa.table(
        {"a": rng.normal(y), "b": rng.exponential(1 + y), "kind": np.array(["p", "q"])[y]}
    )
    pyarrow.parquet.write_table(rows, Path(folder.name) / f"part{part}.parquet")

# %%
# One pass
# --------

import suffice
from suffice import NaiveBayes

model = NaiveBayes().fit(f"{folder.name}/*.parquet", "kind")
print(model.statistic_)

# %%
# Batch by batch
# --------------
# ``partial_fit`` adds the sums of more rows. The result is that of one fit.

batches = NaiveBayes()
for file in sorted(Path(folder.name).glob("*.parquet")):
    batches.partial_fit(file, "kind")
print(batches.statistic_ == model.statistic_)

# %%
# Answers, too, come batch by batch, and memory does not grow with the rows.

counted = sum(table.num_rows for table in model.predict_batches(f"{folder.name}/*.parquet"))
print(f"{counted:,} rows predicted")

# %%
# On more processors
# ------------------
# The sums are exact, so the model does not depend on how the rows were divided: here, among
# threads.

with suffice.set_engine("local", threads=1):
    alone = NaiveBayes().fit(f"{folder.name}/*.parquet", "kind")
print(alone.statistic_ == model.statistic_)

# %%
# ``suffice.set_engine("dask")`` is one word more, for a cluster: see :doc:`/engines`.
