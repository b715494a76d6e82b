"""Slash commands: text in, lines and ops out."""
