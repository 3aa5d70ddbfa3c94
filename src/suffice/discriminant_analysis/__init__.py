"""Linear and quadratic discriminant analysis under scikit-learn's names: Gaussian classes.

::

    log P(c | x) = log P(c) − ½(x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − ½ log |Σ_c| + const

With one covariance matrix for all classes (linear) the squares of x cancel; with one for each
(quadratic) they do not; regularised discriminants lie between. They are
`suffice.families.MultivariateGaussian` and `suffice.families.RegularizedGaussian` over all columns,
fitted from exact sums: they learn in batches to the same bits, take weights and missing cells,
forget, merge and explain.
"""

from suffice.discriminant_analysis.linear import LinearDiscriminantAnalysis
from suffice.discriminant_analysis.quadratic import QuadraticDiscriminantAnalysis
from suffice.discriminant_analysis.regularized import RegularizedDiscriminantAnalysis

__all__ = [
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
]
