"""Where parts are summarised. An engine knows nothing of models."""
