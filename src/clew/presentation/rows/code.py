"""Code with its words marked: keywords, strings, comments, names, numbers. Languages are known by pygments."""

from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, Token
from pygments.util import ClassNotFound

from clew.presentation.rows.spans import Row, Span, merged

MAX_CHARS = 60_000
"""Longer code is shown without marks: it would hold up the screen."""
_STYLES = (
    (Comment, "code-comment"),
    (Keyword, "code-keyword"),
    (Operator.Word, "code-keyword"),
    (String, "code-string"),
    (Number, "code-number"),
    (Literal, "code-string"),
    (Name.Function, "code-name"),
    (Name.Class, "code-name"),
    (Name.Decorator, "code-name"),
    (Name.Tag, "code-name"),
    (Token, ""),
)


def highlighted(text: str, language: str = "", *, path: str = "") -> list[Row]:
    """One row per line, without their newlines. The text is safe already."""
    lexer = _by_name(language) if language else _by_file(path.rpartition("/")[2]) if path else None
    if lexer is None or len(text) > MAX_CHARS:
        return [(Span(line, "code"),) if line else () for line in text.split("\n")]
    rows: list[Row] = []
    current: list[Span] = []
    for kind, value in lexer.get_tokens(text):
        style = next(style for token, style in _STYLES if kind in token) or "code"
        for number, piece in enumerate(value.split("\n")):
            if number:
                rows.append(merged(current))
                current = []
            current.append(Span(piece, style))
    rows.append(merged(current))
    wanted = text.count("\n") + 1
    return [*rows, *[()] * wanted][:wanted]  # lexers end every text with a newline


@lru_cache(maxsize=64)
def _by_name(language: str) -> Lexer | None:
    try:
        return find_lexer_class_by_name(language)(stripnl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _by_file(name: str) -> Lexer | None:
    found = find_lexer_class_for_filename(name)
    return found(stripnl=False) if found is not None else None
