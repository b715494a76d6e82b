"""What the lexer hands out: words made of pieces, redirections and commands."""

import re
from typing import Literal, NamedTuple

PieceKind = Literal["bare", "quoted", "var", "opaque"]
_GLOB = re.compile(r"[*?\[]")
_RANGE = re.compile(r"([^{}]*)\{(0|[1-9]\d{0,4}|[A-Za-z])\.\.(0|[1-9]\d{0,4}|[A-Za-z])\}([^{}]*)")
_MAX_RANGE = 64
_BRACES = re.compile(r"\{([^{}]*(?:,|\.\.)[^{}]*)\}")


class WordPiece(NamedTuple):
    """A stretch of a word. `bare` text is open to globbing; `var` holds a name; `opaque` cannot be known."""

    kind: PieceKind
    text: str


class Word(NamedTuple):
    """One word as written (`raw`) and as bash would read it."""

    raw: str
    pieces: tuple[WordPiece, ...]

    @property
    def known(self) -> bool:
        """No expansion: the text is what the program gets, up to globs and a tilde."""
        return all(piece.kind in ("bare", "quoted") for piece in self.pieces)

    @property
    def text(self) -> str:
        """The text with quotes removed; what cannot be known is left out."""
        if len(self.pieces) == 1 and self.pieces[0].kind in ("bare", "quoted"):
            return self.pieces[0].text
        return "".join(piece.text for piece in self.pieces if piece.kind in ("bare", "quoted"))

    @property
    def globs(self) -> bool:
        return any(piece.kind == "bare" and _GLOB.search(piece.text) for piece in self.pieces)

    @property
    def glob_first(self) -> bool:
        """A match could start with a dash and be taken for a flag."""
        first = self.pieces[0] if self.pieces else None
        return first is not None and first.kind == "bare" and bool(_GLOB.match(first.text))

    @property
    def tilde(self) -> bool:
        return bool(self.pieces) and self.pieces[0].kind == "bare" and self.pieces[0].text.startswith("~")

    @property
    def braces(self) -> bool:
        """Bash would turn this into several words."""
        bare = "".join(piece.text if piece.kind == "bare" else "_" for piece in self.pieces)
        return bool(_BRACES.search(bare))

    @property
    def plain(self) -> bool:
        """Written without any quoting."""
        return self.known and self.raw == self.text


def literal(text: str) -> Word:
    """A word that holds exactly this text."""
    return Word(text, (WordPiece("quoted", text),))


def simple_braces(word: Word) -> tuple[Word, ...] | None:
    """The words of one plain comma list or range of numbers; None where there is more to it, so that nothing is
    proven."""
    if not word.braces:
        return (word,)
    if len(word.pieces) != 1:
        return None
    text = word.pieces[0].text
    if ".." in word.raw:
        return _ranged(text)
    found = _BRACES.search(text)
    if found is None or "{" in text[found.end() :] or "{" in text[: found.start()]:
        return None
    before, after = text[: found.start()], text[found.end() :]
    return tuple(Word(new := before + part + after, (WordPiece("bare", new),)) for part in found[1].split(","))


def _ranged(text: str) -> tuple[Word, ...] | None:
    """`a{1..3}b`, up to a bound, without leading zeros and steps."""
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    if not found[2].isdigit():
        letters = (found[2], found[3])
        fits = found[2].islower() == found[3].islower() and found[2] <= found[3] and not found[3].isdigit()
        texts = [f"{found[1]}{chr(code)}{found[4]}" for code in range(*map(ord, letters))] if fits else []
        words = [*texts, f"{found[1]}{found[3]}{found[4]}"]
        return tuple(Word(one, (WordPiece("bare", one),)) for one in words) if fits else None
    if not found[3].isdigit():
        return None
    first, last = int(found[2]), int(found[3])
    numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    if len(numbers) > _MAX_RANGE:
        return None
    texts = [f"{found[1]}{number}{found[4]}" for number in numbers]
    return tuple(Word(one, (WordPiece("bare", one),)) for one in texts)


class Redirect(NamedTuple):
    """`fd op target`; for a heredoc the body, and whether its delimiter was quoted."""

    fd: str
    op: str
    target: Word
    body: str = ""
    quoted: bool = True


class SimpleCommand:
    """One simple command: assignments, words, redirections, and how it hangs in the whole."""

    __slots__ = (
        "arrays",
        "assigns",
        "background",
        "conditional",
        "joined",
        "pipe_from",
        "redirects",
        "scope",
        "start",
        "words",
    )

    def __init__(self, start: int, scope: tuple[int, ...]) -> None:
        self.start = start
        self.scope = scope
        self.assigns: list[tuple[str, Word]] = []
        self.arrays: list[tuple[str, list[Word]]] = []
        """Names that get a list of words in parentheses."""
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.pipe_from: SimpleCommand | None = None
        self.background = False
        self.joined = ""
        """The operator between this command and the one before it in the same list."""
        self.conditional = False
        """Stands after a keyword (if, then, do, ...): it may not run at all."""

    @property
    def empty(self) -> bool:
        return not (self.words or self.assigns or self.redirects)
