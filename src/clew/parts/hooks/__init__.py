"""The user's hooks in a session."""
