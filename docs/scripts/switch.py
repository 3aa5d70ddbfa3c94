"""
Coming from scikit-learn
========================

Change the import. Names, parameters and fitted attributes stay the same.
"""

# %%
# One line
# --------
# ``from sklearn.naive_bayes import GaussianNB`` becomes:

import numpy as np
from sklearn.datasets import load_iris

from suffice.naive_bayes import GaussianNB

X, y = load_iris(return_X_y=True)
model = GaussianNB().fit(X, y)
print(model.predict(X[:3]), model.theta_.shape, model.class_prior_.round(3))

# %%
# The answers are those of scikit-learn, but for the little that it adds to every variance.

from sklearn.naive_bayes import GaussianNB as Theirs

theirs = Theirs().fit(X, y)
print(abs(model.predict_proba(X) - theirs.predict_proba(X)).max())

# %%
# Pipelines, grids and clones
# ---------------------------
# Our estimators go where theirs go.

from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import LinearDiscriminantAnalysis

pipeline = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
print(cross_val_score(pipeline, X, y, cv=5).round(3))
grid = GridSearchCV(pipeline, {"lineardiscriminantanalysis__shrinkage": [0.0, 0.1, 0.5]}, cv=5)
print(grid.fit(X, y).best_params_)

# %%
# ``suffice.model_selection`` has these functions too. There, folds of a model of sums are not
# fitted one by one: see :doc:`cross_validation`.

# %%
# Where predictions differ
# ------------------------
# What scikit-learn adds to a variance depends on the largest column. Here the first column predicts
# the class, and is small. The second one is large and not informative. Ours does not depend on
# units:

rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 1000)
far = np.c_[rng.normal(4 * labels, 1) * 1e-6, rng.normal(size=1000) * 1e3]
for name, one in {"scikit-learn": Theirs(), "Suffice": GaussianNB()}.items():
    print(f"{name:12} {one.fit(far, labels).score(far, labels):.3f} of the rows are right")

# %%
# The first batch need not show all classes, and batches add up to one fit:

batches = GaussianNB().partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
print((batches.predict_proba(X) == model.predict_proba(X)).all())

# %%
# A missing cell is no error, and a value that was never seen is none either:

from suffice.naive_bayes import CategoricalNB

print(model.predict([[np.nan, np.nan, 1.5, np.nan]]))
print(CategoricalNB().fit([[0], [1], [1]], ["a", "b", "b"]).predict([[7]]))

# %%
# What is new
# -----------
# Raw tables, with strings and holes, need no pipeline at all: ``NaiveBayes().fit(table, "label")``.
# Every model can `explain` and `save`, and models of sums can `merge` and `forget`.
# :doc:`/scikit_learn` lists which of scikit-learn's own tests fail with our import, and why.

print(model.explain(X[:1]))
