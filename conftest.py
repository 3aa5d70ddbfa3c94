"""What pytest leaves out: files of the package whose library is an extra that is not installed."""

from importlib.util import find_spec

NEEDS = {
    "engines/dask": "distributed",
    "engines/spark": "pyspark",
    "data/frames/dask": "dask",
    "data/frames/polars": "polars",
    "export/onnx": "onnx",
    "export/skl2onnx": "skl2onnx",
    "export/sql": "sqlglot",
    "owners": "cryptography",
    "export/sql_nodes": "sqlglot",
}

collect_ignore = [
    f"src/suffice/{file}.py" for file, library in NEEDS.items() if find_spec(library) is None
]
