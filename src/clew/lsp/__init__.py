"""Diagnostics of language servers that the user has: started after an edit, never waited for long."""
