"""The tour: its script, its model, its guide."""
