"""Kinds of agents: what their files say, which of several counts, and the spec that each becomes."""
