"""Names as they are written in tables: words in a text."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
