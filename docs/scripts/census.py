"""
A census
========

48,842 people, fourteen columns, and the question who earns more than 50,000 dollars a year: the
table *adult* of the UCI repository, as it is downloaded, with ``?`` for missing cells and a dot
after the labels of the second file.

If there is no output below, this page was not run: the files were not there when the site was
built. `Get them <https://archive.ics.uci.edu/dataset/2/adult>`_, and set ``SUFFICE_DATA`` to the
folder above.
"""

# %%
# Read it as it is
# ----------------

import os
from pathlib import Path

import suffice
from suffice.bayes import column_weights

folder = Path(os.environ["SUFFICE_DATA"]) / "adult"
COLUMNS = """age workclass fnlwgt education education_num marital_status occupation relationship
race sex capital_gain capital_loss hours country income"""
written = {"header": False, "names": COLUMNS.split(), "missing": ["?"], "strip": True}
written["label_suffix"] = "."  # that one of the files puts behind every label
train = suffice.read_csv(folder / "adult.data", **written)
ask = suffice.read_csv(folder / "adult.test", **written)

# %%
# Two models, one pass each
# -------------------------
# The textbook's rule takes a bell curve for every number, and believes every column. ``NaiveBayes``
# as it comes chooses a distribution for each column, and counts columns less that repeat others.

plain = suffice.NaiveBayes.textbook().fit(train, "income")
model = suffice.NaiveBayes().fit(train, "income")
for name, one in {"textbook": plain, "as it comes": model}.items():
    found = one.evaluate(ask, "income")
    print(f"{name:12} {found.error:.2%} wrong, log loss {found.log_loss:.3f} nats a row")

# %%
# Why so different? Education is there twice, in words and in years. And hardly anybody has a
# capital gain; no bell curve looks like that.

print(column_weights(model))

# %%

from suffice.plotting import ClassDensityDisplay

ClassDensityDisplay.from_estimator(model, "age")

# %%
# Is it fair?
# -----------
# The same figures for each sex. The column may be left out of the model, and still be known to the
# others: marriage and occupation have its information.

groups = model.evaluate_by(ask, "income", "sex")
for value, found in groups.items():
    print(
        f"{value:8} {found.weight:,.0f} rows, {found.error:.1%} wrong, mean recall "
        f"{found.balanced_accuracy:.1%}"
    )

# %%
# Probabilities that can be trusted
# ---------------------------------
# Of the rows that are predicted with 80 to 90 %, how many predictions are right?

found = model.evaluate(ask, "income")
for i, (rows, promised, right) in enumerate(found.reliability.value.tolist()):
    if rows:
        print(
            f"{i / 10:.1f} to {(i + 1) / 10:.1f}: promised {promised / rows:.3f}, "
            f"right {right / rows:.3f} of {rows:,.0f} rows"
        )

# %%
# Where one class will not do, a prediction set has the right one in it as often as is asked.

sets = model.predict_set(ask, coverage=0.95)
print(f"{(sets.sum(axis=1) > 1).mean():.1%} of the sets have both classes")
