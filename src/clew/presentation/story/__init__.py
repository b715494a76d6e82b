"""The story of a session, folded from events."""
