"""Pictures of what a model knows, as displays in scikit-learn's convention.

``XDisplay.from_estimator(model, ...)`` computes what is to be drawn, draws it, and keeps both: the
numbers as attributes, the picture as ``ax_`` and ``figure_``. ``plot(ax=...)`` draws it once more.
Needs matplotlib: ``pip install 'suffice[plot]'``.
"""

from suffice.plotting.class_density import ClassDensityDisplay
from suffice.plotting.decision_boundary import DecisionBoundaryDisplay
from suffice.plotting.importance import ColumnImportanceDisplay
from suffice.plotting.ledger import LedgerDisplay

__all__ = [
    "ClassDensityDisplay",
    "ColumnImportanceDisplay",
    "DecisionBoundaryDisplay",
    "LedgerDisplay",
]
