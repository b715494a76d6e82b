"""The log: write, read, index, search."""
