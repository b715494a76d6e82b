"""Going through the history with the arrow keys: what was typed waits below the newest item."""

from collections.abc import Callable


class HistoryBrowser:
    """With something typed, only the items that start with it. Any edit ends the walk where it stands."""

    def __init__(self, items: Callable[[], list[str]]) -> None:
        self._all = items
        self._items: list[str] = []
        self._at = 0
        self._typed = ""
        self._shown: str | None = None

    @property
    def active(self) -> bool:
        """Whether an item stands in the prompt."""
        return self._shown is not None

    def older(self, text: str) -> str | None:
        """The item above; None when there is none."""
        self._follow(text)
        if self._at == 0:
            return None
        self._at -= 1
        return self._show(self._items[self._at])

    def newer(self, text: str) -> str | None:
        """The item below; below the newest, what was typed before."""
        if self._shown is None or self._shown != text:
            return None
        self._at += 1
        if self._at < len(self._items):
            return self._show(self._items[self._at])
        self.reset()
        return self._typed

    def shown_as(self, text: str) -> None:
        """The item stands in the prompt in this form."""
        self._shown = text

    def reset(self) -> None:
        """The next step starts anew."""
        self._shown = None
        self._items = []
        self._at = 0

    def _follow(self, text: str) -> None:
        if self._shown is not None and self._shown == text:
            return
        self._typed = text
        self._items = [item for item in self._all() if item.startswith(text) and item != text]
        self._at = len(self._items)
        self._shown = text

    def _show(self, item: str) -> str:
        self._shown = item
        return item
