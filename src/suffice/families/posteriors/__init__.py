"""What finitely many rows leave open: the posterior distributions of the families' parameters."""
