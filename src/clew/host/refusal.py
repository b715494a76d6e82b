"""An op that is not done."""

from clew.protocol.lookup_events import SessionRow


class OpRefused(Exception):
    """The op cannot be done; the words are for a person."""


class SeveralFit(Exception):
    """Several sessions are meant by what was given; a person chooses one."""

    def __init__(self, rows: tuple[SessionRow, ...]) -> None:
        super().__init__(f"{len(rows)} sessions fit")
        self.rows = rows
