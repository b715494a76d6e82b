"""Bytes of the terminal on their way to Textual: pastes in one piece, Alt with any key at once, no byte that ends us.

Textual looks at a paste character by character (five seconds for five megabytes), takes Alt-Enter of most terminals for
Enter, and stops with an error at a byte that is not UTF-8.
"""

from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

PASTE_START = "\x1b[200~"
PASTE_END = "\x1b[201~"

_ALT_NAMES = {"\r": "alt+enter", "\n": "alt+enter", "\x7f": "alt+backspace", "\x08": "alt+backspace", "\t": "alt+tab"}
_ALT_SIGNS = {"<": "less_than_sign", ">": "greater_than_sign", "_": "underscore", ".": "full_stop", ",": "comma"}


class InputParser(XTermParser):
    """Textual's parser with two shortcuts before it."""

    def __init__(self) -> None:
        super().__init__(debug=False)
        self._pasted: list[str] | None = None

    @property
    def is_waiting(self) -> bool:
        """Half a sequence was read: time alone may end it."""
        return self._timeout_time is not None

    def feed(self, data: str) -> Iterable[Message]:
        """The events that are complete so far. Empty data is the end of the input."""
        if not data:
            yield from super().feed(data)
        while data:
            if self._pasted is None:
                keys, mark, data = data.partition(PASTE_START)
                if keys:
                    yield from super().feed(keys)
                if mark:
                    self._pasted = []
            else:
                data = self._take(data)
                if self._pasted_whole:
                    yield events.Paste("".join(self._pasted).replace("\x00", ""))
                    self._pasted = None

    def _take(self, data: str) -> str:
        """Move pasted text over; what is left after its end."""
        assert self._pasted is not None
        # The mark of the end may be cut by the border of two reads.
        tail = self._pasted.pop() if self._pasted and len(self._pasted[-1]) < len(PASTE_END) else ""
        body, mark, rest = (tail + data).partition(PASTE_END)
        self._pasted_whole = bool(mark)
        if mark:
            self._pasted.append(body)
            return rest
        keep = len(PASTE_END) - 1
        self._pasted += (body[:-keep], body[-keep:])
        return ""

    _pasted_whole = False

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Escape and one more character is Alt with that key, told at once instead of after a pause."""
        key = _alt_key(sequence)
        if key:
            return iter((events.Key(key, None),))
        return super()._sequence_to_key_events(sequence, alt)


def _alt_key(sequence: str) -> str:
    if len(sequence) != 2 or sequence[0] != "\x1b":
        return ""
    char = sequence[1]
    if char in _ALT_NAMES:
        return _ALT_NAMES[char]
    if char in _ALT_SIGNS:
        return f"alt+{_ALT_SIGNS[char]}"
    # Capitals begin longer sequences: ESC O and ESC P belong to terminals.
    return f"alt+{char}" if char.isascii() and (char.islower() or char.isdigit()) else ""
