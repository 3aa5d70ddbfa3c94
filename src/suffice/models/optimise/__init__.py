"""Minimisers of smooth losses: Newton's method, gradient descent, stochastic descent."""
