"""Memory files in a session."""
