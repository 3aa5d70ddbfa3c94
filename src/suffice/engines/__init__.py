"""Engines summarise parts and know nothing of models."""
