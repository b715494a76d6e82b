"""Entries to and from other forms: events, text, other programs' lines."""
