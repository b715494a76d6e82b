"""What a model is told of deferred tools: first a list by server, later what came and went. Pure.

What was told is read back from the notes themselves, as far as the model still sees them: so it is the same after a
resume, and what a compaction or a rewind took out of view is told again.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from clew.protocol.meant_calls import CALL_TOOL, SEARCH_TOOLS

MAX_BYTES = 1_600
"""With SearchTools and CallTool themselves, that keeps within 2.5 kB."""
MAX_NAMES, KEPT_NAMES = 500, 400
"""So many names are remembered as told; then the oldest are forgotten, and no longer told as gone."""
MAX_NAME_CHARS = 64
OTHERS = "others"
"""Whose tools those are that say no source."""
LIST_HEAD = (
    f"[Tools of connected servers that are not in your list: {SEARCH_TOOLS} finds them, {CALL_TOOL} runs them. "
    "The names are the servers' own words."
)
CHANGE_HEAD = "[The tools of connected servers changed; the names are the servers' own words."
_LINE = re.compile(r"(\S+) \((\d+)\)(: |, new: |, gone: |)(.*)")
_GONE = re.compile(r"(\S+): gone")
_MORE = re.compile(r"(.*?)(?:^| )and \d+ more, search$")
_SERVERS = re.compile(r"and (\d+) more servers, search")

Now = Mapping[str, tuple[str, ...]]
"""The names of the deferred tools, without what says whose they are, by source."""


class KnownTools(Struct, kw_only=True):
    """What the model knows of one source."""

    count: int
    names: dict[str, None]
    complete: bool
    """All of its names were told."""


class Knowledge(Struct, kw_only=True):
    """What the model knows of all."""

    sources: dict[str, KnownTools] = field(default_factory=dict[str, KnownTools])
    unnamed: int = 0
    """Sources that it was told of only by their number."""

    def after(self, note: str) -> None:
        """One more note was told; any other text means nothing here."""
        if not is_note(note):
            return
        if note.startswith(LIST_HEAD):
            self.sources, self.unnamed = {}, 0
        for line in note.rstrip("]").split("\n")[1:]:
            self._take(line)
        self._trim()

    def _take(self, line: str) -> None:
        if found := _GONE.fullmatch(line):
            self.sources.pop(found[1], None)
        elif found := _SERVERS.fullmatch(line):
            self.unnamed = int(found[1])
        elif found := _LINE.fullmatch(line):
            source, count, kind, rest = found[1], int(found[2]), found[3], found[4]
            if kind == ": ":
                names, whole = split_names(rest)
                self.sources[source] = KnownTools(count=count, names=dict.fromkeys(names), complete=whole)
            elif (known := self.sources.get(source)) is not None:
                came, gone = (rest, "") if kind == ", new: " else ("", rest)
                if "; gone: " in came:
                    came, _, gone = came.partition("; gone: ")
                for name in split_names(gone)[0]:
                    known.names.pop(name, None)
                known.names |= dict.fromkeys(split_names(came)[0])
                known.count = count

    def _trim(self) -> None:
        total = sum(len(told.names) for told in self.sources.values())
        if total <= MAX_NAMES:
            return
        for told in self.sources.values():
            drop = min(total - KEPT_NAMES, len(told.names))
            for name in list(told.names)[:drop]:
                del told.names[name]
            told.complete = told.complete and not drop
            total -= drop


def is_note(text: str) -> bool:
    """Whether this is one of the notes made here."""
    return text.startswith((LIST_HEAD, CHANGE_HEAD))


def news(known: Knowledge, now: Now, *, max_bytes: int = MAX_BYTES) -> str:
    """What the model should be told next; empty: it knows. Never longer than `max_bytes`."""
    head = CHANGE_HEAD if known.sources else LIST_HEAD
    told = known.unnamed if known.sources else 0
    lines = [f"{source}: gone" for source in known.sources if source not in now]
    room = (
        max_bytes - len(head.encode()) - len("\nand 9999 more servers, search]") - sum(len(line) + 1 for line in lines)
    )
    if room < 0 and known.sources:
        return news(Knowledge(), now, max_bytes=max_bytes)  # so much went that a new list is shorter
    new = [source for source in now if source not in known.sources]
    changed = [source for source, told in known.sources.items() if source in now and differs(told, now[source])]
    wanted = {source: change_line(source, known.sources[source], now[source]) for source in changed}
    if not told:
        wanted |= {source: list_line(source, now[source]) for source in new}
    shown = fitted(wanted, now, room)
    lines += shown.values()
    unnamed = sum(source not in shown for source in new)
    if unnamed != told:
        lines.append(f"and {unnamed} more servers, search")
    return "\n".join([head, *lines]) + "]" if lines else ""


def differs(told: KnownTools, names: tuple[str, ...]) -> bool:
    """Whether what was told of a source is no longer so."""
    here = set(names)
    return told.count != len(names) or any(name not in here for name in told.names)


def change_line(source: str, told: KnownTools, names: tuple[str, ...]) -> str:
    """What came and what went; where not all names were told before, only what went can be named."""
    here = set(names)
    came = [name for name in names if name not in told.names] if told.complete else []
    gone = [name for name in told.names if name not in here]
    parts = [f"new: {', '.join(came)}"] if came else []
    parts += [f"gone: {', '.join(gone)}"] if gone else []
    return f"{source} ({len(names)})" + (", " + "; ".join(parts) if parts else "")


def list_line(source: str, names: tuple[str, ...], *, max_bytes: int | None = None) -> str:
    """A source with its tools, as many as fit."""
    line = f"{source} ({len(names)}): "
    if max_bytes is None or len((line + ", ".join(names)).encode()) <= max_bytes:
        return line + ", ".join(names)
    tail = f" and {len(names)} more, search"
    room = max_bytes - len(line.encode()) - len(tail)
    kept: list[str] = []
    for name in names:
        room -= len(name.encode()) + 2
        if room < 0:
            break
        kept.append(name)
    return line + ", ".join(kept) + f"{' ' if kept else ''}and {len(names) - len(kept)} more, search"


def fitted(wanted: Mapping[str, str], now: Now, room: int) -> dict[str, str]:
    """The lines within so many bytes together: short ones as they are, long ones share what is left, and where there
    is no room for a source at all it is left out."""
    shown: dict[str, str] = {}
    by_length = sorted(wanted, key=lambda source: len(wanted[source].encode()))
    for at, source in enumerate(by_length):
        share = room // (len(by_length) - at)
        line = wanted[source]
        if len(line.encode()) + 1 > share:
            line = list_line(source, now[source], max_bytes=share - 1)
        if len(line.encode()) + 1 > room:
            continue
        room -= len(line.encode()) + 1
        shown[source] = line
    return {source: shown[source] for source in wanted if source in shown}


def split_names(text: str) -> tuple[list[str], bool]:
    """The names in a line, and whether they are all."""
    found = _MORE.fullmatch(text)
    names = found[1] if found else text
    return [name for name in names.split(", ") if name], found is None


def as_told(text: str) -> str:
    """A name in letters that cannot end a line, a list or a bracket; long ones are cut."""
    return "".join(letter if letter.isalnum() or letter in "_-." else "_" for letter in text)[:MAX_NAME_CHARS] or "_"


def by_source(tools: Iterable[tuple[str, str]]) -> Now:
    """Pairs of source and tool's name, as they are told."""
    found: dict[str, list[str]] = {}
    for source, name in tools:
        short = name.removeprefix(f"mcp__{source}__") if source else name
        found.setdefault(as_told(source or OTHERS), []).append(as_told(short))
    return {source: tuple(dict.fromkeys(names)) for source, names in found.items()}
