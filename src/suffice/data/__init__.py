"""Sources of rows: tables, files and arrays, read as batches of typed blocks."""
