"""
Forget and merge
================

Two hospitals may not share their rows. They can share sums. And a patient may ask to be forgotten.
"""

# %%
# Two places, one model
# ---------------------

from sklearn.datasets import load_breast_cancer

from suffice.naive_bayes import GaussianNB

X, y = load_breast_cancer(return_X_y=True)
north, south = slice(0, 250), slice(250, None)
one = GaussianNB().fit(X[north], y[north])
other = GaussianNB().fit(X[south], y[south])
together = one.merge(other)

# %%
# The merged model is the model of all rows: the same sums, the same predictions.

whole = GaussianNB().fit(X, y)
print((together.predict_proba(X) == whole.predict_proba(X)).all())

# %%
# Taking rows out
# ---------------

leaving = [3, 77]
without = GaussianNB().fit(X, y).forget(X[leaving], y[leaving])
kept = [row for row in range(len(X)) if row not in leaving]
never = GaussianNB().fit(X[kept], y[kept])
print(abs(without.predict_proba(X) - never.predict_proba(X)).max())

# %%
# What does a file reveal?
# ------------------------
# A sum over one row is that row. Look before you share; :doc:`/privacy` says what is found, and
# what forgetting does not undo.

from suffice.privacy import audit

few = GaussianNB().fit(X[15:27, :2], y[15:27])
print(audit(few, 3))
