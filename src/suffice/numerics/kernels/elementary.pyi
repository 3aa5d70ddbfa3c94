"""
exp, log, log(1 + x), log Γ and digamma: the same bits on every processor, below 2 ulp.
"""

import numpy
import numpy.typing


def exp(x: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write eˣ of x (n, d) to ``out``, which may be x."""

def log(x: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write log x of x (n, d) to ``out``, which may be x."""

def log1p(x: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write log(1 + x) of x (n, d) to ``out``, which may be x."""

def lgamma(x: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write log Γ(x) of x (n, d) ≥ 0 to ``out``, which may be x; NaN below."""

def digamma(x: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write (log Γ)′(x) of x (n, d) ≥ 0 to ``out``, which may be x; NaN below.
    """
