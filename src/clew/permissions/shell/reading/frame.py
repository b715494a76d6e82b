"""Where the lexer stands, and how the pieces it collects become a word."""

from clew.permissions.shell.reading.words import SimpleCommand, Word, WordPiece


class LexerFrame:
    """Where the lexer stands: a command list, a double-quoted string or a parameter expansion."""

    __slots__ = ("array", "close", "command", "heredocs", "kind", "naming", "pending", "pieces", "scope", "start")

    def __init__(self, kind: str, close: str, scope: tuple[int, ...], start: int) -> None:
        self.kind = kind
        self.close = close
        self.scope = scope
        self.command = SimpleCommand(start, scope)
        self.pieces: list[WordPiece] | None = None
        self.start = start
        self.pending: tuple[str, str] | None = None
        self.heredocs: list[tuple[SimpleCommand, int, str, bool, bool]] = []
        self.naming = False
        self.array: tuple[SimpleCommand, str, list[Word]] | None = None
        """What stands here are the words of an array: whose, its name, and those that were read."""


def merged(pieces: list[WordPiece]) -> tuple[WordPiece, ...]:
    if len(pieces) < 2:
        return tuple(pieces)
    merged: list[WordPiece] = []
    run: list[str] = []
    kind = pieces[0].kind
    for piece in pieces:
        if run and (piece.kind != kind or kind not in ("bare", "quoted")):
            merged.append(WordPiece(kind, "".join(run)))
            run = []
        kind = piece.kind
        run.append(piece.text)
    merged.append(WordPiece(kind, "".join(run)))
    return tuple(merged)


def value_of(word: Word, offset: int) -> Word:
    """The value of an assignment word."""
    first = word.pieces[0]
    rest = WordPiece("bare", first.text[offset:]) if first.kind == "bare" else WordPiece("opaque", "")
    return Word(word.raw[offset:], (rest, *word.pieces[1:]))
