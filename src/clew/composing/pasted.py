"""Long pastes: folded into a short token in the text, whole again when it is sent."""

import re
from collections.abc import Callable, Iterator

from clew.text.terminal_text import sanitize

FOLD_CHARS = 1000
FOLD_LINES = 10
MAX_SHOWN_CHARS = 20_000
"""Text from elsewhere (an editor, the history, a draft) is shown up to here and folded beyond: keys stay quick."""
MAX_LINE_CHARS = 4000
"""A line is wrapped anew on every key in it."""
MAX_KEPT_CHARS = 50_000_000
"""All pastes of a session together; beyond, the oldest are forgotten."""

_TOKEN = re.compile(r"\[pasted #[1-9][0-9]{0,8}: [0-9,]+ (?:lines|characters)\]")


class Pastes:
    """The folded texts of one session by number. A number is never used twice."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._tokens: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._last = 0
        self._chars = 0

    def __len__(self) -> int:
        return len(self._texts)

    def fold(self, text: str) -> str:
        """Keep this text; the token that stands for it, the same one for the same text."""
        known = self._numbers.get(text)
        if known is not None:
            return token(known, text)
        number = self._last + 1
        self._keep(number, text)
        while self._chars > MAX_KEPT_CHARS and len(self._texts) > 1:
            oldest = next(iter(self._texts))
            gone = self._texts.pop(oldest)
            self._tokens.pop(token(oldest, gone))
            self._numbers.pop(gone, None)
            self._chars -= len(gone)
        return token(number, text)

    def adopt(self, text: str, texts: dict[int, str]) -> str:
        """A text from elsewhere with the pastes folded in it: the text with tokens of our own."""
        theirs = Pastes()
        for number, pasted in texts.items():
            theirs._keep(number, pasted)
        return theirs._replaced(text, lambda number: self.fold(texts[number]))

    def _keep(self, number: int, text: str) -> None:
        self._texts[number] = text
        self._tokens[token(number, text)] = number
        self._numbers[text] = number
        self._chars += len(text)
        self._last = max(self._last, number)

    def spans(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Start, end and number of each whole token of ours in the text. One that was edited is only text."""
        if self._texts:
            for match in _TOKEN.finditer(text):
                number = self._tokens.get(match[0])
                if number is not None:
                    yield match.start(), match.end(), number

    def used(self, text: str) -> dict[int, str]:
        """The pastes that stand in the text."""
        return {number: self._texts[number] for _, _, number in self.spans(text)}

    def expand(self, text: str) -> str:
        """The text with every token replaced by what it stands for."""
        return self._replaced(text, lambda number: self._texts[number])

    def told(self, text: str) -> str:
        """The text for a place that cannot keep the pastes: what stood there is said, in words that are no token."""
        return self._replaced(text, lambda number: f"({size_of(self._texts[number])} of pasted text, not kept)")

    def _replaced(self, text: str, by: Callable[[int], str]) -> str:
        parts: list[str] = []
        done = 0
        for start, end, number in self.spans(text):
            parts += (text[done:start], by(number))
            done = end
        return "".join((*parts, text[done:])) if parts else text

    def widened(self, line: str, start: int, end: int) -> tuple[int, int]:
        """A range of a line, made larger until it holds each token it touches as a whole."""
        for first, last, _ in self.spans(line):
            if start < last and end > first:
                start, end = min(start, first), max(end, last)
        return start, end


def token(number: int, text: str) -> str:
    """What stands in the prompt for a long paste."""
    return f"[pasted #{number}: {size_of(text)}]"


def size_of(text: str) -> str:
    """How much it is, for people."""
    lines = text.count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"


def as_pasted(text: str) -> str:
    """Line ends as ours; lone surrogates, which no file and no request can hold, replaced."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_long(text: str) -> bool:
    """Whether a paste is folded: it is long, or it holds characters that a terminal would obey or not show."""
    return len(text) > FOLD_CHARS or text.count("\n") >= FOLD_LINES or not is_showable(text)


def is_showable(text: str) -> bool:
    """Whether the text can stand in the prompt as it is. What cannot is folded, so that it is still sent exactly."""
    if len(text) > MAX_SHOWN_CHARS or sanitize(text) != text:
        return False
    return len(text) <= MAX_LINE_CHARS or max(map(len, text.split("\n"))) <= MAX_LINE_CHARS
