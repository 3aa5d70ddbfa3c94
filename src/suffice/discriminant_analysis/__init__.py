"""Linear and quadratic discriminant analysis under scikit-learn's names: Gaussian classes.

::

    log P(c | x) = log P(c) − ½(x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − ½ log |Σ_c| + const

With one covariance matrix for all classes (linear) the squares of x cancel; with one for each
(quadratic) they do not. They are `suffice.families.MultivariateGaussian` over all columns, fitted
from exact sums: in batches to the same bits, with weights and missing cells; they forget, merge and
explain.
"""

from suffice.discriminant_analysis.linear import LinearDiscriminantAnalysis
from suffice.discriminant_analysis.quadratic import QuadraticDiscriminantAnalysis

__all__ = [
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
]
