"""Tables in files, and temporary files for rows that can be read only once."""
