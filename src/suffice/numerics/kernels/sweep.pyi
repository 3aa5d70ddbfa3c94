"""
What rows with missing cells are expected to add to the sums of complete rows.

Conventions: d features. Rows form *cells*: all those that show the same columns o, and
lack the others m, under the same covariance Σ. A cell holds groups of rows, one for
each of its classes.
"""

import numpy
import numpy.typing


def expect(observed: numpy.typing.NDArray[numpy.bool], start: numpy.typing.NDArray[numpy.int64 | numpy.intp], matrix: numpy.typing.NDArray[numpy.int64 | numpy.intp], place: numpy.typing.NDArray[numpy.int64 | numpy.intp], products: numpy.typing.NDArray[numpy.float64], code: numpy.typing.NDArray[numpy.int64 | numpy.intp], weight: numpy.typing.NDArray[numpy.float64], mean: numpy.typing.NDArray[numpy.float64], covariance: numpy.typing.NDArray[numpy.float64], x: numpy.typing.NDArray[numpy.float64], scatter: numpy.typing.NDArray[numpy.float64], log_likelihood: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Fill in the missing columns of groups of rows, and add what their cells scatter.

    Cell i shows the columns ``observed[i]`` (d,), has the groups from ``start[i]`` to
    ``start[i + 1]``, the covariance ``covariance[matrix[i]]``, and the scatter of its
    groups, each about its own mean, at ``products[place[i]]``; −1 where that is 0.

    Group g is of class ``code[g]``, has the total ``weight[g]`` and the mean ``x[g]``
    (d,), to whose missing columns the expected ones are written. A S Aᵀ + nC is added to
    ``scatter[matrix[i]]``, and the log-likelihood of the cell is written to
    ``log_likelihood[i]``.
    """

def add_scatter(x: numpy.typing.NDArray[numpy.float64], code: numpy.typing.NDArray[numpy.int64 | numpy.intp], weight: numpy.typing.NDArray[numpy.float64], mean: numpy.typing.NDArray[numpy.float64], scatter: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add w (x − μ)(x − μ)ᵀ of rows x (g, d), with the mean (k, d) of the class of each, to
    ``scatter`` (s, d, d): to that of its class, or to the only one.
    """
