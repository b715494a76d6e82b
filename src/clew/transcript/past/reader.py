"""Loading a session tail first: the cost follows what is in view, not the size of the file. Never writes or raises."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from clew.protocol.entries import AiTitleEntry, CustomTitleEntry, Entry, UserEntry
from clew.protocol.ids import EntryId, SessionId
from clew.protocol.messages import Message
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import result_calls
from clew.transcript.chain.view import messages_of, replacements_of
from clew.transcript.errors import Problem, TranscriptError
from clew.transcript.log.codec import KNOWN_TYPES, decode
from clew.transcript.log.files import open_read
from clew.transcript.log.lease import holder_of
from clew.transcript.log.scan import LogLine, backward, forward
from clew.transcript.past.lookback import MAX_VIEW_BYTES, Lookback

_MAX_FAILURES = 64
"""Beginnings that turned out to be none; after so many the rest of the line is damage, whatever it holds."""

_BETWEEN = re.compile("[ \t\r,\0\x1e\ufeff]*")
_BEGINNING = re.compile(
    r'\{\s*"(?:type|uuid|parentUuid|logicalParentUuid|isSidechain|sessionId|timestamp|userType|cwd|version)"\s*:'
)
_json = json.JSONDecoder()


class Stretch(NamedTuple):
    """A stretch of a line, in bytes. `problem` is "" for an entry."""

    start: int
    end: int
    problem: str


def split_glued(line: bytes) -> list[Stretch]:
    """The entries of a line and the damage between them, in order; empty when no entry is found at all."""
    text = line.decode("utf-8", "surrogateescape")
    found = list(_stretches(text))
    if any(problem == "not-json" for _, _, _, problem in found):
        # Beside damage only what is surely an entry counts: a part of a broken one can be valid JSON, too.
        found = [
            (start, end, value, problem or ("" if _is_entry(value) else "not-json"))
            for start, end, value, problem in found
        ]
    if all(problem for _, _, _, problem in found):
        return []
    offsets = _ByteOffsets(text)
    spans = [Stretch(offsets.of(start), offsets.of(end), problem) for start, end, _, problem in found]
    return [*spans[:-1], spans[-1]._replace(end=len(line))]


def _stretches(text: str) -> Iterator[tuple[int, int, Any, str]]:
    failures = 0
    at = 0
    while True:
        start, at = at, cast("re.Match[str]", _BETWEEN.match(text, at)).end()
        if "\0" in text[start:at]:
            yield start, at, None, "nul-bytes"
        if at == len(text):
            return
        value, end = _object_at(text, at)
        if value is not None:
            yield at, end, value, ""
            at = end
            continue
        start = at
        while value is None and failures < _MAX_FAILURES and (match := _BEGINNING.search(text, at + 1)):
            at = match.start()
            value, _ = _object_at(text, at)
            value = value if _is_entry(value) else None
            failures += value is None
        if value is None:
            yield start, len(text), None, "not-json"
            return
        yield start, at, None, "not-json"


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    if not text.startswith("{", at):
        return None, at
    try:
        value, end = _json.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return value, end


def _is_entry(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    named = any(isinstance(fields.get(name), str) for name in ("uuid", "sessionId"))
    return named and fields.get("type") in KNOWN_TYPES


class _ByteOffsets:
    """Places in the text as places in the bytes it was decoded from; asked in rising order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chars = 0
        self._bytes = 0

    def of(self, place: int) -> int:
        self._bytes += len(self._text[self._chars : place].encode("utf-8", "surrogateescape"))
        self._chars = place
        return self._bytes


_MAX_PASSES = 4
_DAMAGED_LINKS = {"no-id", "bad-entry"}
"""Kinds of damage after which an entry is still used, but may not be what others name as their parent."""


class LoadedLog(msgspec.Struct, frozen=True, kw_only=True):
    """A session as far as it is in view."""

    path: str
    session_id: SessionId
    entries: tuple[Entry, ...]
    """Everything read, in file order: give it to the host, which appends to it and calls `view` again."""
    spans: tuple[tuple[int, int], ...] = ()
    """Offset and length of each entry's line."""
    chain: tuple[Entry, ...]
    """The conversation since the last boundary, oldest first."""
    leaf: EntryId | None
    """What the next entry hangs under."""
    problems: tuple[Problem, ...]
    size: int
    """Bytes of the file when it was read."""
    complete: bool
    """False when older history exists that was not read (it is before a boundary, or too large for any model)."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the model saw, content replacements applied; `protocol.history` makes it valid for a request."""
        return messages_of(self.chain, replacements_of(self.entries))

    @property
    def title(self) -> str:
        """The title, as far as the part that was read holds one. The user's own wins."""
        title = ""
        for entry in self.entries:
            if isinstance(entry, CustomTitleEntry):
                return next(item.custom_title for item in reversed(self.entries) if isinstance(item, CustomTitleEntry))
            if isinstance(entry, AiTitleEntry):
                title = entry.ai_title
        return title


class Located(NamedTuple):
    """An entry, or the problem found in its place, with its position."""

    offset: int
    length: int
    entry: Entry | None
    problem: str
    ended: bool = True
    """False for a last line without a newline."""


