"""The context window of a session."""
