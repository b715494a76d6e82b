"""Readers of other agents' sessions, read-only at the source."""
