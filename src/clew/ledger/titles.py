"""The session's title in the log: the last one of each kind, the user's first."""

from typing import Literal

from clew.protocol.entries import AiTitleEntry, CustomTitleEntry


class TitleFold:
    """Titles as they were written."""

    def __init__(self) -> None:
        self._own = ""
        self._made = ""
        self._made_by: Literal["facts", "model"] = "facts"

    def feed(self, entry: CustomTitleEntry | AiTitleEntry) -> None:
        """A title was set."""
        if isinstance(entry, CustomTitleEntry):
            self._own = entry.custom_title
        else:
            self._made, self._made_by = entry.ai_title, entry.source

    def current(self) -> tuple[str, Literal["", "user", "facts", "model"]]:
        """The title in force and who made it."""
        if self._own:
            return self._own, "user"
        return (self._made, self._made_by) if self._made else ("", "")
