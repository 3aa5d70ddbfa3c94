"""What a multivariate Gaussian is made of: its spread, and its estimates."""
