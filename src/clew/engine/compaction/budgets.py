"""How much of a window each part of a summary may take. Shares, so that they hold for 8k and for 1M alike."""

from msgspec import Struct

MAX_FILES = 5
MAX_FILE_TOKENS = 5_000
MAX_FILES_TOKENS = 50_000


class Budgets(Struct, frozen=True, kw_only=True):
    """Tokens. What is not used by one part is not given to another, but for files, which take what is left."""

    window: int
    tail: int
    """The newest part that stays word for word."""
    pins: int
    words: int
    """What the user said."""
    state: int
    """Todos, plan, shells, agents, decisions, names of files."""
    sections: int
    files: int
    file: int
    """One file."""

    @property
    def summary(self) -> int:
        """The whole message, with its own words and frames."""
        return self.pins + self.words + self.state + self.sections + self.files + 1_000


def budgets_for(window: int, auto_at: int = 0) -> Budgets:
    """The budgets for a window. `auto_at`: where compaction comes by itself; the tail is three tenths of it."""
    window = max(1_000, window)
    return Budgets(
        window=window,
        tail=(auto_at if auto_at > 0 else window * 85 // 100) * 3 // 10,
        pins=max(window * 5 // 100, min(1_500, window // 10)),
        words=window * 15 // 100 + max(window * 4 // 100, min(1_500, window // 10)),
        state=window * 5 // 100,
        sections=window * 10 // 100,
        files=min(MAX_FILES_TOKENS, window * 8 // 100),
        file=min(MAX_FILE_TOKENS, window * 4 // 100),
    )
