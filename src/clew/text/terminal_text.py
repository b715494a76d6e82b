"""The output boundary: untrusted text on its way to a terminal, a title or an approval prompt.

`sanitize` is for everything that is shown. Escape sequences disappear, link targets become visible, controls become
a replacement character, bidi and tag characters become visible marks. `reveal` (terminal_reveal.py) is for prompts that
a person decides on. Colours are added by front ends around sanitised text, never taken from it.
"""

import codecs
import re

from clew.text.lazy_pattern import LazyPattern
from clew.text.terminal_reveal import reveal, warnings
from clew.text.terminal_width import clip, display_width
from clew.text.unicode_marks import (
    BIDI,
    CARRIER,
    CONTROL,
    CONTROLS,
    JOINABLE,
    JOINERS,
    LINE_SEPARATORS,
    SELECTORS,
    STACKING,
    SURROGATES,
    TAGS,
    UNSHOWN,
    WANTED,
    ZERO_WIDTH,
)

__all__ = ["StreamSanitizer", "attachment_label", "clip", "display_width", "reveal", "sanitize", "warnings"]

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
