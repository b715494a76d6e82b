"""Diagnostics of language servers that the user has: started after an edit, asked about that file, never waited for long."""
