"""Columns of whole numbers that are categories, or numbers, by what all rows show."""
