"""Secrets in text: taken out before it reaches a log, a debug file or another model (V1), and found before it leaves
the machine, by kind and name, never the value."""

import binascii
from collections.abc import Iterable, Iterator

from msgspec import Struct

from clew.text.lazy_pattern import LazyPattern
from clew.text.secret_shapes import (
    Span,
    assignment_spans,
    key_block_spans,
    may_hold_secret,
    token_kind,
    token_spans,
    url_spans,
)

MARK = "[redacted]"
MIN_VALUE_CHARS = 8
SHORT_CHARS = 512
"""Texts up to this length are looked at once before all shapes are tried, which costs ten times as much."""

_HEX = "0123456789ABCDEF"
_URL_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")


class Redactor:
    """Knows some secrets by value and all by shape."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: list[str] = []
        self.learn(values)

    def learn(self, values: Iterable[str]) -> None:
        """Hide these values from now on, also percent-encoded, in base64, or split over JSON escapes.

        Short values and plain words are not taken: they would black out ordinary text.
        """
        known = set(self._values)
        for value in values:
            stripped = value.strip()
            if len(stripped) >= MIN_VALUE_CHARS and not (stripped.isalpha() and len(stripped) < 12):
                known.update(_forms(stripped))
        self._values = sorted(known, key=len, reverse=True)

    def holds(self, text: str) -> bool:
        """Whether a known value stands in the text."""
        return any(value in text for value in self._values)

    def redact(self, text: str) -> str:
        """The text with every secret replaced by a mark."""
        for value in self._values:
            if value in text:
                text = text.replace(value, MARK)
        if len(text) <= SHORT_CHARS and not may_hold_secret(text):
            return text
        spans = [*token_spans(text), *key_block_spans(text), *url_spans(text), *assignment_spans(text)]
        return _replace(text, spans) if spans else text


_SHARED = Redactor()


def register_secrets(values: Iterable[str]) -> None:
    """Make values known to `redact` for the rest of the process. One list for all sinks: none can forget it."""
    _SHARED.learn(values)


def redact(text: str) -> str:
    """The text without secrets: registered values, and whatever has the shape of one."""
    return _SHARED.redact(text)


def holds_known_value(text: str) -> bool:
    """Whether a registered secret stands in the text, in any of the forms it travels in."""
    return _SHARED.holds(text)


def _replace(text: str, spans: list[Span]) -> str:
    spans.sort()
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            parts += (text[done:start], MARK)
        done = max(done, end)
    return "".join((*parts, text[done:]))


def _forms(value: str) -> set[str]:
    """A secret as it stands, and as it travels in URLs, JSON and Basic authentication."""
    percent = "".join(
        chr(byte) if chr(byte) in _URL_SAFE else f"%{_HEX[byte >> 4]}{_HEX[byte & 15]}" for byte in value.encode()
    )
    json = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return {value, percent, json, *_base64_cores(value.encode())}


def _base64_cores(data: bytes) -> set[str]:
    """The letters of the base64 form that do not depend on what stands around the secret, for all three offsets."""
    cores: set[str] = set()
    for lead in range(3):
        whole = binascii.b2a_base64(b"\0" * lead + data, newline=False).decode()
        core = whole[-(-8 * lead // 6) : (lead + len(data)) * 8 // 6]
        cores.update((core, core.replace("+", "-").replace("/", "_")))
    return cores


MAX_FOUND = 20


_NAME_BEFORE = LazyPattern(
    r"([A-Za-z_][\w.-]{0,63})\\{0,7}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|\s)\s{0,3}[\"'`\\]{0,8}(?:[A-Za-z]+\s)?$"
)


NAME_CHARS = 120


class FoundSecret(Struct, frozen=True, kw_only=True):
    """One secret, told without telling it."""

    kind: str
    """For people: `GitHub token`, `private key`, `password in a URL`, `value of a secret's name`."""
    name: str = ""
    """What it is assigned to, when it is: `DB_PASSWORD`."""
    line: int = 0
    """Counted from 1 in the text that was searched."""

    def __str__(self) -> str:
        return f"{self.kind} ({self.name})" if self.name else self.kind


def find_secrets(text: str) -> tuple[FoundSecret, ...]:
    """The secrets of a text, each kind and name once, in order of appearance; at most twenty.

    Pure and linear in the length of the text. Give it only what is new in a request: what has left once has left.
    """
    found: dict[tuple[str, str], FoundSecret] = {}
    taken: list[Span] = []
    for (start, end), kind in sorted(_spans(text)):
        if any(start < other_end and end > other_start for other_start, other_end in taken[-3:]):
            continue
        taken.append((start, end))
        name = _name_before(text, start) if kind == ASSIGNED else ""
        if (kind, name) in found:
            continue
        found[kind, name] = FoundSecret(kind=kind, name=name, line=text.count("\n", 0, start) + 1)
        if len(found) >= MAX_FOUND:
            break
    if holds_known_value(text):
        found.setdefault((KNOWN, ""), FoundSecret(kind=KNOWN))
    return tuple(found.values())


ASSIGNED = "secret value"


KNOWN = "secret from your environment"


def _spans(text: str) -> Iterator[tuple[Span, str]]:
    yield from ((span, "private key") for span in key_block_spans(text))
    yield from ((span, token_kind(text, span[0])) for span in token_spans(text))
    yield from ((span, "password in a URL") for span in url_spans(text))
    yield from ((span, ASSIGNED) for span in assignment_spans(text))


def _name_before(text: str, start: int) -> str:
    match = _NAME_BEFORE.search(text[max(0, start - NAME_CHARS) : start])
    return match[1] if match else ""
