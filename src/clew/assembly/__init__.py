"""Where a session is put together from its parts."""
