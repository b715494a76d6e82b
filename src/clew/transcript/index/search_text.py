"""Words for the full-text index: what of an entry is searched, how text becomes words, and where a hit stands.

SQLite splits words at spaces and punctuation, which Chinese, Japanese and Korean do not have between words. Runs of
their characters are given to it as overlapping pairs, for texts and for questions alike.
"""

import functools
import re
from collections.abc import Iterator

import msgspec

from clew.protocol.entries import AssistantEntry, Entry, SystemEntry, UserEntry
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart, result_text

MAX_TEXT = 16_000
_MAX_CALL = 1_000
_RESULT_HEAD = 1_000
_RESULT_TAIL = 400
_CONTEXT = 60

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002ffff"


class IndexedText(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of text that can be found."""

    role: str
    """user, assistant, tool, recap or title."""
    text: str
    uuid: str = ""


def documents(entry: Entry) -> Iterator[IndexedText]:
    """What of an entry is searched: all that people and models said, and the start and end of what tools printed."""
    if isinstance(entry, UserEntry):
        if isinstance(entry.message.content, str):
            yield IndexedText(role="user", text=entry.message.content[:MAX_TEXT], uuid=entry.uuid)
            return
        for part in entry.message.content:
            if isinstance(part, TextPart):
                yield IndexedText(role="user", text=part.text[:MAX_TEXT], uuid=entry.uuid)
            elif isinstance(part, ToolResultPart):
                text = result_text(part)
                if len(text) > _RESULT_HEAD + _RESULT_TAIL:
                    text = f"{text[:_RESULT_HEAD]}\n...\n{text[-_RESULT_TAIL:]}"
                yield IndexedText(role="tool", text=text, uuid=entry.uuid)
    elif isinstance(entry, AssistantEntry):
        for part in entry.message.content:
            if isinstance(part, TextPart):
                yield IndexedText(role="assistant", text=part.text[:MAX_TEXT], uuid=entry.uuid)
            elif isinstance(part, ToolCallPart):
                call = meant_call(part)
                values = " ".join(value for value in call.arguments.values() if isinstance(value, str))
                yield IndexedText(role="tool", text=f"{call.name} {values[:_MAX_CALL]}", uuid=entry.uuid)
    elif isinstance(entry, SystemEntry) and entry.subtype == "away_summary":
        yield IndexedText(role="recap", text=entry.content[:MAX_TEXT], uuid=entry.uuid)


def indexed(text: str) -> str:
    """Text as the index takes it."""
    return text if text.isascii() else _runs().sub(lambda run: f" {_pairs(run.group())} ", text)


def match_query(question: str) -> str:
    """A question as FTS5 takes it: every word must occur, the last may be a beginning. Empty when nothing is asked."""
    terms: list[str] = []
    for word in question.split():
        runs = _words().findall(indexed(word).replace('"', " "))
        if runs:
            terms.append('"' + " ".join(runs) + '"')
    if not terms:
        return ""
    return " AND ".join([*terms[:-1], f"{terms[-1]} *"])


def excerpt(text: str, question: str) -> tuple[str, list[tuple[int, int]]]:
    """The part of a text around the first hit, on one line, with the positions of all hits in it."""
    pattern = _question_pattern(question)
    first = pattern.search(text) if pattern else None
    start = max(0, first.start() - _CONTEXT) if first else 0
    piece = " ".join(text[start : start + 3 * _CONTEXT + (len(first.group()) if first else 0)].split())
    if start:
        piece = f"…{piece}"
    hits = [match.span() for match in pattern.finditer(piece)] if pattern else []
    return piece, hits


@functools.lru_cache(maxsize=8)
def _question_pattern(question: str) -> re.Pattern[str] | None:
    words = sorted({word for word in question.split() if word}, key=len, reverse=True)
    loose = [r"[\W_]+".join(re.escape(part) for part in _words().findall(word)) or re.escape(word) for word in words]
    return re.compile("|".join(loose), re.IGNORECASE) if loose else None


@functools.cache
def _runs() -> re.Pattern[str]:
    return re.compile(f"[{_CJK}]+")


@functools.cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


def _pairs(run: str) -> str:
    return " ".join(run[at : at + 2] for at in range(max(1, len(run) - 1)))
