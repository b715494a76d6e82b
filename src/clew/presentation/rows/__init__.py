"""Passages as rows of styled text."""
