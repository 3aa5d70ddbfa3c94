"""Densities that are constant in bins: cells of a column, cuts, histograms and kernels."""
