"""Claude Code, and every program that writes its transcript shape (clew itself among them).

Claude-shaped entries made plain: wrappers off what the user typed, what no person typed marked, our tool names.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from clew.foreign.build import Builder
from clew.foreign.claude.chain import EntryTree, conversation
from clew.foreign.claude.entry import Lenient
from clew.foreign.claude.lists import with_lists
from clew.foreign.claude.queue import Queue, as_message, chain_fields
from clew.foreign.listing import entries_in, found
from clew.foreign.session import ForeignMeta, ForeignSession, ForeignTranscript
from clew.foreign.shapes import as_dict, as_str
from clew.foreign.source import Source
from clew.foreign.tool_names import translate
from clew.foreign.user_text import UserText, read_user_text, task_words
from clew.protocol.entries import (
    AiTitleEntry,
    AssistantEntry,
    AttachmentEntry,
    ChainEntry,
    ContentReplacementEntry,
    CustomTitleEntry,
    Entry,
    EventEntry,
    KnownEntry,
    OpaqueEntry,
    SystemEntry,
    TombstoneEntry,
    UserEntry,
)
from clew.protocol.ids import SessionId
from clew.protocol.messages import Part, TextPart, ToolCallPart, UserMessage, text_of
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import is_snip
from clew.transcript.chain.settled import settled


def refine(entry: Entry) -> Entry:
    """Take wrappers off what the user typed, mark what no person typed, and use our tool names."""
    if isinstance(entry, AttachmentEntry):
        entry = as_message(entry)
    if isinstance(entry, UserEntry):
        return _refine_user(entry)
    if isinstance(entry, AssistantEntry) and any(_is_agent_call(part) for part in entry.message.content):
        parts = tuple(_our_call(part) for part in entry.message.content)
        return msgspec.structs.replace(entry, message=msgspec.structs.replace(entry.message, content=parts))
    return entry


def with_task(entries: list[Entry]) -> list[Entry]:
    """A sub-agent's own file: its first message is its task, also where the program that sent it wrapped it."""
    for at, entry in enumerate(entries):
        if not isinstance(entry, UserEntry):
            continue
        if entry.is_meta and (words := task_words(text_of(entry.message.content))):
            task = msgspec.structs.replace(entry, message=UserMessage(content=words), is_meta=False)
            return [*entries[:at], task, *entries[at + 1 :]]
        break
    return entries


def _is_agent_call(part: Part) -> bool:
    return isinstance(part, ToolCallPart) and part.name == "Agent"


def _our_call(part: Part) -> Part:
    if not isinstance(part, ToolCallPart):
        return part
    call = translate(part.name, part.arguments)[0]
    if call.name == part.name:
        return part
    data = {"foreign": {"name": part.name, "arguments": part.arguments}}
    return msgspec.structs.replace(part, name=call.name, arguments=call.arguments, data=data)


def _refine_user(entry: UserEntry) -> Entry:
    content = entry.message.content
    if entry.is_meta or entry.is_compact_summary:
        return entry
    if isinstance(content, str):
        reading = read_user_text(content)
        if reading.kind == "typed" and reading.text is content:
            return entry
        return _with_reading(entry, reading, reading.text)
    texts = [part.text for part in content if isinstance(part, TextPart)]
    if not texts:
        return entry
    readings = [read_user_text(text) for text in texts]
    if all(reading.kind == "typed" and reading.text is text for reading, text in zip(readings, texts, strict=True)):
        return entry
    typed = [reading for reading in readings if reading.kind == "typed"]
    others = tuple(part for part in content if not isinstance(part, TextPart))
    if typed or others:
        parts = (*(TextPart(text=reading.text) for reading in typed), *others)
        return msgspec.structs.replace(entry, message=UserMessage(content=parts))
    return _with_reading(entry, readings[0], "\n".join(reading.text for reading in readings))


def _with_reading(entry: UserEntry, reading: UserText, text: str) -> Entry:
    if reading.kind == "interrupted":
        return _as_system(entry, "interrupted", text)
    message = UserMessage(content=text)
    if reading.kind == "summary":
        return msgspec.structs.replace(entry, message=message, is_compact_summary=True)
    return msgspec.structs.replace(entry, message=message, is_meta=reading.kind == "meta")


def _as_system(entry: ChainEntry, subtype: str, content: str) -> SystemEntry:
    return SystemEntry(
        **chain_fields(entry),
        subtype=subtype,
        content=content,
    )


