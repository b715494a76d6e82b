"""The builtin tools: one file of code and one of words each."""
