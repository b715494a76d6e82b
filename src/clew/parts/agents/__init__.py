"""Tasks of a session: work beside its turns."""
