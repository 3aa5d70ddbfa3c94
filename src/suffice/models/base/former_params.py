"""Parameters of estimators in files, which have the names that these had first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.former_names import FORMER
from suffice.former_values import current_values

__all__ = ["current_params", "former_params"]


def former_params(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator by the names that files have for them, sorted."""
    former: dict[str, str] = getattr(type(estimator), FORMER, {})
    params = estimator.get_params(deep=False)
    return dict(sorted((former.get(name, name), value) for name, value in params.items()))


def current_params(estimator: type, params: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Parameters of a file of some format by the names, and words, that they have now.

    ``absent_options`` of the estimator are what it did before it had these options.
    """
    current = {former: name for name, former in getattr(estimator, FORMER, {}).items()}
    renamed = {current.get(name, name): value for name, value in params.items()}
    absent: dict[str, Any] = getattr(estimator, "absent_options", {})
    return absent | current_values(estimator, renamed, version)
