r"""
A lecture companion
===================

Every formula beside the call that computes it.

Bayes' rule
-----------
How likely a class c is, once x is known:

.. math:: P(c \mid x) = \frac{P(c)\, p(x \mid c)}{\sum_{c'} P(c')\, p(x \mid c')}

Ten of 110 people are ill. A test finds nine of these ten. Of the hundred healthy people it calls
five ill. How many of those that it calls ill are ill?
"""

import numpy as np

from suffice.bayes import linear_form, quadratic_form
from suffice.naive_bayes import BernoulliNB, GaussianNB

tests = np.array([[1]] * 9 + [[0]] * 1 + [[1]] * 5 + [[0]] * 95)
ill = np.array([1] * 10 + [0] * 100)
model = BernoulliNB(alpha=0, force_alpha=True).fit(tests, ill)
by_hand = (10 / 110 * 0.9) / (10 / 110 * 0.9 + 100 / 110 * 0.05)
print(model.predict_proba([[1]])[0, 1].round(6), round(by_hand, 6))

# %%
# Maximum likelihood, MAP, and the whole posterior
# ------------------------------------------------
# A coin shows heads h = 7 times in n = 10 throws. The prior of its probability θ is Beta(α, α), the
# posterior Beta(α + h, α + n − h). Three estimates of *how large is θ?*: where the likelihood is
# greatest, where the posterior is greatest, and the mean of the posterior.
#
# .. math::
#    \theta_{\mathrm{ML}} = \frac{h}{n} \qquad
#    \theta_{\mathrm{MAP}} = \frac{h + \alpha - 1}{n + 2\alpha - 2} \qquad
#    \mathrm{E}[\theta \mid h] = \frac{h + \alpha}{n + 2\alpha}

import matplotlib.pyplot as plt
from scipy.stats import beta

posterior, theta = beta(2 + 7, 2 + 3), np.linspace(0, 1, 201)
print(7 / 10, round((7 + 2 - 1) / (10 + 4 - 2), 6), round(posterior.mean(), 6))
plt.plot(theta, beta(2, 2).pdf(theta), label="prior")
plt.plot(theta, posterior.pdf(theta), label="posterior")
plt.xlabel("probability of heads θ")
plt.legend()

# %%
# A classifier estimates every probability in one of these ways, here of two coins. The mean of the
# posterior is also the probability that the next throw shows heads: full Bayes.

from suffice import NaiveBayes

throws = {
    "throw": ["heads"] * 7 + ["tails"] * 3 + ["heads"] * 5 + ["tails"] * 5,
    "coin": ["mine"] * 10 + ["yours"] * 10,
}
for estimation in ("mle", "map", "bayes"):
    model = NaiveBayes.textbook(estimation=estimation, alpha=2.0).fit(throws, "coin")
    joint = model.predict_joint_log_proba({"throw": "heads"})
    theta = np.exp(joint[0]) / 0.5  # P(coin) is ½
    print(f"{estimation:5} mine {theta[0]:.6f}, yours {theta[1]:.6f}")

# %%
# Naive Bayes as a linear classifier
# ----------------------------------
# The columns are taken as independent in each class. So the log-odds are a sum over columns:
#
# .. math::
#    \log \frac{P(1 \mid x)}{P(0 \mid x)}
#    = \log \frac{P(1)}{P(0)} + \sum_j \log \frac{p(x_j \mid 1)}{p(x_j \mid 0)}
#
# Let each column be Gaussian, with one variance for both classes. Then the squares cancel, and the
# sum is linear: the boundary is a straight line.
#
# .. math::
#    = w^\top x + b, \qquad w_j = \frac{\mu_{1j} - \mu_{0j}}{\sigma_j^2}

from suffice.families import Gaussian
from suffice.plotting import DecisionBoundaryDisplay

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 300)
X = rng.normal(size=(300, 2)) * np.where(y, 0.6, 1.2)[:, None] + 1.5 * y[:, None]

model = NaiveBayes.textbook(Gaussian("mle", shared=True)).fit(X, y)
form = linear_form(model, 0)
log_odds = model.predict_log_proba(X) @ [-1, 1]
print("w =", form.weights[1].round(3), "b =", form.intercepts[1].round(3))
print("largest difference:", abs(X @ form.weights[1] + form.intercepts[1] - log_odds).max())

DecisionBoundaryDisplay.from_estimator(model, X=X, y=y)

# %%
# Naive Bayes as a quadratic classifier
# -------------------------------------
# Where every class has variances of its own, the squares stay, and the boundary is a curve:
#
# .. math::
#    \log \frac{P(1 \mid x)}{P(0 \mid x)} = \sum_j a_j x_j^2 + w^\top x + b, \qquad
#    a_j = \frac{1}{2} \left( \frac{1}{\sigma_{0j}^2} - \frac{1}{\sigma_{1j}^2} \right)

model = GaussianNB().fit(X, y)
print("a =", quadratic_form(model, 0).quadratic[1].round(3))
print("by hand:", ((1 / model.var_[0] - 1 / model.var_[1]) / 2).round(3))

DecisionBoundaryDisplay.from_estimator(model, X=X, y=y)

# %%
# The boundary of linear discriminant analysis
# --------------------------------------------
# Now the columns may depend on each other. Both classes share one covariance Σ:
#
# .. math:: w = \Sigma^{-1} (\mu_1 - \mu_0)

from suffice import LinearDiscriminantAnalysis

lda = LinearDiscriminantAnalysis().fit(X, y)
print("w =", lda.coef_[0].round(3))
print("by hand:", np.linalg.solve(lda.covariance_, lda.means_[1] - lda.means_[0]).round(3))

DecisionBoundaryDisplay.from_estimator(lda, X=X, y=y)

# %%
# The least error that is possible
# --------------------------------
# No rule errs less often than the one that knows the densities, and even this one errs where the
# classes overlap:
#
# .. math:: E^* = \int \min_c P(c)\, p(x \mid c)\, dx
#
# For two Gaussians, each one standard deviation from the middle, this is Φ(−1).

from scipy.stats import norm

from suffice import BayesClassifier

best = BayesClassifier([norm(-1, 1), norm(1, 1)])
print(best.bayes_error())
print("by hand:", norm.cdf(-1))

# %%
# Logistic regression, and gradient descent
# -----------------------------------------
# The same linear log-odds, without any density: w and b are chosen so that the labels are as likely
# as possible. With p = P(1 | x), and x that starts with a 1 for b:
#
# .. math::
#    p_i = \frac{1}{1 + e^{-w^\top x_i}} \qquad
#    L(w) = -\sum_i \log P(y_i \mid x_i) \qquad
#    \nabla L = \sum_i (p_i - y_i)\, x_i
#
# Gradient descent takes small steps downhill. Newton's method divides by the curvature, and needs a
# few steps only:
#
# .. math::
#    w \leftarrow w - \eta\, \nabla L \qquad
#    w \leftarrow w - H^{-1} \nabla L, \quad H = \sum_i p_i (1 - p_i)\, x_i x_i^\top

from suffice import LogisticRegression

newton = LogisticRegression(C=np.inf).fit(X, y)
steps = LogisticRegression(C=np.inf, solver="gradient").fit(X, y)
p = newton.predict_proba(X)[:, 1]
print("Newton:", newton.coef_.round(3), "gradient descent:", steps.coef_.round(3))
print("gradient at the end:", abs((p - y) @ np.c_[np.ones(300), X]).max())

plt.figure()
plt.plot(steps.loss_history_)
plt.xlabel("pass over the rows")
plt.ylabel("loss")
