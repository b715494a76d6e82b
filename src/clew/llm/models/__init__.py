"""Which models there are: providers, profiles, targets, and finding one by its name."""
