"""Brace expansion as bash does it, for the side that must see every word a text may become."""

import re

from clew.permissions.shell.reading.words import Word, WordPiece

MAX_WORDS = 64
_MAX_DEPTH = 12
_MARK = re.compile(r"[{},]")
_RANGE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.-?\d{1,6})?")

_Token = str | WordPiece
"""A brace or comma that bash would see, or a stretch of the word."""


def expand_braces(word: Word) -> tuple[Word, ...] | None:
    """Every word this one becomes; None where there are too many or they nest too deep."""
    if not word.braces:
        return (word,)
    tokens: list[_Token] = []
    for piece in word.pieces:
        if piece.kind != "bare":
            tokens.append(piece)
            continue
        at = 0
        for mark in _MARK.finditer(piece.text):
            if mark.start() > at:
                tokens.append(WordPiece("bare", piece.text[at : mark.start()]))
            tokens.append(mark[0])
            at = mark.end()
        if at < len(piece.text):
            tokens.append(WordPiece("bare", piece.text[at:]))
    if len(tokens) > 400:
        return None
    found = _alternatives(tokens, 0)
    if found is None:
        return None
    return tuple(Word("".join(piece.text for piece in pieces), tuple(pieces)) for pieces in found)


def _alternatives(tokens: list[_Token], depth: int) -> list[list[WordPiece]] | None:
    if depth > _MAX_DEPTH:
        return None
    out: list[list[WordPiece]] = [[]]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        choices: list[list[WordPiece]] | None = [[token if isinstance(token, WordPiece) else WordPiece("bare", token)]]
        if token == "{" and (end := _closing(tokens, at)):
            body = tokens[at + 1 : end]
            inner = _choices(body, depth)
            if inner is None:
                return None
            if inner:
                choices, at = inner, end
        out = [before + choice for before in out for choice in choices]
        if len(out) > MAX_WORDS:
            return None
        at += 1
    return out


def _closing(tokens: list[_Token], at: int) -> int:
    level = 0
    for index in range(at, len(tokens)):
        level += (tokens[index] == "{") - (tokens[index] == "}")
        if level == 0:
            return index
    return 0


def _choices(body: list[_Token], depth: int) -> list[list[WordPiece]] | None:
    """What stands between braces: a comma list, a range, or nothing that bash would expand (an empty list)."""
    parts: list[list[_Token]] = [[]]
    level = 0
    for token in body:
        level += (token == "{") - (token == "}")
        if token == "," and level == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) == 1:
        return _ranged(body)
    out: list[list[WordPiece]] = []
    for part in parts:
        found = _alternatives(part, depth + 1)
        if found is None:
            return None
        out += found
    return out


def _ranged(body: list[_Token]) -> list[list[WordPiece]] | None:
    if len(body) != 1 or not isinstance(body[0], WordPiece):
        return []
    found = _RANGE.fullmatch(body[0].text)
    if found is None:
        return []
    first, last = found[1], found[2]
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = sorted((int(first), int(last)))
        if high - low >= MAX_WORDS:
            return None
        return [[WordPiece("bare", str(number))] for number in range(low, high + 1)]
    if len(first) == len(last) == 1:
        low, high = sorted((ord(first), ord(last)))
        return [[WordPiece("bare", chr(code))] for code in range(low, high + 1)][:MAX_WORDS]
    return []
