"""Skills and custom commands in a session."""
