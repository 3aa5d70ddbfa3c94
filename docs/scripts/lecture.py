r"""
A lecture companion
===================

Every formula beside the call that computes it.

Bayes' rule
-----------

.. math:: P(c \mid x) = \frac{P(c)\, p(x \mid c)}{\sum_{c'} P(c')\, p(x \mid c')}
"""

import numpy as np

from suffice.naive_bayes import BernoulliNB, GaussianNB

tests = np.array([[1]] * 9 + [[0]] * 1 + [[1]] * 5 + [[0]] * 95)
ill = np.array([1] * 10 + [0] * 100)
model = BernoulliNB(alpha=0, force_alpha=True).fit(tests, ill)
by_hand = (10 / 110 * 0.9) / (10 / 110 * 0.9 + 100 / 110 * 0.05)
print(model.predict_proba([[1]])[0, 1].round(6), round(by_hand, 6))

# %%
# Maximum likelihood, MAP, and the whole posterior
# ------------------------------------------------
# A coin falls on heads 7 times of 10. The likelihood is greatest at 0.7. With a prior Beta(2, 2)
# the posterior is Beta(9, 5): its mode is 8/12, its mean 9/14.

from suffice.plotting import PosteriorDisplay

PosteriorDisplay.of_coin(7, 3, alpha=2.0)

# %%
# Naive Bayes draws a linear boundary ...
# ---------------------------------------
# With the same variance in every class, the log-odds are linear in x.

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 300)
X = rng.normal(size=(300, 2)) * np.where(y, 0.6, 1.2)[:, None] + 1.5 * y[:, None]

from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.plotting import DecisionBoundaryDisplay

DecisionBoundaryDisplay.from_estimator(LinearDiscriminantAnalysis().fit(X, y))

# %%
# ... or a quadratic one
# ----------------------

DecisionBoundaryDisplay.from_estimator(GaussianNB().fit(X, y))

# %%
# The least error that is possible
# --------------------------------
# The Bayes error of two Gaussians one standard deviation either side of the middle is Φ(−1).

from scipy.stats import norm

from suffice import BayesClassifier

best = BayesClassifier([norm(-1, 1), norm(1, 1)])
print(best.bayes_error(), norm.cdf(-1))

# %%
# Logistic regression, and gradient descent
# -----------------------------------------
# The same curve, found by Newton's method, and step by step.

from suffice import LogisticRegression
from suffice.plotting import LossHistoryDisplay

newton = LogisticRegression(C=np.inf).fit(X, y)
steps = LogisticRegression(C=np.inf, solver="gradient", max_iter=200).fit(X, y)
print(newton.coef_.round(3), steps.coef_.round(3))
LossHistoryDisplay.from_estimator(steps)
