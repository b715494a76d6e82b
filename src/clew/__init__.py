"""clew: a coding agent for the terminal that never loses the thread."""

__version__ = "0.1.0"
