"""Plan mode in a session."""
