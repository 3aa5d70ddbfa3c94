"""Which label is answered, where errors are not equally bad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from suffice.cli.options.models import predicts_numbers
from suffice.errors import ParameterError

__all__ = ["Decision"]

DECISION = "Which label is answered"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Costs of errors, or a threshold; what is not given is as the model remembers it."""

    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Of two labels, in sorted order: the second one where its probability is above P.",
            rich_help_panel=DECISION,
        ),
    ] = None
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="A,B;C,D",
            help="What answers cost, a row for every true label, labels sorted: with '0,1;5,0' it "
            "is five times as bad to answer the first where the second is true.",
            rich_help_panel=DECISION,
        ),
    ] = None

    def applied(self, model: Any) -> Any:
        """The same fitted model, which decides in this way.

        Raises
        ------
        ParameterError
            If an option is outside its rule, or the model answers numbers.
        """
        given = {"--threshold": self.threshold, "--costs": self.costs}
        given = {option: value for option, value in given.items() if value is not None}
        if not given:
            return model
        if predicts_numbers(model):
            raise ParameterError(
                f"{next(iter(given))} is given for a {type(model).__name__}",
                "its answers are numbers, not classes",
                "leave the option out",
            )
        if len(given) == 2:
            raise ParameterError(
                "--threshold and --costs are both given",
                "each says which label is answered",
                "leave one of them out",
            )
        if "costs" not in model.get_params(deep=False):
            raise ParameterError(
                f"{next(iter(given))} is given for a {type(model).__name__}",
                "it has scikit-learn's parameters, and no costs",
                "fit --model naive-bayes, lda, qda or logistic",
            )
        return model.set_params(costs=self._table(model))

    def _table(self, model: Any) -> Any:
        from suffice.models.base.costs import checked_costs, of_threshold

        k = len(model.classes_)
        if self.threshold is not None:
            if not 0 <= self.threshold <= 1:
                raise ParameterError(
                    f"--threshold {self.threshold:g}", "a probability is from 0 to 1"
                )
            if k != 2:
                raise ParameterError(
                    f"--threshold {self.threshold:g} is given for {k} labels",
                    "a threshold decides between two",
                    "use --costs",
                )
            return of_threshold(self.threshold).tolist()
        rows = [row.split(",") for row in (self.costs or "").split(";")]
        try:
            table = [[float(cell) for cell in row] for row in rows]
        except ValueError:
            table = []
        if len(table) != k or any(len(row) != k for row in table):
            raise ParameterError(
                f"--costs {self.costs!r}",
                f"there are {k} labels ({', '.join(map(str, model.classes_[:10]))}): costs are {k} "
                f"rows of {k} numbers",
                "separate numbers by commas and rows by semicolons, such as '0,1;5,0'",
            )
        return checked_costs(table, k).tolist()
