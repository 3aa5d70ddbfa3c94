"""Log-likelihoods of rows by the estimates of all other rows, in closed form."""
