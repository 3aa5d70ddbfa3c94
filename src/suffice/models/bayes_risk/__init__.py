"""The Bayes-optimal classifier of known densities, and its error."""
