"""Slash commands, one file each: text in, ops or lines out."""
