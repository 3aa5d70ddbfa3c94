"""
Texts
=====

A mail, a ticket, a comment: its words are evidence of what it is about. Here are texts that every
machine with Python has: the documentation of functions. Which library is a text from?
"""

# %%
# The texts
# ---------
# The documentation of the public functions and classes of four libraries. Their own names are
# taken out, or the task would be too easy. Parameters and examples are cut off as well.

import inspect
import re
from importlib import import_module

import pandas as pd

LIBRARIES = {
    "numpy": ["numpy", "numpy.linalg", "numpy.fft"],
    "pandas": ["pandas", "pandas.api.types"],
    "scipy": ["scipy.stats", "scipy.optimize", "scipy.signal", "scipy.linalg"],
    "sklearn": ["sklearn.metrics", "sklearn.preprocessing", "sklearn.ensemble"],
}
OWN_NAMES = re.compile(r"\b(numpy|np|pandas|pd|scipy|sp|sklearn|scikit|learn)\b", re.IGNORECASE)
rows = {}
for library, modules in LIBRARIES.items():
    for module in map(import_module, modules):
        for name, found in vars(module).items():
            text = inspect.getdoc(found) if callable(found) and name[0] != "_" else None
            if text and len(text) > 100:
                rows.setdefault(OWN_NAMES.sub("", text.split("Parameters\n---")[0]), library)
texts = pd.DataFrame({"text": list(rows), "library": list(rows.values())})
texts = texts.sample(frac=1, random_state=0, ignore_index=True)
print(texts["library"].value_counts().to_string())

# %%
# A column of texts
# -----------------
# A column whose cells have several words each is read as text. How often each word occurs is
# counted by class; that is all a model keeps of it. Words that were never seen say nothing.

from suffice import NaiveBayes

train, test = texts[:-200], texts[-200:]
model = NaiveBayes().fit(train, "library")
print(model.schema_[0].kind, "-", model.schema_[0].reason)
print(f"{model.score(test, 'library'):.1%} of the other texts are right")

# %%
# Why?
# ----
# Every word contributes to the prediction. These are the words of one text that speak most for its
# library, against the one that is second.

one = test.iloc[[0]]
(probabilities,) = model.predict_proba(one)
for label, p in sorted(zip(model.classes_, probabilities, strict=True), key=lambda pair: -pair[1]):
    print(f"{label:8} {p:.3f}")

# %%

words = pd.unique(pd.Series(re.findall(r"\w\w+", one["text"].iloc[0].lower())))
first, second = probabilities.argsort()[::-1][:2]
alone = pd.DataFrame({"text": words})
joint = model.predict_joint_log_proba(alone) - model.predict_joint_log_proba({"text": None})
nats = pd.Series(joint[:, first] - joint[:, second], index=words).sort_values()
print(nats.tail(5).round(2).to_string())

# %%
# The rule of the textbooks, and its relatives
# --------------------------------------------
# ``NaiveBayes`` counts words, and fits on held-out rows how much of that is to be
# believed: words of one text repeat each other. The textbook's rule believes all of it. So it is
# right about as often, and much too sure.

from suffice.model_selection import evaluate_models

candidates = {
    "as it comes": NaiveBayes(),
    "textbook": NaiveBayes.textbook(),
    "which words, not how often": NaiveBayes.textbook({"text": "bernoulli"}),
    "complement": NaiveBayes.textbook({"text": "complement"}),
}
found = evaluate_models(candidates, texts, "library", cv=5, shuffle=True, random_state=0)
print(found)

# %%
# More texts, and fewer
# ---------------------
# New texts join without the old ones, and a text that has to go is taken out: its words leave the
# vocabulary, if no other text has them.

model.partial_fit(test, "library")
before = len(model.statistic_.blocks[0].events)
model.forget(train[:50], "library")
print(f"{before:,} words known, {len(model.statistic_.blocks[0].events):,} without 50 texts")
