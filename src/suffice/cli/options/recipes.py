"""The models that ``suffice fit`` has, and where their classes are."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import getdoc, signature
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from suffice.errors import ParameterError
from suffice.models.base.params import effective

__all__ = [
    "MODELS",
    "NAIVE_BAYES",
    "OF_FAMILIES",
    "REGRESSIONS",
    "class_of",
    "descriptions",
    "model_parameters",
    "parameters_of",
    "takes",
]

NAIVE_BAYES = "naive-bayes"
OF_FAMILIES = (NAIVE_BAYES, "aode")
REGRESSIONS = ("linear", "ridge", "lasso", "elastic-net")
MODELS = {
    NAIVE_BAYES: ("suffice.naive_bayes", "NaiveBayes"),
    "aode": ("suffice.naive_bayes.aode", "AODE"),
    "lda": ("suffice.discriminant_analysis", "LinearDiscriminantAnalysis"),
    "qda": ("suffice.discriminant_analysis", "QuadraticDiscriminantAnalysis"),
    "linear": ("suffice.linear_model", "LinearRegression"),
    "ridge": ("suffice.linear_model", "Ridge"),
    "lasso": ("suffice.linear_model", "Lasso"),
    "elastic-net": ("suffice.linear_model", "ElasticNet"),
    "logistic": ("suffice.linear_model", "LogisticRegression"),
    "auto": ("suffice.ensemble", "AutoClassifier"),
}


def class_of(model: str) -> Any:
    """Return the class of a model.

    Raises
    ------
    ParameterError
        If there is no such model.
    """
    if model not in MODELS:
        raise ParameterError(f"--model {model!r}", f"the models are {', '.join(map(repr, MODELS))}")
    module, name = MODELS[model]
    return getattr(import_module(module), name)


@cache
def parameters_of(model: str) -> tuple[str, ...]:
    """Return the parameters of a model that ``-p`` sets."""
    return tuple(effective(class_of(model)))


def model_parameters(model: str) -> dict[str, bool]:
    """Return the parameters of a model, or of every one, and which are true or false."""
    found: dict[str, bool] = {}
    for one in [model] if model in MODELS else MODELS:
        defaults = signature(class_of(one)).parameters
        for name in parameters_of(one):
            found[name] = found.get(name, False) or isinstance(defaults[name].default, bool)
    return found


def takes(model: str, name: str, value: Any) -> bool:
    """Return whether a model has a parameter, and the parameter such a word.

    Examples
    --------
    >>> [takes("logistic", "numbers", word) for word in ("bins", "gaussian")]
    [True, False]
    """
    hint = get_type_hints(class_of(model)).get(name)
    words: list[Any] = []
    for one in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(one) is not Literal:
            words.append(value if one in (str, Any) else None)
        else:
            words += get_args(one)
    return name in parameters_of(model) and (not isinstance(value, str) or value in words)


def descriptions(model: str) -> list[tuple[str, str]]:
    """Return the parameters with the first sentences of what the docstring of the class says."""
    said: dict[str, str] = {}
    current: list[str] = []
    for cls in reversed(class_of(model).__mro__):
        for line in (getdoc(cls) or "").splitlines() if cls.__doc__ else ():
            names, colon, _ = line.partition(" : ")
            if colon and not line.startswith(" "):
                current = [name.strip() for name in names.split(",")]
                said |= dict.fromkeys(current, "")
            elif line.startswith("    ") and current:
                said |= {name: f"{said[name]} {line.strip()}" for name in current}
            elif line and not line.startswith(" "):
                current = []
    defaults = signature(class_of(model)).parameters
    return [
        (f"{name}={defaults[name].default}", _first_sentence(said.get(name, "")))
        for name in parameters_of(model)
    ]


def _first_sentence(text: str) -> str:
    sentence, stop, _ = text.strip().replace("``", "").partition(". ")
    return sentence + "." * bool(stop)
