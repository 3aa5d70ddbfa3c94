"""Columns that are divided among parameters of several kinds, each column to one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.family import Parameters
from suffice.numerics.logspace import cell_scores
from suffice.statistics.block import CodedBlock, IntegerBlock, RealBlock, among

__all__ = ["Choice", "DividedParameters", "Side"]

MANY = 64  # scores of a column that are added on their own


class Choice(NamedTuple):
    """What was chosen for a column, and from what.

    Parameters
    ----------
    family : str
    bandwidth : float
        Of a kernel density, as a multiple of the spread of a class.
    losses : mapping of str to float
        The leave-one-out log loss of the class given this column alone, in nats a row, by family;
        empty where there was no choice.
    """

    family: str
    bandwidth: float
    losses: dict[str, float]


class Side(NamedTuple):
    """The parameters of one kind, its columns as these read them, and which they are."""

    parameters: Parameters
    block: RealBlock | CodedBlock | IntegerBlock
    columns: NDArray[np.intp]


class DividedParameters(Parameters):
    """Distributions of columns that are of several kinds.

    Parameters
    ----------
    choices : tuple of Choice
        One for each column.
    """

    choices: tuple[Choice, ...]

    @property
    @abstractmethod
    def kinds(self) -> tuple[tuple[NDArray[np.intp], Parameters], ...]:
        """Which columns are of each kind of which there are some, and their parameters."""

    @abstractmethod
    def sides(self, block: RealBlock) -> list[Side]:
        """What each kind is asked of a block.

        Raises
        ------
        BadCell
            If its parameters do not read a cell.
        """

    @abstractmethod
    def side(self, j: int) -> tuple[Parameters, int]:
        """The parameters that column j belongs to, and its place in them."""

    @property
    def n_free(self) -> int:
        """Those of all."""
        return sum(parameters.n_free for _, parameters in self.kinds)

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add Σⱼ log p(xⱼ | c).

        Raises
        ------
        BadCell
            As `sides` does, or if a number is infinite.
        """
        for parameters, some, columns in self.sides(block):
            with among(columns):
                parameters.add_log_likelihood(some, out)

    def add_contributions(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log p(xⱼ | c) of every cell.

        Raises
        ------
        BadCell
            As `add_log_likelihood` does.
        """
        for parameters, some, columns in self.sides(block):
            if len(columns) == block.width:
                parameters.add_contributions(some, out)
                continue
            cells = cell_scores(block.rows, len(columns), out.shape[2])
            with among(columns):
                parameters.add_contributions(some, cells)
            if block.rows * out.shape[2] < MANY:
                out[:, columns] += cells
                continue
            for place, j in enumerate(columns.tolist()):
                out[:, j] += cells[:, place]

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw from each column's own distribution."""
        drawn: dict[int, NDArray[Any]] = {}
        for columns, parameters in self.kinds:
            drawn |= zip(columns.tolist(), parameters.sample(codes, rng), strict=True)
        return [drawn[j] for j in range(len(self.choices))]

    def chosen(self, j: int) -> str:
        """The family of column j."""
        return self.choices[j].family

    def rivals(self, j: int) -> dict[str, float]:
        """Leave-one-out log loss of the class given column j alone, in nats a row, by family."""
        return self.choices[j].losses

    def describe(self, j: int) -> dict[str, list[float]]:
        """What its own family says of column j."""
        parameters, place = self.side(j)
        return parameters.describe(place)
