"""Labels, titles and recaps of a session."""
