"""Going back in a session: files and conversation."""
