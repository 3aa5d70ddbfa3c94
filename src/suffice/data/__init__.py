"""Where rows come from: tables, files and arrays, read as batches of typed blocks."""
