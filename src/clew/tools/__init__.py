"""Builtin tools: one `.py` and one `.md` each."""
