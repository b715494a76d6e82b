"""The output boundary: untrusted text on its way to a terminal, a title or an approval prompt.

`sanitize` is for everything that is shown. Escape sequences disappear, link targets become visible, controls become
a replacement character, bidi and tag characters become visible marks. `reveal` is for prompts that
a person decides on. Colours are added by front ends around sanitised text, never taken from it.

Text for an approval prompt: exactly what will run, with everything visible that would hide or pretend.
"""

import codecs
import re
from collections.abc import Iterator
from unicodedata import category, east_asian_width

from clew.text.lazy_pattern import LazyPattern
from clew.text.unicode_marks import (
    BIDI,
    CARRIER,
    CONTROL,
    CONTROLS,
    INVISIBLE,
    JOINABLE,
    JOINERS,
    LINE_SEPARATORS,
    PICTOGRAPH,
    SELECTORS,
    STACKING,
    SURROGATES,
    TAGS,
    UNSHOWN,
    WANTED,
    ZERO_WIDTH,
    confusing_scripts,
    is_combining,
)

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


_SHORT = {"\r": "\\r", "\x00": "\\0", "\x07": "\\a", "\x08": "\\b", "\x0b": "\\v", "\x0c": "\\f", "\x1b": "\\e"}
_BLANK_LINES = LazyPattern(r"\n(?:[ \t]*\n){3,}")
_PADDING = LazyPattern(r"[ \t]{24,}")
_RUN = LazyPattern(f"({UNSHOWN.pattern}{{16}}){UNSHOWN.pattern}+")
_WORD = LazyPattern(r"\w++")
_FOREIGN = LazyPattern("[\u0370-\u058f\u13a0-\u13ff\u1f00-\u1fff\u2100-\u214f\uff21-\uff5a\U0001d400-\U0001d7ff]")
_MAX_REVEAL_PASSES = 12
_SHOWN_STACKS = LazyPattern(f"([{STACKING}]{{8}})[{STACKING}]+")


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
        text = _SHOWN_STACKS.sub(r"\1⟨more marks⟩", text)
    text = _RUN.sub(r"\1⟨more of these⟩", text)
    unseen = _distinct(UNSHOWN, text)
    if len(unseen) > _MAX_REVEAL_PASSES:
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


__all__ = [
    "StreamSanitizer",
    "attachment_label",
    "between_columns",
    "clip",
    "clusters",
    "display_width",
    "reveal",
    "sanitize",
    "warnings",
]

_REPLACEMENT = "\ufffd"
_MAX_TABS = 32
_MAX_MARKS = 8
_MAX_HELD = 4096
_MAX_PASSES = 12
_MAX_JOINT = 64

# Payloads of string sequences hold no control characters, so a match never runs past another sequence and an
# unterminated one cannot swallow what follows: only its introducer goes.
_PAYLOAD = r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]*+"
_STRING_END = r"(?:\x07|\x1b\\|\x9c)"
_LINK = LazyPattern(rf"(?:\x1b\]|\x9d)8;[^;\x00-\x1f\x7f-\x9f]*;({_PAYLOAD}){_STRING_END}")
_SEQUENCE = LazyPattern(
    rf"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_PAYLOAD}{_STRING_END}"
    r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    r"|\x1b[\]PX^_]"
    r"|\x1b[ -/]*+[0-OQ-WYZ`-~\\]"
)
_UNFINISHED = LazyPattern(
    rf"(?:(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_PAYLOAD}\x1b?|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+|\x1b[ -/]*+)\Z"
)
# Whether a joiner or selector is wanted is seen from both its neighbours, so all three stay together.
_JOINT = f"{JOINERS}{SELECTORS}"
_HELD_JOINT = LazyPattern(rf"(?:[^{_JOINT}]?+[{_JOINT}]++)+[^{_JOINT}]?\Z|{JOINABLE.pattern}\Z", re.DOTALL)
_INTRODUCER = LazyPattern("[\x1b\x90\x98\x9b\x9d-\x9f]")
_STRAY = LazyPattern(f"[{CONTROLS}{SURROGATES}]+")
_MARKED = LazyPattern(f"[{BIDI}{TAGS}]")
_MARK_RUN = LazyPattern(f"([{BIDI}{TAGS}]{{4}})[{BIDI}{TAGS}]+")
_HIDDEN = LazyPattern(f"[{ZERO_WIDTH}]")
_MAY_BE_WANTED = LazyPattern(f"[{JOINERS}{SELECTORS}\U000e0100-\U000e01ef]")
_UNWANTED = LazyPattern(f"(?=[{ZERO_WIDTH}])(?!{WANTED.pattern}).", re.DOTALL)
_TAB_BOMB = LazyPattern(rf"\t{{{_MAX_TABS + 1},}}")
_STACKED = LazyPattern(f"([{STACKING}]{{{_MAX_MARKS}}})[{STACKING}]+")
_LINE_END = LazyPattern(rf"\r\n?|[\x0b\x0c\x85{LINE_SEPARATORS}]")


