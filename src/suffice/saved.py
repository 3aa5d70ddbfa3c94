"""Load any model that was saved."""

from __future__ import annotations

from os import PathLike

from suffice import naive_bayes
from suffice.errors import ModelFileError
from suffice.models.estimator import GenerativeClassifier
from suffice.models.model_file import TYPES
from suffice.persist import read_model

__all__ = ["load"]


def load(path: str | PathLike[str]) -> GenerativeClassifier:
    """Read a model file; nothing in it is executed.

    Raises
    ------
    ModelFileError
        If the file is not there, damaged, foreign, or written by a newer version.
    """
    kind, content = read_model(path, types=TYPES)
    if kind not in naive_bayes.__all__:
        raise ModelFileError(
            f"{path}: a model of the unknown kind {kind!r}",
            f"known here: {', '.join(naive_bayes.__all__)}",
            "load it with the version of suffice that wrote it, or a later one",
        )
    model: GenerativeClassifier = getattr(naive_bayes, kind).restored(content)
    return model
