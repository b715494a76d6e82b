"""Long runs of the checks that the suite holds a sample of."""
