"""Fitted models in other languages: one file per target, one intermediate form."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.export.json import to_json as to_json
    from suffice.export.log_joint_terms import log_joint as log_joint
    from suffice.export.onnx import to_onnx as to_onnx
    from suffice.export.sql import to_sql as to_sql

# Imported on first use: a target may need a library of its own.
_HOME = {
    "log_joint": "suffice.export.log_joint_terms",
    "to_json": "suffice.export.json",
    "to_onnx": "suffice.export.onnx",
    "to_sql": "suffice.export.sql",
}

__all__ = ["log_joint", "to_json", "to_onnx", "to_sql"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'suffice.export' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
