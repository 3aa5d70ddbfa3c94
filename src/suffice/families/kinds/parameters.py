"""Parameters of columns of two kinds, numbers and categories, whose cells are all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.categorical import CategoricalParameters
from suffice.families.counts.unseen import UNSEEN_RULE
from suffice.families.family import Form, Parameters
from suffice.families.kinds.divided import Choice, DividedParameters, Side
from suffice.rules import NONNEGATIVE, Shape
from suffice.statistics.block import (
    BadCell,
    CodedBlock,
    IntegerBlock,
    RealBlock,
    among,
    converted,
)
from suffice.statistics.vocabulary import Vocabulary
from suffice.statistics.whole_values import codes_of

__all__ = ["CATEGORY", "WholeNumbersParameters"]

CATEGORY = Choice("categorical", 0.0, {})


@dataclass(frozen=True, eq=False)
class WholeNumbersParameters(DividedParameters):
    """Distributions of the columns that hold numbers, and of those that are categories.

    Parameters
    ----------
    of_numbers, of_categories : ndarray of int
        Which columns those are.
    numbers : Parameters
        Of the former.
    categories : CategoricalParameters
        Of the latter.
    choices : tuple of Choice
        One for each column.
    """

    of_numbers: Annotated[NDArray[np.intp], Shape("g"), NONNEGATIVE]
    of_categories: Annotated[NDArray[np.intp], Shape("c"), NONNEGATIVE]
    numbers: Parameters
    categories: CategoricalParameters
    choices: tuple[Choice, ...]

    @property
    def kinds(self) -> tuple[tuple[NDArray[np.intp], Parameters], ...]:
        """Which columns are of each kind of which there are some, and their parameters."""
        kinds = (self.of_numbers, self.numbers), (self.of_categories, self.categories)
        return tuple(kind for kind in kinds if len(kind[0]))

    def sides(self, block: RealBlock) -> list[Side]:
        """The columns of both.

        Raises
        ------
        BadCell
            If a number of a category is infinite, or was never seen and ``unseen="error"``.
        """
        return self._sides(block, self.categories.unseen == "error")

    def _sides(self, block: RealBlock, refused: bool) -> list[Side]:
        """The columns of both; unseen values of categories may be ``refused``."""
        if len(self.of_numbers) == block.width:
            return [Side(self.numbers, block, self.of_numbers)]
        found: list[Side] = []
        if len(self.of_numbers):
            with among(self.of_numbers):
                some = RealBlock(converted(block.values[:, self.of_numbers]))
            found.append(Side(self.numbers, some, self.of_numbers))
        if len(self.of_categories):
            with among(self.of_categories):
                values = self._values(block.values[:, self.of_categories], refused)
            found.append(Side(self.categories, values, self.of_categories))
        return found

    def _values(self, values: NDArray[Any], refused: bool) -> CodedBlock | IntegerBlock:
        """Cells of categories: whole numbers, or where other cells are among them, codes."""
        if not refused and (whole := _whole(values)) is not None:
            return IntegerBlock(whole)
        vocabularies = self.categories.vocabularies
        codes = codes_of(RealBlock(values), vocabularies)
        unseen = np.argwhere(codes == sizes_of(vocabularies)) if refused else codes[:0]
        for row, column in unseen[:1].tolist():
            value = float(values[row, column])
            shown = int(value) if value.is_integer() else value
            raise BadCell(row, column, shown, UNSEEN_RULE)
        return CodedBlock(codes, vocabularies)

    def side(self, j: int) -> tuple[Parameters, int]:
        """The parameters that column j belongs to, and its place in them."""
        is_category = self.choices[j].family == CATEGORY.family
        columns = self.of_categories if is_category else self.of_numbers
        return (
            self.categories if is_category else self.numbers,
            int(np.searchsorted(columns, j)),
        )

    def column(self, j: int) -> WholeNumbersParameters:
        """The parameters of column j alone."""
        parameters, place = self.side(j)
        one, none = np.zeros(1, np.intp), np.zeros(0, np.intp)
        if parameters is self.numbers:
            none_of = self.categories.theta[:, :0]
            nothing = replace(self.categories, vocabularies=(), theta=none_of, alpha_evidence=None)
            found = self.numbers.column(place)
            return WholeNumbersParameters(one, none, found, nothing, (self.choices[j],))
        known = self.categories.column(place)
        return WholeNumbersParameters(none, one, self.numbers, known, (self.choices[j],))

    def values(self, j: int) -> tuple[Any, ...] | None:
        """The values of column j, if it is a category."""
        parameters, place = self.side(j)
        return parameters.values(place)

    def form(self) -> Form | None:
        """The forms of both, side by side; None where one has none."""
        forms = [(columns, parameters.form()) for columns, parameters in self.kinds]
        known = [(columns, form) for columns, form in forms if form is not None]
        if len(known) < len(forms):
            return None
        widths = [len(form.features) for _, form in known]
        return Form(
            tuple(_moved(feature, columns) for columns, form in known for feature in form.features),
            np.concatenate([form.quadratic for _, form in known], axis=1),
            np.concatenate([form.linear for _, form in known], axis=1),
            np.asarray(sum(form.constant for _, form in known)),
            np.concatenate(
                [np.broadcast_to(f.origin, w) for (_, f), w in zip(known, widths, strict=True)]
            ),
        )

    def features(self, block: RealBlock) -> Any:
        """Numbers, and indicators of the values of categories, which are sparse.

        Raises
        ------
        BadCell
            If a number is missing, or of a category was never seen, unless ``unseen="ignore"``.
        """
        pieces = []
        for parameters, some, columns in self._sides(block, self.categories.unseen != "ignore"):
            with among(columns):
                pieces.append(parameters.features(some))
        if len(pieces) == 1:
            return pieces[0]
        from scipy.sparse import csr_array, hstack

        return csr_array(hstack(pieces))


def _whole(values: NDArray[Any]) -> NDArray[np.signedinteger[Any]] | None:
    """Numbers as integers, if all are."""
    if values.dtype.kind == "i":
        return values
    with np.errstate(invalid="ignore"):
        whole = values.astype(np.int64)
    return whole if (whole == values).all() else None


def sizes_of(vocabularies: Sequence[Vocabulary]) -> list[int]:
    """How many values each has: the code of those that it does not have."""
    return [len(vocabulary) for vocabulary in vocabularies]


def _moved(feature: Any, columns: NDArray[np.intp]) -> Any:
    """A feature of the columns of one side as one of the block."""
    if isinstance(feature, tuple):
        return int(columns[feature[0]]), feature[1]
    return int(columns[feature])
