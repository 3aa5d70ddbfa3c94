"""Errors and warnings in the spelling of the command line."""