def sanitize(text: str | bytes, *, one_line: bool = False) -> str:
    """The text with nothing left that a terminal obeys or a reader cannot see. `one_line`: newlines become a mark."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if (CONTROL if text.isascii() else UNSHOWN).search(text):
        text = _clean(text)
    if "\t" * (_MAX_TABS + 1) in text:
        text = _TAB_BOMB.sub(lambda run: f"{' ' * 8}<{len(run[0])} tabs>", text)
    if not text.isascii():
        text = _STACKED.sub(r"\1", text)
    if one_line:
        text = text.strip("\n").replace("\n", "⏎").replace("\t", " ")
    return text


def _clean(text: str) -> str:
    if _INTRODUCER.search(text):
        text = _LINK.sub(lambda link: f"<{link[1]}> " if link[1] else "", text)
        text = _SEQUENCE.sub("", text)
    text = _STRAY.sub(_REPLACEMENT, _LINE_END.sub("\n", text))
    return text if text.isascii() else _without_unseen(text)


def _without_unseen(text: str) -> str:
    """Marks become visible, zero-width characters go. Looks at each distinct character once, not at each place."""
    distinct = set(text)
    unseen = set(UNSHOWN.findall("".join(distinct)))
    marks = {mark: f"<U+{ord(mark):04X}>" for mark in unseen if _MARKED.match(mark)}
    if marks:
        text = _replaced(_MARK_RUN.sub(r"\1<more of these>", text), marks)
    hidden = {char: "" for char in unseen if _HIDDEN.match(char)}
    if not hidden:
        return text
    carriers = "".join(distinct - unseen)
    if _MAY_BE_WANTED.search("".join(hidden)) and CARRIER.search(carriers):
        return _UNWANTED.sub("", text)
    return _replaced(text, hidden)


def _replaced(text: str, values: dict[str, str]) -> str:
    """One fast pass per character while they are few, one slow pass for all when they are many."""
    if len(values) > _MAX_PASSES:
        return text.translate({ord(char): value for char, value in values.items()})
    for char, value in values.items():
        text = text.replace(char, value)
    return text


class StreamSanitizer:
    """Sanitises text that arrives in chunks: a sequence cut by a chunk border is held until its rest arrives."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, chunk: str | bytes) -> str:
        """What can be shown so far."""
        text = self._held + (self._decoder.decode(chunk) if isinstance(chunk, bytes) else chunk)
        cut = self._cut(text)
        if len(text) - cut > _MAX_HELD:
            cut = len(text)
        self._held = text[cut:]
        return sanitize(text[:cut])

    def flush(self) -> str:
        """The rest, at the end of the stream."""
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return sanitize(text)

    def _cut(self, text: str) -> int:
        """Where the part begins that may only be understood with what follows."""
        start = max(text.rfind(mark) for mark in "\x1b\x9b\x9d\x90\x98\x9e\x9f")
        if start > 0 and text[start] == "\x1b" and text.endswith("\x1b"):
            # An ESC at the very end may be half of a string terminator.
            start = max(max(text.rfind(mark, 0, start) for mark in "\x1b\x9d\x90\x98\x9e\x9f"), -1)
            start = start if start >= 0 and _UNFINISHED.match(text, start) else len(text) - 1
        if start >= 0 and _UNFINISHED.match(text, start):
            return start
        if text.endswith("\r"):
            return len(text) - 1
        joint = _HELD_JOINT.search(text, max(0, len(text) - _MAX_JOINT))
        return joint.start() if joint else len(text)


_MEDIA_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain", "application/json"}
)


def attachment_label(media_type: str, name: str) -> str:
    """A placeholder for an attachment; a type that is not on the fixed list never enters it."""
    kind = media_type if media_type in _MEDIA_TYPES else "file"
    shown = sanitize(name, one_line=True).replace("[", "(").replace("]", ")")
    return f"[{kind}: {clip(shown, 80)}]" if shown else f"[{kind}]"
