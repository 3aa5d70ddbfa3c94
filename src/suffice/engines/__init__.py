"""Where splits are summarised. An engine knows nothing of models."""
