"""Choices of a person that later sessions keep."""
