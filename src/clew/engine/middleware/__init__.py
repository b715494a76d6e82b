"""Concerns around a step, one file each."""
