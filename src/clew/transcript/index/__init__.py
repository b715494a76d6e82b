"""The index of all sessions: a cache for lists and search, and making room."""
