"""A checkout of its own for the conversation."""
