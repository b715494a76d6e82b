"""What can go wrong with undo.

UndoError
├── NotKept          content could not be written to the store (full disk, read-only home): told, never fatal
├── ContentMissing   the store does not hold a content any more, or holds it damaged
└── NothingToRestore the point or file asked for has no kept state
"""


class UndoError(Exception):
    """`str(error)` is one line for a person."""


class NotKept(UndoError):
    """The store could not take it."""


class ContentMissing(UndoError):
    """The store cannot give it back."""


class NothingToRestore(UndoError):
    """There is nothing to do."""
