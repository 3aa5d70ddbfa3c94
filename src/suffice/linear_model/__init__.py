"""Linear models under scikit-learn's names: y = b + xᵀw + ε, fitted from exact sums.

`LinearRegression` and `Ridge` solve their normal equations from exact co-moments in double-double,
so that neither the scale of a column, nor its offset, nor the order of the rows reaches the
result. They learn in batches and from streams that fade, forget, merge, compare their rows with
those of another model, and know what their estimates are worth. So do `Lasso` and `ElasticNet`,
whose penalties make coefficients 0.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.linear_model.elastic_net import ElasticNet, Lasso
    from suffice.linear_model.linear_regression import LinearRegression
    from suffice.linear_model.logistic_regression import LogisticRegression
    from suffice.linear_model.ridge import Ridge
    from suffice.models.optimise.gradient_descent import GradientDescent

__all__ = [
    "ElasticNet",
    "GradientDescent",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "Ridge",
]

# Imported on first use: least squares need none of what a logistic regression does.
_HOME = {
    "ElasticNet": "suffice.linear_model.elastic_net",
    "GradientDescent": "suffice.models.optimise.gradient_descent",
    "Lasso": "suffice.linear_model.elastic_net",
    "LinearRegression": "suffice.linear_model.linear_regression",
    "LogisticRegression": "suffice.linear_model.logistic_regression",
    "Ridge": "suffice.linear_model.ridge",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'suffice.linear_model' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
