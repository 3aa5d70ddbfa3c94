"""Delimited text: sniff(paths, options) finds a TextFormat, by which every cell is then read."""
