"""Finding secrets in text that is about to leave the machine: what kind and under which name, never the value."""

from collections.abc import Iterator

from msgspec import Struct

from clew.text.lazy_pattern import LazyPattern
from clew.text.redact import holds_known_value
from clew.text.secret_shapes import Span, assignment_spans, key_block_spans, token_kind, token_spans, url_spans

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
