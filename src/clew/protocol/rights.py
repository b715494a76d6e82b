"""What a connection may do at a session. Checked in one place: `host/connection.py`."""

from enum import IntEnum


class Rights(IntEnum):
    """Each includes those before it."""

    WATCH = 1
    """Hear what happens and look things up."""
    ANSWER = 2
    """Also answer what waits for a person."""
    DRIVE = 3
    """Also prompt, interrupt, change what is in force, and end the session."""

    @property
    def word(self) -> str:
        """For people and for the wire."""
        return self.name.lower()


def rights_of(word: str) -> Rights | None:
    """The rights of this name; None for a word that is none."""
    return next((rights for rights in Rights if rights.word == word), None)
