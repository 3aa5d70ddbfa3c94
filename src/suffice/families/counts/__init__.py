"""What the families of categories and events share: priors of counts, and tables of events."""
