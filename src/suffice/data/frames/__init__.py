"""Data frames and streams, in memory and on clusters."""
