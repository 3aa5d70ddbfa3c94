"""
Missing data
============

Most tables have holes. Filling them in invents numbers; leaving rows out loses them. A model
that knows how columns are distributed needs neither: it sums over what is missing.
"""

# %%
# Holes in the iris table
# -----------------------

import numpy as np
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
holes = rng.random(X.shape) < 0.3
X_with_holes = np.where(holes, np.nan, X)
print(f"{np.isnan(X_with_holes).any(axis=1).mean():.0%} of the rows lack a cell")

# %%
# Left out, exactly
# -----------------
# Naive Bayes leaves the factor of a missing cell out of the product. That is the probability of
# what is shown, and no approximation.

from suffice.naive_bayes import GaussianNB

model = GaussianNB().fit(X_with_holes[::2], y[::2])
print(f"{model.score(X_with_holes[1::2], y[1::2]):.3f} of the other rows are right")
print(model.predict_proba([[5.0, np.nan, np.nan, np.nan]]).round(3))
print(model.predict_proba([[np.nan] * 4]).round(3), "without any cell: how often classes are")

# %%
# Columns that hang together
# --------------------------
# Discriminant analysis knows how columns vary together. What is missing is expected from what is
# shown: mean and covariance are those of greatest likelihood (expectation-maximisation), and a row
# is judged by the Gaussian of its known cells.

from suffice.discriminant_analysis import LinearDiscriminantAnalysis

lda = LinearDiscriminantAnalysis().fit(X_with_holes[::2], y[::2])
print(f"{lda.score(X_with_holes[1::2], y[1::2]):.3f} of the other rows are right")

# %%
# Beside filling in the mean
# --------------------------
# scikit-learn's usual pipeline puts the mean of the column into every hole.

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

filled = make_pipeline(SimpleImputer(), TheirLDA()).fit(X_with_holes[::2], y[::2])
print(f"{filled.score(X_with_holes[1::2], y[1::2]):.3f} of the other rows are right")

# %%
# What to ask next
# ----------------
# A plane of two columns: the others are summed over, not set to some value.

from suffice.plotting import DecisionBoundaryDisplay

DecisionBoundaryDisplay.from_estimator(lda, ("x2", "x3"))
