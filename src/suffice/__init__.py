"""Probabilistic classification from exact sufficient statistics.

A statistic is an exact sum over rows; everything else is a function of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice._version import __version__

if TYPE_CHECKING:
    from suffice.bayes import BayesClassifier as BayesClassifier
    from suffice.data.databases import read_sql as read_sql
    from suffice.data.open import read_csv as read_csv
    from suffice.data.open import read_excel as read_excel
    from suffice.data.open import read_table as read_table
    from suffice.discriminant_analysis import (
        LinearDiscriminantAnalysis as LinearDiscriminantAnalysis,
    )
    from suffice.discriminant_analysis import (
        QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis,
    )
    from suffice.engines.engine import engine as engine
    from suffice.engines.engine import set_engine as set_engine
    from suffice.ensemble import AutoClassifier as AutoClassifier
    from suffice.export.sums_sql import sql_of_sums as sql_of_sums
    from suffice.linear_model import ElasticNet as ElasticNet
    from suffice.linear_model import Lasso as Lasso
    from suffice.linear_model import LinearRegression as LinearRegression
    from suffice.linear_model import LogisticRegression as LogisticRegression
    from suffice.linear_model import Ridge as Ridge
    from suffice.models.grouped_sums import GroupedSums as GroupedSums
    from suffice.naive_bayes import NaiveBayes as NaiveBayes
    from suffice.naive_bayes.aode import AODE as AODE
    from suffice.reports import report as report
    from suffice.saved import load as load

# Public names are imported on first use, so that `import suffice` costs nothing.
_HOME = {
    "AODE": "suffice.naive_bayes.aode",
    "AutoClassifier": "suffice.ensemble",
    "BayesClassifier": "suffice.bayes",
    "ElasticNet": "suffice.linear_model",
    "GroupedSums": "suffice.models.grouped_sums",
    "Lasso": "suffice.linear_model",
    "LinearDiscriminantAnalysis": "suffice.discriminant_analysis",
    "LinearRegression": "suffice.linear_model",
    "LogisticRegression": "suffice.linear_model",
    "NaiveBayes": "suffice.naive_bayes",
    "QuadraticDiscriminantAnalysis": "suffice.discriminant_analysis",
    "Ridge": "suffice.linear_model",
    "engine": "suffice.engines.engine",
    "load": "suffice.saved",
    "read_csv": "suffice.data.open",
    "read_excel": "suffice.data.open",
    "read_table": "suffice.data.open",
    "read_sql": "suffice.data.databases",
    "report": "suffice.reports",
    "set_engine": "suffice.engines.engine",
    "sql_of_sums": "suffice.export.sums_sql",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
