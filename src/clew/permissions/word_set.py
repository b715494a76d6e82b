"""Sets of names, written as plain words."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text, split at blanks."""
    return frozenset(words.split())
