"""Where the lexer stands, and how the pieces it collects become a word."""

from clew.permissions.shell.words import Command, Piece, Word


class Frame:
    """Where the lexer stands: a command list, a double-quoted string or a parameter expansion."""

    __slots__ = ("close", "command", "heredocs", "kind", "last", "naming", "pending", "pieces", "scope", "start")

    def __init__(self, kind: str, close: str, scope: tuple[int, ...], start: int) -> None:
        self.kind = kind
        self.close = close
        self.scope = scope
        self.command = Command(start, scope)
        self.pieces: list[Piece] | None = None
        self.start = start
        self.pending: tuple[str, str] | None = None
        self.heredocs: list[tuple[Command, int, str, bool, bool]] = []
        self.last: Command | None = None
        self.naming = False


def merged(pieces: list[Piece]) -> tuple[Piece, ...]:
    if len(pieces) < 2:
        return tuple(pieces)
    merged: list[Piece] = []
    for piece in pieces:
        if merged and merged[-1].kind == piece.kind and piece.kind in ("bare", "quoted"):
            merged[-1] = Piece(piece.kind, merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return tuple(merged)


def value_of(word: Word, offset: int) -> Word:
    """The value of an assignment word."""
    first = word.pieces[0]
    rest = Piece("bare", first.text[offset:]) if first.kind == "bare" else Piece("opaque", "")
    return Word(word.raw[offset:], (rest, *word.pieces[1:]))