def load(
    path: Path, *, session_id: str = "", sidechain: bool = False, max_view_bytes: int = MAX_VIEW_BYTES
) -> LoadedLog:
    """The newest conversation of a file. `session_id`: default the file's name, if any entry says so."""
    wanted = session_id or path.stem
    try:
        fd = open_read(path)
    except (OSError, TranscriptError) as error:
        return _unreadable(path, wanted, str(error))
    try:
        size = os.fstat(fd).st_size
        search = _Search(fd, size, path, sidechain=sidechain, max_view_bytes=max_view_bytes)
        lookback = search.run(wanted)
        if lookback.last_session and not lookback.found:
            # The name is not the session's: a copied or renamed file. The last speaker says whose it is.
            wanted = lookback.last_session
            lookback = search.run(wanted)
    except OSError as error:
        return _unreadable(path, wanted, str(error))
    finally:
        os.close(fd)
    return _assembled(path, wanted, size, lookback, sidechain=sidechain)


def iterate(path: Path, *, start: int = 0, end: int | None = None) -> Iterator[Located]:
    """Every line of a file from `start`, in file order: for the ledger, the index, export. Never raises on content."""
    fd = open_read(path)
    try:
        size = os.fstat(fd).st_size
        for line in forward(fd, start, size if end is None else min(end, size)):
            yield from locate(line)
    finally:
        os.close(fd)


def locate(line: LogLine) -> list[Located]:
    """Decode one line: an entry, or several when newlines between them are missing. Only the last can be `ended`."""
    if line.data is None:
        return [Located(line.offset, line.length, None, "too-long", line.ended)]
    entry, problem = decode(line.data)
    found = [Located(line.offset, line.length, entry, problem, ended=False)]
    if entry is None and problem == "not-json" and (parts := split_glued(line.data)):
        found = [_located(line, part) for part in parts]
    last = found[-1]
    torn = last.entry is None and last.problem == "not-json" and not line.ended
    found[-1] = last._replace(problem="torn" if torn else last.problem, ended=line.ended)
    return found


def _located(line: LogLine, part: Stretch) -> Located:
    assert line.data is not None
    entry, problem = (None, part.problem) if part.problem else decode(line.data[part.start : part.end].rstrip(b"\0"))
    return Located(line.offset + part.start, part.end - part.start, entry, problem, ended=False)


class _Search:
    """Passes over one open file. One is enough, unless a parent is missing: then the next pass knows which."""

    def __init__(self, fd: int, size: int, path: Path, *, sidechain: bool, max_view_bytes: int) -> None:
        self._fd = fd
        self._size = size
        self._path = path
        self._sidechain = sidechain
        self._max_view_bytes = max_view_bytes

    def run(self, session_id: str) -> Lookback[Located]:
        missing: set[EntryId] = set()
        while True:
            lookback = self._pass(session_id, missing)
            if lookback.want is None or lookback.cut or lookback.want in missing or len(missing) >= _MAX_PASSES:
                return lookback
            missing.add(lookback.want)

    def _pass(self, session_id: str, missing: set[EntryId]) -> Lookback[Located]:
        lookback: Lookback[Located] = Lookback(
            session_id=session_id,
            sidechain=self._sidechain,
            max_view_bytes=self._max_view_bytes,
            size=self._size,
            missing=missing,
        )
        for line in backward(self._fd, self._size):
            if not lookback.worth_decoding(line.data, line.offset):
                continue
            if any(self._taken(lookback, found) for found in reversed(locate(line))):
                break
        return lookback

    def _taken(self, lookback: Lookback[Located], found: Located) -> bool:
        if found.problem == "torn" and holder_of(self._path) is not None:
            return False  # a line that is being written right now
        return lookback.take(found, found.entry, found.offset, found.length)


def _assembled(path: Path, session_id: str, size: int, lookback: Lookback[Located], *, sidechain: bool) -> LoadedLog:
    located = lookback.in_file_order()
    entries: list[Entry] = []
    spans: list[tuple[int, int]] = []
    gaps: list[int] = []
    problems: list[Problem] = []
    for found in located:
        if found.problem:
            problems.append(Problem(path=str(path), offset=found.offset, kind=found.problem))
        if found.entry is None or found.problem in _DAMAGED_LINKS:
            gaps.append(len(entries))
        if found.entry is not None:
            entries.append(found.entry)
            spans.append((found.offset, found.length))
    chain = build_chain(entries, session_id=session_id, sidechain=sidechain, gaps=gaps)
    conversation = chain.entries
    for flaw in chain.flaws:
        if lookback.cut and flaw.kind == "orphan":
            continue
        problems.append(Problem(path=str(path), offset=spans[flaw.index][0], kind=flaw.kind, detail=flaw.detail))
    if lookback.cut:
        conversation = from_first_prompt(conversation)
        problems.append(Problem(path=str(path), offset=lookback.reached, kind="cut"))
    return LoadedLog(
        path=str(path),
        session_id=SessionId(session_id),
        entries=tuple(entries),
        spans=tuple(spans),
        chain=conversation,
        leaf=chain.leaf,
        problems=tuple(problems),
        size=size,
        complete=lookback.reached == 0,
    )


def from_first_prompt(chain: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The chain without a ragged start: it begins with something a user said, not with half a tool exchange."""
    for number, entry in enumerate(chain):
        if isinstance(entry, UserEntry) and not result_calls(entry):
            return chain[number:]
    return chain


def _unreadable(path: Path, session_id: str, why: str) -> LoadedLog:
    return LoadedLog(
        path=str(path),
        session_id=SessionId(session_id),
        entries=(),
        chain=(),
        leaf=None,
        problems=(Problem(path=str(path), offset=0, kind="unreadable", detail=why),),
        size=0,
        complete=True,
    )
