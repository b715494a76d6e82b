"""Notices of a session for who does not look."""
