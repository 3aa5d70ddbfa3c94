"""Naive Bayes under scikit-learn's names: given the class, the columns are independent.

::

    P(c | x) = P(c) Π_j p(x_j | c) / Σ_c' P(c') Π_j p(x_j | c')

`NaiveBayes` takes a mixed table as it is. The others carry scikit-learn's names, parameters and
fitted attributes; each is one family over all columns. All of them leave missing cells (NaN, None)
out, fit in batches to the same bits, forget, merge and explain.
"""

from suffice.naive_bayes.bernoulli import BernoulliNB
from suffice.naive_bayes.categorical import CategoricalNB
from suffice.naive_bayes.complement import ComplementNB
from suffice.naive_bayes.gaussian import GaussianNB
from suffice.naive_bayes.mixed import NaiveBayes
from suffice.naive_bayes.multinomial import MultinomialNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
]
