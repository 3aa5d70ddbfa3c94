"""
Regression with intervals
=========================

Least squares from sums: coefficients with standard errors, intervals of predictions, and a prior.
"""

# %%
# Ammonia that escapes
# --------------------
# Brownlee (1965) observed a plant for 21 days: the flow of air, the temperature of the cooling
# water, the concentration of acid, and how much ammonia escaped. statsmodels brings the table.

import statsmodels.api as sm

rows = sm.datasets.stackloss.load_pandas().data
rows.columns = [name.lower() for name in rows.columns]
print(rows.head(3).to_string())

# %%
# Estimates and tests
# -------------------

from suffice import LinearRegression, Ridge

model = LinearRegression().fit(rows, "stackloss")
print(model.summary())

# %%
# The same figures as statsmodels, from one pass:

theirs = sm.OLS(rows["stackloss"], sm.add_constant(rows.drop(columns="stackloss"))).fit()
print(abs(model.coef_.ravel() - theirs.params[1:].to_numpy()).max())

# %%
# What is left unexplained
# ------------------------

from sklearn.metrics import PredictionErrorDisplay

PredictionErrorDisplay.from_estimator(model, rows, rows["stackloss"])

# %%
# Intervals
# ---------
# For the mean of such days, and for one more day.

for interval in ("confidence", "prediction"):
    (table,) = model.predict_batches(rows.head(2), interval=interval)
    print(interval, table.to_pandas().round(2).to_string(index=False), sep="\n")

# %%
# These rest on normal errors. Where errors are not normal, `calibrate` measures the errors
# of held-out rows. "conformal" intervals hold whatever the distribution.

model.calibrate(rows, "stackloss")
for level in (0.8, 0.9):
    (one,) = model.predict_interval(rows.head(1), "conformal", level=level)
    print(f"{level:.0%}: {one[0]:.1f} to {one[1]:.1f}")

# %%
# A prior
# -------
# Ridge regression is the mode of the posterior under a Gaussian prior. Its weight is chosen from
# the sums alone.

ridge = Ridge(alpha="gcv").fit(rows, "stackloss")
print(ridge.alpha_, ridge.coef_.round(3))
