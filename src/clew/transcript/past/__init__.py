"""Going back to a session: which one, from where, in how much memory."""
