"""
Densities of one column of numbers in every class, and of a number held out.
"""

import numpy
import numpy.typing


def student(x: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], mean: numpy.typing.NDArray[numpy.float64], scatter: numpy.typing.NDArray[numpy.float64], mean0: float, variance0: float, logs: numpy.typing.NDArray[numpy.float64], without_one: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write log p(x | c), (k, m), of the Gaussian's posterior predictive by the moments of each
    class (k,) and a prior, and the same where class c has one number less, that at x.
    """

def sum_kernels(x: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], bandwidth: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write Σ_q n_cq N(x_i; x_q, h_c²), (k, b), of every class, which has n_cq numbers at x_q: x
    ascends.
    """

def kernel_logs(sums: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], bandwidth: numpy.typing.NDArray[numpy.float64], broad: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], without_one: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write log (sum + broad)/(N_c + 1), (k, b), and the same without the kernel at x, of the
    classes with N_c > 0 numbers.
    """

def log_losses(count: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], without_one: numpy.typing.NDArray[numpy.float64]) -> float:
    """
    Return Σ −log P(c | x) over all numbers, (k, m) of them at m places, each left out of the
    density of its own class.
    """
