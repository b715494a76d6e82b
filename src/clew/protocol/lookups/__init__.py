"""Lookups by topic, each class beside the class of its answer."""