AGENT = "claude_code"
_AGENT_FILE = re.compile(r"agent-[\w-]+\.jsonl$")
_decode = msgspec.json.Decoder(KnownEntry).decode


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where Claude Code keeps its sessions."""
    if configured := env.get("CLAUDE_CONFIG_DIR"):
        return tuple(Path(part) for part in configured.split(",") if part)
    return (user_home / ".claude", user_home / ".config" / "claude")


def discover(home: Path) -> Iterator[ForeignSession]:
    """Every session below a home, sub-agents marked; no file is opened."""
    for project in entries_in(home / "projects"):
        yield from _in_project(project)


def _in_project(folder: Path) -> Iterator[ForeignSession]:
    for path in entries_in(folder):
        name = path.name
        if name.endswith(".jsonl"):
            is_subagent = bool(_AGENT_FILE.match(name))
            yield from found(AGENT, path, path.stem, is_subagent=is_subagent)
        elif "." not in name:
            for agent_file in _agent_files(path / "subagents"):
                yield from found(AGENT, agent_file, agent_file.stem, is_subagent=True, parent_session=name)


def _agent_files(folder: Path) -> Iterator[Path]:
    for path in entries_in(folder):
        if _AGENT_FILE.match(path.name):
            yield path
        elif path.name == "workflows":
            for workflow in entries_in(path):
                yield from (item for item in entries_in(workflow) if _AGENT_FILE.match(item.name))


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One transcript; the conversation in view is the chain that ends at the last entry of the file."""
    source = Source(path)
    if path.name.endswith(".meta.json"):
        return _read_sidecar(path, source, agent)
    lenient = Lenient(path.stem)
    tree = EntryTree(source)
    queue = Queue()
    read_lines = ((_entry(data, at, source, lenient, ended=ended), at) for at, data, ended in source.lines())
    for entry, offset in _as_seen([(entry, at) for entry, at in read_lines if entry is not None]):
        entry = refine(entry)
        queue.feed(entry)
        tree.add(entry, offset)
    kept, abandoned = conversation(tree)
    kept += map(refine, queue.left(_last_spoken(kept)))
    kept = with_lists(kept)
    if _AGENT_FILE.match(path.name):
        kept = with_task(kept)
    meta = _meta(kept, tree.opaque, path)
    session = _session_id(kept, path)
    if meta.title and not any(isinstance(entry, AiTitleEntry | CustomTitleEntry) for entry in kept):
        named = AiTitleEntry(session_id=SessionId(session), timestamp=meta.updated, ai_title=meta.title, source="model")
        kept.append(named)
    return ForeignTranscript(
        agent=agent,
        session_id=session,
        path=path,
        entries=tuple(kept),
        meta=meta,
        problems=tuple(source.problems),
        abandoned=tuple(abandoned),
    )


def _as_seen(found: list[tuple[Entry, int]]) -> list[tuple[Entry, int]]:
    """Lines of our own kind change what is in view, and nobody else knows them: here they are done once and for all."""
    entries = [entry for entry, _ in found]
    if not any(isinstance(entry, EventEntry | ContentReplacementEntry) or is_snip(entry) for entry in entries):
        return found
    chain = [entry for entry in build_chain(entries, past_boundaries=True).entries if isinstance(entry, ChainEntry)]
    if not chain:
        return found
    places = {entry.uuid: at for entry, at in reversed(found) if isinstance(entry, ChainEntry)}
    beside = [(entry, at) for entry, at in found if not isinstance(entry, ChainEntry | TombstoneEntry)]
    return [*((cast("Entry", entry), places[entry.uuid]) for entry in settled(chain, entries)), *beside]


def _last_spoken(entries: list[Entry]) -> ChainEntry | None:
    for entry in reversed(entries):
        if isinstance(entry, ChainEntry) and not entry.is_sidechain:
            return entry
    return None


def _entry(data: bytes, offset: int, source: Source, lenient: Lenient, *, ended: bool) -> Entry | None:
    try:
        entry: Entry = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raw: Any = source.decode(data, offset, ended=ended)
        if not isinstance(raw, dict):
            if raw is not None:
                source.note("damaged", offset, "not a JSON object")
            return None
        return lenient.entry(as_dict(raw))
    lenient.saw(entry)
    return entry


def _session_id(entries: list[Entry], path: Path) -> str:
    if _AGENT_FILE.match(path.name):
        return path.stem
    counts: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry, ChainEntry):
            counts[entry.session_id] = counts.get(entry.session_id, 0) + 1
    return max(counts, key=lambda key: counts[key]) if counts else path.stem


def _meta(entries: list[Entry], opaque: list[OpaqueEntry], path: Path) -> ForeignMeta:
    meta = ForeignMeta(is_subagent=bool(_AGENT_FILE.match(path.name)))
    custom = generated = ""
    for entry in entries:
        if isinstance(entry, CustomTitleEntry):
            custom = entry.custom_title
        elif isinstance(entry, AiTitleEntry):
            generated = entry.ai_title
        elif isinstance(entry, ChainEntry) and not entry.is_sidechain:
            meta.started = meta.started or entry.timestamp
            meta.updated = entry.timestamp
            meta.cwd = entry.cwd or meta.cwd
            meta.branch = entry.git_branch or meta.branch
            meta.version = entry.version or meta.version
            if isinstance(entry, AssistantEntry) and not entry.message.model.startswith("<"):
                meta.model = entry.message.model or meta.model
            if meta.is_subagent:
                meta.parent_session = meta.parent_session or entry.session_id
    uuids = {entry.uuid for entry in entries if isinstance(entry, ChainEntry)}
    for entry in opaque:
        if entry.type == "summary" and entry.raw.get("leafUuid") in uuids:
            generated = as_str(entry.raw.get("summary")) or generated
    meta.title = custom or generated
    return meta


def _read_sidecar(path: Path, source: Source, agent: str) -> ForeignTranscript:
    """`agent-<id>.meta.json`: what a sub-agent was called. Its conversation lies beside it; alone it tells the task."""
    conversation_path = path.with_name(path.name.removesuffix(".meta.json") + ".jsonl")
    if conversation_path.is_file():
        return read(conversation_path, agent=agent)
    raw = as_dict(source.value())
    meta = ForeignMeta(is_subagent=True)
    meta.agent_name = as_str(raw.get("agentType"))
    meta.title = as_str(raw.get("description"))
    meta.cwd = as_str(raw.get("worktreePath"))
    name = path.name.removesuffix(".meta.json")
    told = Builder(agent, name, cwd=meta.cwd)
    told.user(meta.title)
    told.meta = meta
    return told.transcript(path, source.problems)
