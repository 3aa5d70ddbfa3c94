"""Categories at prediction that no row of the fit showed: refused, or taken for the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

from suffice.models.base.estimator import Estimator
from suffice.models.base.options import check_choices

__all__ = ["Unseen", "UnseenCategories"]

Unseen = Literal["error", "reference"]


class UnseenCategories(Estimator):
    """A model of terms, which is told what to make of a category without one.

    Attributes
    ----------
    unseen : {"error", "reference"}
        An option of answers alone: the fit is the same, and it may be set afterwards.
    """

    unseen: Unseen

    def _fitted(self) -> Any:
        """The model, which answers as the option says."""
        model = super()._fitted()
        return model if model.unseen == self.unseen else replace(model, unseen=self.unseen)

    def _check_unseen(self) -> None:
        check_choices(self, unseen=get_args(Unseen))
