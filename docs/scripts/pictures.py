"""
All pictures
============

Every display of `suffice.plotting`, on data of scikit-learn.
"""

from sklearn.datasets import load_diabetes, load_wine

from suffice import (
    LinearRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.plotting import (
    ClassDensityDisplay,
    ColumnImportanceDisplay,
    DecisionBoundaryDisplay,
    LedgerDisplay,
)

wine = load_wine(as_frame=True)
model = NaiveBayes().fit(wine.data, wine.target)

# %%
# One column in every class
# -------------------------

ClassDensityDisplay.from_estimator(model, "color_intensity", wine.data, wine.target)

# %%
# Which columns are most informative
# ----------------------------------

ColumnImportanceDisplay.from_estimator(model)

# %%
# What a standard deviation of each column adds
# ---------------------------------------------

diabetes = load_diabetes(as_frame=True)
ColumnImportanceDisplay.from_estimator(LinearRegression().fit(diabetes.data, diabetes.target))

# %%
# One prediction as a sum
# -----------------------

LedgerDisplay.from_estimator(model, wine.data.iloc[[70]])

# %%
# Where the prediction changes
# ----------------------------
#
# All columns but the two are left out exactly. Colours are stronger where the
# prediction is more certain.

curved = QuadraticDiscriminantAnalysis().fit(wine.data, wine.target)
DecisionBoundaryDisplay.from_estimator(curved, ("alcohol", "proline"), wine.data, wine.target)
