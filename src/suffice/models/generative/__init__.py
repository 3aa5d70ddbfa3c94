"""Models of p(x | c) and P(c): naive Bayes, discriminant analysis, and what they say."""
