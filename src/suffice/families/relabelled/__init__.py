"""What families learn and say of the same rows under many labelings of them."""
