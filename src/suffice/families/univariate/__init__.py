"""Single columns of numbers: how Gaussians and densities are estimated, and without a row."""
