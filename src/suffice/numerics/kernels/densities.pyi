"""
Densities of one column of numbers in every class, and of a number held out.
"""

import numpy
import numpy.typing


def kernel_shape(x: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], spreads: numpy.typing.NDArray[numpy.float64], narrower: numpy.typing.NDArray[numpy.float64], broad: numpy.typing.NDArray[numpy.float64]) -> float:
    """
    Write how broad the kernels of each class are: the smaller of two measures of its spread,
    and N_c^(−1/5), (k,); and the broad kernel at b ascending numbers. Returns the deviation of
    all of these from their mean.
    """

def kernel_logs(x: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], bandwidth: numpy.typing.NDArray[numpy.float64], broad: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], without_one: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write log (Σ_q n_cq N(x_i; x_q, h_c²) + broad_i)/(N_c + 1), (k, b), where class c has n_cq
    numbers at x_q, and the same without the kernel at x: x ascends, and each broad_i is above
    0. A class without numbers has the density of all.
    """

def merge(low: numpy.typing.NDArray[numpy.float64], high: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], cuts: numpy.typing.NDArray[numpy.int64 | numpy.intp], new_low: numpy.typing.NDArray[numpy.float64], new_high: numpy.typing.NDArray[numpy.float64], new_count: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the bounds (b,) and the counts (k, b) of fewer cells, each of which begins with one
    of the ascending cuts, or the first.
    """

def back_off(count: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write s q of b bins, q = (N_b + ½)/(N + ½ b): s is the power of 2 from ½ to 4,096 of the
    greatest evidence Π_c ∫ p(data | θ_c) Dirichlet(θ_c; s q) dθ_c.
    """

def bin_logs(low: numpy.typing.NDArray[numpy.float64], high: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], without_one: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the log densities (k, b) of bins, (count + prior)/(N_c + Σ prior) over their widths,
    and the same where class c has one number less in the bin.
    """

def log_losses(count: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], without_one: numpy.typing.NDArray[numpy.float64]) -> float:
    """
    Return Σ −log P(c | x) over all numbers, (k, m) of them at m places, each left out of the
    density of its own class.
    """
