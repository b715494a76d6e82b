"""The log: write, read, repair, index, search."""
