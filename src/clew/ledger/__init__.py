"""Facts: a pure fold over entries."""
