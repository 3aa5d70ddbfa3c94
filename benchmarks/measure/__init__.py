"""How a task is described, timed and put beside its peers."""
