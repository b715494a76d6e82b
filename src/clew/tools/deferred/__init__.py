"""Tools that the model searches for, and tools that come while a session runs."""
