"""How many columns a text takes, and how to cut it at a column."""

from collections.abc import Iterator
from unicodedata import category, east_asian_width

from clew.text.unicode_marks import PICTOGRAPH, is_combining

_ELLIPSIS = "…"


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """Characters with what is drawn onto them, each with its width."""
    cluster, width, joined, flag = "", 0, False, False
    for char in text:
        code = ord(char)
        if cluster and (joined or is_combining(char) or code in (0x200D, 0xFE0F, 0xFE0E) or 0x1F3FB <= code <= 0x1F3FF):
            cluster += char
            if code == 0xFE0F and PICTOGRAPH.match(cluster):
                width = 2
            joined = code == 0x200D
            continue
        regional = 0x1F1E6 <= code <= 0x1F1FF
        if cluster and flag and regional:
            yield cluster + char, 2
            cluster, flag = "", False
            continue
        if cluster:
            yield cluster, width
        cluster, joined, flag = char, False, regional
        width = 1 if regional else _char_width(char)
    if cluster:
        yield cluster, width


def _char_width(char: str) -> int:
    if char < " " or category(char) in ("Cc", "Cf", "Mn", "Me", "Cs"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1


def display_width(text: str) -> int:
    """Columns of a sanitised line. A tab counts as one: front ends that expand tabs do so before."""
    if text.isascii():
        return len(text) - sum(1 for char in text if char < " " and char != "\t")
    return sum(1 if cluster == "\t" else width for cluster, width in clusters(text))


def clip(text: str, columns: int) -> str:
    """The text if it fits, else its start with an ellipsis; never wider than `columns`."""
    if columns <= 0:
        return ""
    if len(text) * 2 <= columns or display_width(text) <= columns:
        return text
    kept: list[str] = []
    room = columns - 1
    for cluster, width in clusters(text[: columns * 16]):
        width = 1 if cluster == "\t" else width
        if width > room:
            break
        kept.append(cluster)
        room -= width
    return "".join(kept) + _ELLIPSIS


def between_columns(text: str, start: int, end: int) -> str:
    """The characters of which some column lies from `start` up to `end`, with what is drawn onto them."""
    if start >= end or end <= 0:
        return ""
    if text.isascii() and text.isprintable():
        return text[max(start, 0) : end]
    kept: list[str] = []
    at = 0
    for cluster, width in clusters(text):
        if at >= end:
            break
        if at + max(width, 1) > start:
            kept.append(cluster)
        at += width
    return "".join(kept)
