"""
Get started
===========

Ten minutes, one real table. The rows are penguins of three species, measured near Palmer Station,
Antarctica. Some cells are missing; two columns are words. We learn the species from the others.
"""

# %%
# A table as it is
# ----------------
# No column is scaled, filled in or turned into numbers first.

from palmerpenguins import load_penguins

penguins = load_penguins().drop(columns="year")
print(penguins.head(4).T)

# %%
# Learn and answer
# ----------------
# Half of the rows, drawn at random, are learnt. The others are kept to judge the model.

from suffice import NaiveBayes

learnt = penguins.sample(frac=0.5, random_state=0)
kept = penguins.drop(learnt.index)
model = NaiveBayes().fit(learnt, "species")
print(model.predict(kept.head(3)))
print(model.predict_proba(kept.head(3)).round(3))

# %%
# How good is it?
# ---------------

print(model.evaluate(kept, "species"))

# %%
# Why this answer?
# ----------------
# Each column adds its part. The parts are logarithms of odds, in nats, and they add up to the
# answer.

print(model.explain(kept.head(1)))

# %%
# The same as a picture, from what was known before any column to the answer:

from suffice.plotting import LedgerDisplay

LedgerDisplay.from_estimator(model, kept.head(1))

# %%
# Keep it
# -------
# The file holds sums, and no row. Whoever has it can answer rows, learn more of them, or forget
# some.

import tempfile
from pathlib import Path

import suffice

folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "penguins.suffice"
model.save(file)
again = suffice.load(file)
print((again.predict(kept) == model.predict(kept)).all())
print(file.stat().st_size, "bytes")

# %%
# The same on the command line
# ----------------------------
# ::
#
#     suffice fit penguins.csv --label species
#     suffice predict penguins.suffice new.csv --proba
#     suffice explain penguins.suffice new.csv
