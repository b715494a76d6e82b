"""Text for an approval prompt: exactly what will run, with everything visible that would hide or pretend."""

import re

from clew.text.lazy_pattern import LazyPattern
from clew.text.unicode_marks import INVISIBLE, STACKING, UNSHOWN, confusing_scripts

_SHORT = {"\r": "\\r", "\x00": "\\0", "\x07": "\\a", "\x08": "\\b", "\x0b": "\\v", "\x0c": "\\f", "\x1b": "\\e"}
_BLANK_LINES = LazyPattern(r"\n(?:[ \t]*\n){3,}")
_PADDING = LazyPattern(r"[ \t]{24,}")
_RUN = LazyPattern(f"({UNSHOWN.pattern}{{16}}){UNSHOWN.pattern}+")
_WORD = LazyPattern(r"\w++")
_FOREIGN = LazyPattern("[\u0370-\u058f\u13a0-\u13ff\u1f00-\u1fff\u2100-\u214f\uff21-\uff5a\U0001d400-\U0001d7ff]")
_MAX_PASSES = 12
_STACKED = LazyPattern(f"([{STACKING}]{{8}})[{STACKING}]+")


def reveal(text: str, *, max_chars: int = 0) -> str:
    """The text with controls, invisible, bidi and look-alike characters as visible escapes, padding as a note.

    With `max_chars`, a longer text keeps its start and its end around a note of what was cut; `warnings` says so too.
    """
    if max_chars and len(text) > max_chars:
        head, tail = _split(text, max_chars)
        return f"{reveal(head)}\n⟨{len(text) - len(head) - len(tail):,} characters not shown⟩\n{reveal(tail)}"
    text = _BLANK_LINES.sub(lambda run: f"\n⟨{run[0].count(chr(10)) - 1} blank lines⟩\n", text)
    text = _PADDING.sub(lambda run: f"⟨{len(run[0])} blanks⟩", text)
    if not text.isascii():
        if _FOREIGN.search(text):
            text = _WORD.sub(_mark_look_alikes, text)
        text = _STACKED.sub(r"\1⟨more marks⟩", text)
    text = _RUN.sub(r"\1⟨more of these⟩", text)
    unseen = _distinct(UNSHOWN, text)
    if len(unseen) > _MAX_PASSES:
        return text.translate({ord(char): _escape(char) for char in unseen})
    for char in unseen:
        text = text.replace(char, _escape(char))
    return text


def _distinct(pattern: LazyPattern, text: str) -> set[str]:
    """The characters of a class that occur: each distinct character is looked at once, not each place."""
    return set(pattern.findall("".join(set(text))))


def _split(text: str, max_chars: int) -> tuple[str, str]:
    tail = min(max_chars // 3, 2000)
    return text[: max_chars - tail], text[len(text) - tail :]


def _escape(char: str) -> str:
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:X}}}")


def _mark_look_alikes(found: re.Match[str]) -> str:
    word = found[0]
    if not _FOREIGN.search(word) or not confusing_scripts(word):
        return word
    return "".join(char if char.isascii() else f"{char}\\u{{{ord(char):X}}}" for char in word)


def warnings(text: str, *, max_chars: int = 0) -> tuple[str, ...]:
    """What a person should know before deciding on this text; empty for ordinary text."""
    found: list[str] = []
    if _distinct(UNSHOWN, text) - _distinct(INVISIBLE, text):
        found.append("holds control characters, shown as escapes")
    if INVISIBLE.search(text):
        found.append("holds invisible or direction-changing characters, shown as escapes")
    if _FOREIGN.search(text):
        words = (word for word in _WORD.findall(text) if _FOREIGN.search(word))
        mixed = next((scripts for word in words if (scripts := confusing_scripts(word))), ())
        if mixed:
            found.append(f"holds look-alike letters ({', '.join(mixed)}), each marked with its code")
    if _BLANK_LINES.search(text):
        found.append("many blank lines were folded; more text follows them")
    if _PADDING.search(text):
        found.append("long runs of blanks were folded; more text may follow them")
    if max_chars and len(text) > max_chars:
        head, tail = _split(text, max_chars)
        found.append(f"{len(text) - len(head) - len(tail):,} of {len(text):,} characters are not shown")
    return tuple(found)
