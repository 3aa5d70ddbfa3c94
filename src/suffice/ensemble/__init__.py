"""Several classifiers as one: the mean of what the best of them say.

::

    P(c | x) = 1/M Σ_m P_m(c | x)

`AutoClassifier` fits models of different kinds to a table, judges each on rows that it has not
learnt, and answers with the mean of the best.
"""

from suffice.ensemble.auto import AutoClassifier

__all__ = ["AutoClassifier"]
