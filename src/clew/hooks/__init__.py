"""Hooks: programs of the user that are asked at set moments."""
