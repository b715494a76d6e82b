"""Proving that a command only reads what it may."""
