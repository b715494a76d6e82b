"""Searching files: ripgrep, or Python in a process of its own."""
