"""The team of a session: its tools, what people ask of it, and its life with the session."""
