"""What pytest leaves out: files of the package whose library is an extra that is not installed."""

from importlib.util import find_spec

NEEDS = {
    "engines/dask": "distributed",
    "engines/ray": "ray",
    "engines/spark": "pyspark",
    "data/dask_frame": "dask",
    "data/polars_frame": "polars",
    "data/ray_frame": "ray",
}

collect_ignore = [
    f"src/suffice/{file}.py" for file, library in NEEDS.items() if find_spec(library) is None
]
