"""The cost model of docs/scaling.md: its parameters, its check and its predictions."""
