"""Trying a server or a model, and what was found out."""
