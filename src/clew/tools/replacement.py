"""Exact replacement in a text whose newlines may be of any kind, and hints when nothing matches."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from clew.system.encoding import dominant_newline
from clew.tools.extras import text_diff

ANY_NEWLINE = "(?:\r\n|\n|\r)"
NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)
MAX_LINES_NAMED = 5


class Replacement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One exact replacement."""

    old_string: str
    new_string: str
    replace_all: Annotated[bool, Meta(description="Every occurrence")] = False


class NoReplacement(ValueError):
    """An edit does not apply; the message tells the model why and how to mend it."""


def apply_all(text: str, wanted: tuple[Replacement, ...]) -> tuple[str, int]:
    """The text after all edits in order, and how many places changed. Raises before anything is lost."""
    count = 0
    for number, edit in enumerate(wanted, 1):
        try:
            text, places = apply(text, edit)
        except NoReplacement as error:
            if len(wanted) == 1:
                raise
            raise NoReplacement(f"edit {number} of {len(wanted)}: {error} No edit of this call was applied.") from None
        count += places
    return text, count


def apply(text: str, edit: Replacement) -> tuple[str, int]:
    """One edit."""
    if edit.old_string == edit.new_string:
        raise NoReplacement("old_string and new_string are the same.")
    if not edit.old_string:
        if text.strip():
            raise NoReplacement("old_string is empty, but the file has content. Give the text to replace.")
        return edit.new_string, 1
    spans = find(text, edit.old_string)
    if not spans:
        raise NoReplacement("old_string was not found. " + hint(text, edit.old_string))
    if len(spans) > 1 and not edit.replace_all:
        lines = ", ".join(str(line_of(text, start)) for start, _ in spans[:MAX_LINES_NAMED])
        more = ", …" if len(spans) > MAX_LINES_NAMED else ""
        raise NoReplacement(
            f"old_string matches {len(spans)} places (lines {lines}{more}). "
            "Add surrounding lines to make it unique, or set replace_all."
        )
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces += (text[position:start], in_style(edit.new_string, text[start:end], text))
        position = end
    return "".join(pieces) + text[position:], len(spans)


def find(text: str, old: str) -> list[tuple[int, int]]:
    """Where `old` stands, without overlaps. Newlines match whatever newline the file has there."""
    if "\r" not in text and "\r" not in old:
        pattern = re.escape(old)
    else:
        pattern = ANY_NEWLINE.join(re.escape(line) for line in re.split(ANY_NEWLINE, old))
        if old.startswith("\n"):
            pattern = pattern.replace(ANY_NEWLINE, "(?:\r\n|(?<!\r)\n|\r)", 1)
    return [match.span() for match in re.finditer(pattern, text)]


def in_style(new: str, replaced: str, text: str) -> str:
    """The new text with the newlines of what it replaces, or of the file when that has none."""
    if "\r" not in text:
        return new
    newline = dominant_newline(replaced if "\n" in replaced or "\r" in replaced else text)
    return re.sub(ANY_NEWLINE, lambda _: newline, new)


def line_of(text: str, position: int) -> int:
    """Line number, from 1."""
    return len(re.findall(ANY_NEWLINE, text[:position])) + 1


def hint(text: str, old: str) -> str:
    """What is probably wrong."""
    if NUMBERED.match(old):
        return "It seems to contain line numbers; leave them out."
    lines = re.split(ANY_NEWLINE, text)
    wanted = [line.strip() for line in old.split("\n")]
    stripped = [line.strip() for line in lines]
    while wanted and not wanted[0]:
        wanted.pop(0)
    while wanted and not wanted[-1]:
        wanted.pop()
    if not wanted:
        return "It is only white space."
    for index in range(len(lines) - len(wanted) + 1):
        if stripped[index : index + len(wanted)] == wanted:
            return f"Lines {index + 1}-{index + len(wanted)} match except for white space; copy the text exactly."
    near = text_diff().nearest_line(wanted[0], lines)
    if near is None:
        return "No similar line exists. Read the file again."
    return (
        f"The nearest line is {near + 1}: {lines[near].strip()[:200]!r}. Read the file again and copy the text exactly."
    )
