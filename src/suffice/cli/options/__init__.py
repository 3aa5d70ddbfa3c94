"""Options of commands, in records: what columns are, how a model is fitted, where it runs."""
