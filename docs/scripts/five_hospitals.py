"""
Five hospitals
==============

Five hospitals want one model. None may show the others a row, nor sums: those of few patients are
about them. Each sends its sums under masks that cancel when all are added.
"""

# %%
# Keys
# ----
# Every hospital makes a pair of keys. The private one never leaves it.

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from suffice import owners
from suffice.naive_bayes import GaussianNB

places = ["Ulm", "Bonn", "Kiel", "Jena", "Trier"]
folder = tempfile.TemporaryDirectory()
keys = [Path(folder.name) / f"{place}.key" for place in places]
for key in keys:
    owners.keys(key)
public = [f"{key}.pub" for key in keys]

# %%
# A plan
# ------
# One of them proposes what is summed. The rows of which the plan is made only show which labels
# there are, and how large numbers are; they may be made up.

X, y = load_breast_cancer(return_X_y=True)
X, rows_of = X[:, :4], [range(i, len(X), 5) for i in range(5)]
first = rows_of[0]
agreed = owners.plan(GaussianNB(), X[first], y[first], public=public)
print(agreed)

# %%
# Masked sums
# -----------
# Each hospital reads its own rows. What leaves it are random numbers to everybody who has not the
# files of all the others.

files = [
    owners.masked_sums(X[rows], y[rows], plan=agreed, key=key)
    for rows, key in zip(rows_of, keys, strict=True)
]
print(files[0].words[:3])

# %%
# The plan is spent: other rows under the same masks would reveal the difference.

try:
    owners.masked_sums(X[:100], y[:100], plan=agreed, key=keys[0])
except ValueError as error:
    print(str(error).replace(folder.name, "..."))

# %%
# One model
# ---------
# In the sum of all files the masks are gone. The model is that of one fit of all rows.

sums = owners.unmasked(files, agreed)
model = GaussianNB().fit(sums)
whole = GaussianNB().fit(X, y)
print((model.predict_proba(X) == whole.predict_proba(X)).all())

# %%
# Without one file there is nothing to be had.

try:
    owners.unmasked(files[:4], agreed)
except ValueError as error:
    print(error)

# %%
# What do the pooled sums reveal?
# -------------------------------
# They are those of all patients, and reveal what sums reveal. :doc:`/several_owners` says who is
# trusted with what, and what is not promised.

from suffice.privacy import audit

print(audit(sums, 10))
folder.cleanup()
