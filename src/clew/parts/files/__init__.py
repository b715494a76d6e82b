"""The names of a project's files."""
