"""Load any model that was saved."""

from __future__ import annotations

from os import PathLike

from suffice import discriminant_analysis, linear_model, naive_bayes
from suffice.errors import ModelFileError
from suffice.models.estimator import GenerativeClassifier
from suffice.models.logistic_regression import LogisticRegression
from suffice.models.model_file import TYPES
from suffice.models.regressor import LinearRegressor
from suffice.persist import read_model

__all__ = ["load"]

MODULES = (discriminant_analysis, linear_model, naive_bayes)
Model = GenerativeClassifier | LinearRegressor | LogisticRegression
KINDS = {
    kind: getattr(module, kind)
    for module in MODULES
    for kind in module.__all__
    if hasattr(getattr(module, kind), "restored")
}


def load(path: str | PathLike[str]) -> Model:
    """Read a model file; nothing in it is executed.

    Raises
    ------
    ModelFileError
        If the file is not there, damaged, foreign, or written by a newer version.
    """
    kind, content = read_model(path, types=TYPES)
    if kind not in KINDS:
        raise ModelFileError(
            f"{path}: a model of the unknown kind {kind!r}",
            f"known here: {', '.join(KINDS)}",
            "load it with the version of suffice that wrote it, or a later one",
        )
    try:
        model: Model = KINDS[kind].restored(content)
    except KeyError as error:
        raise ModelFileError(
            f"{path}: a {kind} without the entry {error}",
            "a model file holds all that its model is restored from",
            "load it with the version of suffice that wrote it, or fit the model again",
        ) from None
    return model
