"""The loss of every epoch of gradient descent, of one model or several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.plotting.style import class_style, figure_of, legend_beside, shortened, sized_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LossHistoryDisplay"]


class LossHistoryDisplay:
    """Loss against epochs: batch, stochastic and mini-batch descent in one picture.

    Parameters
    ----------
    losses : mapping from name to ndarray (epochs,)

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {
    ...     solver: LogisticRegression(solver=solver, C=0.1).fit(X, y)
    ...     for solver in ("gradient", "minibatch")
    ... }
    >>> sorted(LossHistoryDisplay.from_estimators(models).losses)
    ['gradient', 'minibatch']
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, losses: Mapping[str, NDArray[np.float64]]) -> None:
        self.losses = dict(losses)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> Self:
        """Draw one model that was fitted by gradient descent; see `from_estimators`."""
        return cls.from_estimators({getattr(model, "solver", "loss"): model}, ax=ax)

    @classmethod
    def from_estimators(cls, models: Mapping[str, Any], *, ax: Axes | None = None) -> Self:
        """Draw several models, each by its name.

        Parameters
        ----------
        models : mapping from name to fitted estimator
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If a model was not fitted by gradient descent.
        """
        losses = {}
        for name, model in models.items():
            check_is_fitted(model)
            if not hasattr(model, "loss_history_"):
                raise ParameterError(
                    f"model {name!r} was not fitted by gradient descent",
                    "only then is there a loss of every epoch",
                    "use solver='gradient', 'sgd' or 'minibatch'",
                )
            losses[name] = model.loss_history_
        return cls(losses).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones."""
        ax = sized_axes(ax)
        for c, (name, loss) in enumerate(self.losses.items()):
            ax.plot(np.arange(1, len(loss) + 1), loss, label=shortened(name), **class_style(c))
        ax.set_xlabel("epoch")
        ax.set_ylabel("loss")
        legend_beside(ax, None)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
