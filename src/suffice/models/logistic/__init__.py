"""Logistic regression: P(c | x) is the softmax of linear scores."""
