"""Permission rules and modes of a session."""
