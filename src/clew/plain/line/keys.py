"""Bytes of a terminal into keys: UTF-8, escape sequences of the common terminals, bracketed paste."""

import codecs
from collections.abc import Iterator

from msgspec import Struct

PASTE_START = "\x1b[200~"
PASTE_END = "\x1b[201~"
MAX_SEQUENCE = 32

_CONTROLS = {
    "\r": "enter",
    "\n": "enter",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x01": "home",
    "\x02": "ctrl-b",
    "\x04": "ctrl-d",
    "\x05": "end",
    "\x06": "right",
    "\x0b": "kill-end",
    "\x0c": "clear-screen",
    "\x0e": "down",
    "\x10": "up",
    "\x12": "search",
    "\x15": "kill-start",
    "\x17": "kill-word",
    "\x19": "yank",
}
_SEQUENCES = {
    "[A": "up",
    "[B": "down",
    "[C": "right",
    "[D": "left",
    "[H": "home",
    "[F": "end",
    "[1~": "home",
    "[7~": "home",
    "[4~": "end",
    "[8~": "end",
    "[3~": "delete",
    "[1;5C": "word-right",
    "[1;5D": "word-left",
    "[1;3C": "word-right",
    "[1;3D": "word-left",
    "[Z": "shift-tab",
    "[1;3A": "alt-up",
    "\x1b[A": "alt-up",
    "OA": "up",
    "OB": "down",
    "OC": "right",
    "OD": "left",
    "OH": "home",
    "OF": "end",
}
_META = {
    "b": "word-left",
    "f": "word-right",
    "\x7f": "kill-word",
    "\x08": "kill-word",
    "\r": "newline",
    "\n": "newline",
}


class Key(Struct, frozen=True):
    """`name` says what the key does; `text` holds what `char` and `paste` insert."""

    name: str
    text: str = ""


class KeyDecoder:
    """Feeds on chunks as they arrive; a sequence cut by a chunk border waits for its rest."""

    def __init__(self) -> None:
        # surrogateescape keeps an invalid byte as a lone surrogate, so that it can be told from a typed one.
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._pending = ""
        self._paste: list[str] | None = None

    def feed(self, data: bytes) -> list[Key]:
        """The keys that are complete so far."""
        self._pending += self._utf8.decode(data)
        return list(self._keys())

    def reset(self) -> None:
        """Forget what is half-read."""
        self._utf8.reset()
        self._pending, self._paste = "", None

    @property
    def in_doubt(self) -> bool:
        """An Esc came that may be a key of its own, or the start of a longer one."""
        return self._paste is None and self._pending.startswith("\x1b")

    def settle(self) -> list[Key]:
        """Nothing follows: Esc was a key of its own. The start of a longer one that never came is dropped."""
        if not self.in_doubt:
            return []
        waiting, self._pending = self._pending, ""
        return [Key("escape")] * len(waiting) if not waiting.strip("\x1b") else []

    def _keys(self) -> Iterator[Key]:
        while self._pending:
            if self._paste is not None:
                if not self._take_paste():
                    return
                yield Key("paste", _pasted("".join(self._paste)))
                self._paste = None
                continue
            if self._pending[0] != "\x1b":
                char, self._pending = self._pending[0], self._pending[1:]
                yield _plain_key(char)
                continue
            length = _sequence_length(self._pending)
            if length == 0:
                return
            sequence, self._pending = self._pending[:length], self._pending[length:]
            if sequence == PASTE_START:
                self._paste = []
            else:
                yield from _sequence_key(sequence)

    def _take_paste(self) -> bool:
        """Move pasted text over; true when its end was found."""
        assert self._paste is not None
        end = self._pending.find(PASTE_END)
        if end >= 0:
            self._paste.append(self._pending[:end])
            self._pending = self._pending[end + len(PASTE_END) :]
            return True
        # The end mark may be cut by the chunk border: its first characters stay.
        keep = next((size for size in range(5, 0, -1) if self._pending.endswith(PASTE_END[:size])), 0)
        self._paste.append(self._pending[: len(self._pending) - keep])
        self._pending = self._pending[len(self._pending) - keep :]
        return False


def _pasted(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _plain_key(char: str) -> Key:
    if char in _CONTROLS:
        return Key(_CONTROLS[char])
    if "\ud800" <= char <= "\udfff":
        return Key("invalid")
    return Key("ignored") if char < " " else Key("char", char)


def _sequence_length(text: str) -> int:
    """Characters of the escape sequence at the start of the text; 0 while it is incomplete."""
    if len(text) < 2:
        return 0
    if text[1] == "[":
        for index in range(2, min(len(text), MAX_SEQUENCE)):
            if "@" <= text[index] <= "~":
                return index + 1
            if not " " <= text[index] <= "?":
                return index
        return MAX_SEQUENCE if len(text) >= MAX_SEQUENCE else 0
    if text[1] == "O":
        return 3 if len(text) >= 3 else 0
    if text[1] != "\x1b":
        return 2
    # Some terminals send Esc before the sequence of a key that is pressed with Alt.
    if len(text) == 2:
        return 0
    inner = _sequence_length(text[1:]) if text[2] == "[" else 0
    return inner + 1 if inner else 0 if text[2] == "[" else 1


def _sequence_key(sequence: str) -> Iterator[Key]:
    body = sequence[1:]
    if not body:
        yield Key("escape")
    elif body in _SEQUENCES:
        yield Key(_SEQUENCES[body])
    elif body in _META:
        yield Key(_META[body])
    elif len(body) == 1:
        # Escape, then an ordinary key: the escape alone means nothing here, the key must not be lost.
        yield _plain_key(body)
    else:
        yield Key("ignored")
