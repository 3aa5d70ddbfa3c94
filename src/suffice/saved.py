"""Load any model that was saved."""

from __future__ import annotations

from os import PathLike

from suffice import discriminant_analysis, linear_model, naive_bayes
from suffice.errors import ModelFileError
from suffice.models.estimator import GenerativeClassifier
from suffice.models.model_file import TYPES
from suffice.models.regressor import LinearRegressor
from suffice.persist import read_model

__all__ = ["load"]

MODULES = (discriminant_analysis, linear_model, naive_bayes)
HOME = {name: module for module in MODULES for name in module.__all__}


def load(path: str | PathLike[str]) -> GenerativeClassifier | LinearRegressor:
    """Read a model file; nothing in it is executed.

    Raises
    ------
    ModelFileError
        If the file is not there, damaged, foreign, or written by a newer version.
    """
    kind, content = read_model(path, types=TYPES)
    if kind not in HOME:
        raise ModelFileError(
            f"{path}: a model of the unknown kind {kind!r}",
            f"known here: {', '.join(HOME)}",
            "load it with the version of suffice that wrote it, or a later one",
        )
    model: GenerativeClassifier | LinearRegressor = getattr(HOME[kind], kind).restored(content)
    return model
