"""The session actor: ops in, events out."""
