"""What all estimators share: tables, labels, options, checks, streams, scores, model files."""
