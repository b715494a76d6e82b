"""Checks and status of a session."""
