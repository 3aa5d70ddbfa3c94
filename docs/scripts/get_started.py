"""
Get started
===========

Ten minutes, one real table. The rows are penguins of three species, measured near Palmer Station,
Antarctica. Some cells are missing; two columns are words. We predict the species from the others.
"""

# %%
# A table as it is
# ----------------
# No column is scaled, filled in or turned into numbers first.

from palmerpenguins import load_penguins

penguins = load_penguins().drop(columns="year")
print(penguins.head(4).T)

# %%
# Fit and predict
# ---------------
# Half of the rows, drawn at random, are training data. The others are test data.

from suffice import NaiveBayes

train = penguins.sample(frac=0.5, random_state=0)
test = penguins.drop(train.index)
model = NaiveBayes().fit(train, "species")
print(model.predict(test.head(3)))
print(model.predict_proba(test.head(3)).round(3))

# %%
# How good is it?
# ---------------

print(model.evaluate(test, "species"))

# %%
# Why this prediction?
# --------------------
# Each column adds its part. The parts are logarithms of odds, in nats, and they add up to the
# log-odds of the prediction.

print(model.explain(test.head(1)))

# %%
# The same as a picture, from the prior to the posterior:

from suffice.plotting import LedgerDisplay

LedgerDisplay.from_estimator(model, test.head(1))

# %%
# Keep it
# -------
# The file holds sums, and no row. Whoever has it can predict, add rows, or forget
# some.

import tempfile
from pathlib import Path

import suffice

folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "penguins.suffice"
model.save(file)
again = suffice.load(file)
print((again.predict(test) == model.predict(test)).all())
print(file.stat().st_size, "bytes")

# %%
# The same on the command line
# ----------------------------
# ::
#
#     suffice fit penguins.csv --label species
#     suffice predict penguins.suffice new.csv --proba
#     suffice explain penguins.suffice new.csv
