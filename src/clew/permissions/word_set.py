"""Tables of words; the function is shared with the rooms below."""

from clew.system.word_set import word_set

__all__ = ["word_set"]
