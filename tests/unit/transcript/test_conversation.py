"""One conversation: what it computes as it grows is what every reader of the same file computes from scratch."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.catalog.exporting import pieces
from clew.catalog.opening import open_file
from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, UserEntry
from clew.protocol.event_kinds.context import KeptSegment, TrimmedPart
from clew.protocol.events import (
    CompactionEnded,
    CompactionUndone,
    Event,
    PartCompleted,
    PromptAccepted,
    RangeSnipped,
    ResultReplaced,
    Rewound,
    ToolEnded,
    ViewTrimmed,
)
from clew.protocol.history import valid_history
from clew.protocol.ids import CallId, EntryId, MessageId, SessionId, new_entry_id
from clew.protocol.messages import ImagePart, MediaSource, Message, TextPart, ToolCallPart, ToolResultPart, text_of
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.conversation import Conversation
from clew.transcript.chain.links import is_boundary
from clew.transcript.chain.view import view
from clew.transcript.log.stamp import Stamp, utc_now
from clew.transcript.log.store import SessionStore
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.mapping.recording import entries_of
from clew.transcript.past.fork import fork_session
from clew.transcript.past.reader import iterate, load

SESSION = SessionId("0b9c8f6e-0000-4000-8000-000000000001")
PICTURE = ImagePart(source=MediaSource(type="base64", media_type="image/png", data="AAAA"))


class Talk:
    """A session that is really written, and goes on live and from its file."""

    def __init__(self, home: Path) -> None:
        self.store = SessionStore(home)
        self.path = self.store.projects / "-p" / f"{SESSION}.jsonl"
        self.stamp = Stamp(session_id=SESSION, cwd="/p")
        self.writer = TranscriptWriter(self.path, SESSION)
        self.live = Conversation(self.writer, session_id=SESSION)
        self.changes: list[EntryId] = []
        """Boundaries, trims and snips that can be undone."""
        self.said = 0

    def take(self, event: Event) -> None:
        for entry in entries_of(event, self.stamp):
            self.live.append(entry)

    def prompt(self, text: str) -> None:
        self.take(PromptAccepted(entry_id=new_entry_id(), parent_id=self.live.leaf, content=text))

    def reply(self, *calls: str, words: str = "") -> None:
        reply = MessageId(f"msg{self.said}")
        self.said += 1
        parts = [TextPart(text=words or f"answer {self.said}")]
        for number, part in enumerate(
            (*parts, *(ToolCallPart(id=CallId(c), name="Read", arguments={}) for c in calls))
        ):
            at = new_entry_id()
            self.take(
                PartCompleted(
                    entry_id=at, parent_id=self.live.leaf, reply_id=reply, part_number=number, model="m", part=part
                )
            )
        for call in calls:
            self.result(call)

    def result(self, call: str) -> None:
        asked = next(
            entry
            for entry in reversed(self.live.entries)
            if isinstance(entry, AssistantEntry)
            and entry.message.content[0:1]
            and isinstance(entry.message.content[0], ToolCallPart)
            and entry.message.content[0].id == call
        )
        content = (TextPart(text=f"output of {call}"), PICTURE) if call.endswith("3") else f"output of {call}"
        result = ToolResultPart(call_id=CallId(call), content=content)
        self.take(ToolEnded(entry_id=new_entry_id(), parent_id=asked.uuid, name="Read", result=result))

    def compact(self, words: str, keep: int = 0) -> None:
        """With the last `keep` exchanges word for word, as far as they were not kept by the one before."""
        chain = [entry for entry in self.live.chain() if isinstance(entry, ChainEntry)]
        place = {entry.uuid: at for at, entry in enumerate(self.live.entries) if isinstance(entry, ChainEntry)}
        last = max((place[entry.uuid] for entry in chain if is_boundary(entry)), default=-1)
        chain = [entry for entry in chain if place[entry.uuid] > last]
        starts = [at for at, entry in enumerate(chain) if is_prompt(entry)]
        kept = None
        if keep and len(starts) >= keep:
            kept = KeptSegment(head=chain[starts[-keep]].uuid, tail=chain[-1].uuid)
        boundary = new_entry_id()
        self.take(
            CompactionEnded(
                entry_id=boundary,
                logical_parent_id=self.live.leaf,
                kind="manual",
                tokens_before=10,
                tokens_after=1,
                summary_id=new_entry_id(),
                summary=(TextPart(text=words),),
                kept=kept,
            )
        )
        self.changes.append(boundary)

    def clear(self, pinned: str = "") -> None:
        boundary = new_entry_id()
        self.take(
            CompactionEnded(
                entry_id=boundary,
                logical_parent_id=self.live.leaf,
                kind="clear",
                tokens_before=10,
                tokens_after=0,
                summary_id=new_entry_id() if pinned else None,
                summary=(TextPart(text=pinned),) if pinned else (),
            )
        )
        self.changes.append(boundary)

    def trim(self, *calls: str) -> None:
        media = tuple(
            TrimmedPart(entry_id=entry.uuid, part=0, nested=1, text="[image: image/png]")
            for entry in self.live.chain()
            if isinstance(entry, UserEntry) and holds_picture(entry)
        )
        trim = new_entry_id()
        self.take(ViewTrimmed(entry_id=trim, results={CallId(call): "[cleared]" for call in calls}, media=media))
        self.changes.append(trim)

    def snip(self, removed: tuple[EntryId, ...]) -> None:
        snip = new_entry_id()
        self.take(RangeSnipped(entry_id=snip, parent_id=self.live.leaf, removed=removed))
        self.changes.append(snip)

    def undo(self) -> None:
        if self.changes:
            self.take(CompactionUndone(undone=self.changes.pop()))

    def reopen(self) -> None:
        """Another process goes on, which knows only what is in view."""
        self.writer.close()
        loaded = load(self.path)
        self.writer = TranscriptWriter(self.path, SESSION)
        self.live = Conversation(
            self.writer,
            session_id=SESSION,
            entries=loaded.entries,
            chain=loaded.chain,
            leaf=loaded.leaf,
            reread=lambda: load(self.path),
        )

    def words(self) -> list[str]:
        return [text for message in valid_history(self.live.messages()) for text in shown(message)]


def is_prompt(entry: Entry) -> bool:
    if not isinstance(entry, UserEntry) or entry.is_compact_summary:
        return False
    return isinstance(entry.message.content, str)


def holds_picture(entry: UserEntry) -> bool:
    parts = entry.message.content
    result = parts[0] if not isinstance(parts, str) else None
    return isinstance(result, ToolResultPart) and not isinstance(result.content, str)


def shown(message: Message) -> list[str]:
    found: list[str] = []
    for part in message.content if not isinstance(message.content, str) else (TextPart(text=message.content),):
        if isinstance(part, TextPart):
            found.append(part.text)
        elif isinstance(part, ToolCallPart):
            found.append(f"call {part.id}")
        elif isinstance(part, ToolResultPart):
            text = part.content if isinstance(part.content, str) else text_of(part.content)
            found.append(text + (" +picture" if not isinstance(part.content, str) and PICTURE in part.content else ""))
    return found


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def ways(talk: Talk) -> dict[str, tuple[tuple[Message, ...], EntryId | None]]:
    """The view and the cursor, as everybody who could go on computes them."""
    everything = tuple(found.entry for found in iterate(talk.path) if found.entry is not None)
    chain = build_chain(everything, session_id=SESSION)
    loaded = load(talk.path)
    opened = open_file(talk.path, talk.store)
    exported = talk.path.with_name("export.jsonl")
    exported.write_bytes(b"".join(pieces(opened, "jsonl", redacted=False)))
    copied = load(exported, session_id=SESSION)
    exported.unlink()
    fork = fork_session(loaded, SessionId("fork"), timestamp=utc_now())
    forked = Conversation(talk.writer, session_id="fork", entries=fork.entries, chain=fork.chain, leaf=fork.leaf)
    return {
        "from all lines": (view(everything, session_id=SESSION), chain.leaf),
        "resumed": (loaded.messages, loaded.leaf),
        "exported": (copied.messages, copied.leaf),
        "forked": (forked.messages(), loaded.leaf),
    }


def check(talk: Talk) -> None:
    live = valid_history(talk.live.messages())
    for name, (messages, leaf) in ways(talk).items():
        assert valid_history(messages) == live, name
        if name != "forked":
            assert leaf == talk.live.leaf, name


def test_a_kept_tail_stands_behind_the_summary_and_what_comes_next_behind_it(talk: Talk) -> None:
    for number in range(3):
        talk.prompt(f"prompt {number}")
        talk.reply(f"c{number}")
    talk.compact("the summary", keep=1)
    talk.prompt("next")
    assert talk.words() == ["the summary", "prompt 2", "answer 3", "call c2", "output of c2", "next"]
    check(talk)
    talk.reopen()
    talk.prompt("and next")
    assert talk.words()[-2:] == ["next", "and next"]
    check(talk)


def test_a_boundary_without_its_summary_changes_nothing(talk: Talk) -> None:
    """The process was killed between two lines."""
    talk.prompt("one")
    talk.reply()
    event = CompactionEnded(
        entry_id=new_entry_id(),
        logical_parent_id=talk.live.leaf,
        kind="auto",
        tokens_before=10,
        tokens_after=1,
        summary_id=new_entry_id(),
        summary=(TextPart(text="summary"),),
    )
    talk.live.append(entries_of(event, talk.stamp)[0])
    assert talk.words() == ["one", "answer 1"]
    check(talk)


def test_after_clear_nothing_is_sent_and_undo_brings_all_back(talk: Talk) -> None:
    talk.prompt("one")
    talk.reply()
    talk.clear()
    assert talk.words() == []
    check(talk)
    talk.reopen()
    talk.prompt("two")
    assert talk.words() == ["two"]
    check(talk)


def test_what_was_pinned_stays_when_everything_else_is_cleared(talk: Talk) -> None:
    talk.prompt("one")
    talk.clear("a pin")
    assert talk.words() == ["a pin"]
    check(talk)
    talk.undo()
    assert talk.words() == ["one"]
    check(talk)


@pytest.mark.parametrize("more", [False, True])
def test_undo_brings_the_view_back_and_keeps_what_was_said_since(talk: Talk, more: bool) -> None:
    talk.prompt("one")
    talk.reply("c1")
    talk.compact("summary")
    if more:
        talk.prompt("two")
        talk.reply()
    talk.undo()
    before = ["one", "answer 1", "call c1", "output of c1"]
    assert talk.words() == ([*before, "two", "answer 2"] if more else before)
    check(talk)
    talk.prompt("three")
    check(talk)


def test_a_trim_replaces_what_was_replaced_before_and_its_undo_restores_that(talk: Talk) -> None:
    talk.prompt("one")
    talk.reply("c1", "c3")
    talk.take(ResultReplaced(call_id=CallId("c1"), replacement="preview"))
    assert "preview" in talk.words()
    assert "output of c3 +picture" in talk.words()
    talk.trim("c1")
    assert "[cleared]" in talk.words()
    assert "output of c3\n[image: image/png]" in talk.words()
    check(talk)
    talk.undo()
    assert "preview" in talk.words()
    assert "output of c3 +picture" in talk.words()
    check(talk)


def test_people_still_see_what_a_snip_took_from_the_model(talk: Talk) -> None:
    talk.prompt("one")
    talk.reply()
    talk.prompt("two")
    talk.reply()
    talk.prompt("three")
    chain = [entry for entry in talk.live.chain() if isinstance(entry, ChainEntry)]
    talk.snip((chain[2].uuid, chain[3].uuid))
    assert talk.words() == ["one", "answer 1", "three"]
    check(talk)
    whole = build_chain(talk.live.entries, session_id=SESSION, past_boundaries=True)
    assert chain[2] in whole.entries
    talk.undo()
    assert "two" in talk.words()
    check(talk)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_to_the_view_everybody_goes_on_with_the_same(tmp_path: Path, seed: int) -> None:
    """Prompts, calls, compaction with and without a tail, clearing, trims, snips, going back, undoing, and a new
    process in between: after each of them live, resumed, forked and exported are equal."""
    chance = random.Random(seed)
    talk = Talk(tmp_path)
    talk.prompt("start")
    calls: list[str] = []

    def exchange() -> None:
        names = [f"c{len(calls) + at}" for at in range(chance.randrange(4))]
        calls.extend(names)
        talk.reply(*names)
        talk.prompt(f"prompt {len(talk.live.entries)}")

    def snip() -> None:
        spoken = [entry for entry in talk.live.chain() if is_prompt(entry)]
        if len(spoken) > 1:
            entry = chance.choice(spoken[:-1])
            assert isinstance(entry, ChainEntry)
            talk.snip((entry.uuid,))

    def back() -> None:
        spoken = [entry for entry in talk.live.chain() if is_prompt(entry)]
        if spoken:
            entry = chance.choice(spoken)
            assert isinstance(entry, ChainEntry)
            talk.take(Rewound(direction="rewind", scope="both", to=entry.uuid))
            talk.changes.clear()

    def reopen() -> None:
        talk.reopen()
        talk.changes.clear()

    acts: list[Callable[[], None]] = [
        exchange,
        exchange,
        exchange,
        lambda: talk.compact(f"summary {len(talk.live.entries)}", keep=chance.randrange(3)),
        lambda: talk.clear(chance.choice(["", "a pin"])),
        lambda: talk.trim(*chance.sample(calls, min(len(calls), 2))),
        snip,
        back,
        talk.undo,
        reopen,
    ]
    for _ in range(14):
        chance.choice(acts)()
        check(talk)
