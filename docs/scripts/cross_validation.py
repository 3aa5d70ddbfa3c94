"""
Choosing a model by exact cross-validation
==========================================

How good is a model on held-out rows? The model without a fold is a function of
sums, so all folds together cost about one fit and one prediction.
"""

# %%
# Four models, the same folds
# ---------------------------

from sklearn.datasets import load_wine

import suffice
from suffice.model_selection import GridSearchCV, compare_scores, evaluate_models

X, y = load_wine(return_X_y=True)
models = {
    "naive Bayes": suffice.NaiveBayes(),
    "lda": suffice.LinearDiscriminantAnalysis(),
    "qda": suffice.QuadraticDiscriminantAnalysis(),
    "logistic": suffice.LogisticRegression(standardize=True),
}
found = evaluate_models(models, X, y, cv=10, shuffle=True, random_state=0)
print(found)

# %%
# Is the difference more than chance?
# -----------------------------------
# Training sets overlap, so scores of folds are not independent. The interval allows for that
# (Nadeau and Bengio, 2003).

one, two = found["naive Bayes"], found["lda"]
gap = compare_scores(one.scores("log loss"), two.scores("log loss"), one.test_share)
print(f"{gap.mean:+.3f} nats, from {gap.low:+.3f} to {gap.high:+.3f}")

# %%
# Every row left out by itself
# ----------------------------
# In closed form: the predictions of n fits, in the time of a few.

print(evaluate_models(models, X, y, cv="loo")["lda"])

# %%
# Options
# -------

search = GridSearchCV(suffice.LinearDiscriminantAnalysis(), {"shrinkage": [0, 0.1, 0.3, 0.6, 0.9]})
print(search.fit(X, y).best_params_)

# %%
# Or the mean of the best
# -----------------------

model = suffice.AutoClassifier().fit(X, y)
print(model.candidates_)
