"""What textbooks state in words about classifiers, measured on distributions that are known."""
