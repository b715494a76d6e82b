"""Undo: the state of files before each effectful call is kept, so that it can be brought back."""
