"""The file: who may write it, how a line is made, kept and read."""
