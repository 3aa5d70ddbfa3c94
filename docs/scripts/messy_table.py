"""
A messy table, end to end
=========================

Prices as text, dates, missing cells, words, a number of the row: a table as people send it. Which
orders are sent back?
"""

# %%
# The table
# ---------

import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
n = 600
back = rng.random(n) < 0.3
orders = pd.DataFrame(
    {
        "order": np.arange(10_000, 10_000 + n),
        "day": (
            pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D")
        ).strftime("%Y-%m-%d"),
        "price": [f"${price:,.2f}" for price in np.exp(rng.normal(3.5 + 0.8 * back, 0.7))],
        "discount": [f"{percent} %" for percent in rng.choice([0, 10, 25], n)],
        "size": rng.choice(["S", "M", "L", None], n, p=[0.3, 0.4, 0.2, 0.1]),
        "note": rng.choice(["gift", "express", ""], n),
        "back": np.where(back, "yes", "no"),
    }
)
orders.loc[rng.random(n) < 0.1, "price"] = None
print(orders.head(4).to_string())

# %%
# What the columns are taken for
# ------------------------------
# `$30.64` becomes a number, `10 %` too, a date becomes a time. The number of the order tells one
# row from another and is left out. All of this is said.

import warnings

from suffice import NaiveBayes

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model = NaiveBayes().fit(orders, "back")
warnings.simplefilter("ignore")  # once is enough
for warning in said:
    print("-", warning.message)
for column in model.schema_:
    print(f"{column.name:9} {column.kind:9} {column.reason}")

# %%
# Which columns are informative?
# ------------------------------

from suffice.plotting import ClassDensityDisplay, ColumnImportanceDisplay, LedgerDisplay

ColumnImportanceDisplay.from_estimator(model)

# %%
# Prices are no bell curve: most are small, a few are large. For each column ``NaiveBayes`` chose
# the distribution that predicts the class best.

ClassDensityDisplay.from_estimator(model, "price")

# %%
# Cross-validation shows whether it is worth it. The rows of each fold are predicted by a model that
# was not fitted to them.

from suffice.model_selection import evaluate_models

found = evaluate_models(
    {"bell curves": NaiveBayes.textbook(), "as it comes": NaiveBayes()},
    orders,
    "back",
    cv=10,
    shuffle=True,
    random_state=0,
)
print(found)

# %%
# One order, taken apart
# ----------------------

LedgerDisplay.from_estimator(model, orders.iloc[[3]])

# %%
# A new row need not have every column, and a size that was never seen says nothing.

(posterior,) = model.predict_proba({"price": "$120.00", "size": "XXL", "discount": "25 %"})
print(", ".join(f"{label}: {p:.3f}" for label, p in zip(model.classes_, posterior, strict=True)))
