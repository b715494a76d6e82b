"""Bytes to and from a model's server."""
