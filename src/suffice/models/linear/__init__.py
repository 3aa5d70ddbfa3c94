"""Linear regression with numeric targets: least squares, ridge, descent, inference."""
