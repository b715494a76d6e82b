"""A conversation that stands alone: whoever reads it without our lines beside it sends the same."""

from pathlib import Path

import pytest

from clew.catalog.exporting import pieces
from clew.catalog.opening import open_file
from clew.host.adoption import adopt
from clew.protocol.entries import AssistantEntry, ChainEntry
from clew.protocol.event_kinds.context import CompactionEnded, CompactionUndone, KeptSegment, RangeSnipped, ViewTrimmed
from clew.protocol.events import Event
from clew.protocol.history import valid_history
from clew.protocol.ids import EntryId, SessionId
from clew.protocol.messages import Message, TextPart, tool_calls
from clew.transcript.chain.view import view
from clew.transcript.log.store import SessionStore
from engine.compaction.sessions import Session

ADOPTED = SessionId("99999999-2222-4333-8444-555555555555")


def session_in(folder: Path) -> tuple[Session, list[EntryId]]:
    """Four exchanges, one of them with a call; the ids of the prompts."""
    session = Session(folder)
    prompts: list[EntryId] = []
    for number in range(4):
        prompts.append(session.prompt(f"ask {number}"))
        if number == 1:
            session.call("Read", {"file_path": "/src/app/a.py"}, "the whole of a.py")
        session.reply(f"say {number}")
        session.turn_ended()
    return session, prompts


def compaction(session: Session, head: EntryId) -> CompactionEnded:
    leaf = session.conversation.leaf
    assert leaf is not None
    return CompactionEnded(
        entry_id=EntryId("b0000001"),
        logical_parent_id=leaf,
        kind="manual",
        tokens_before=900,
        tokens_after=300,
        summary_id=EntryId("s0000001"),
        summary=(TextPart(text="what was before"),),
        kept=KeptSegment(head=head, tail=leaf),
    )


def entry_ids(session: Session, first: EntryId, after: EntryId) -> tuple[EntryId, ...]:
    """The chain from one prompt to before another."""
    chain = [entry.uuid for entry in session.conversation.chain() if isinstance(entry, ChainEntry)]
    return tuple(chain[chain.index(first) : chain.index(after)])


def changes(session: Session, prompts: list[EntryId], name: str) -> list[Event]:
    """Changes of view, as the host records them."""
    spoken = [entry for entry in session.conversation.entries if isinstance(entry, AssistantEntry)]
    calls = [call.id for entry in spoken for call in tool_calls(entry.message.content)]
    trim = ViewTrimmed(entry_id=EntryId("t0000001"), results=dict.fromkeys(calls, "[cleared]"), why="asked")
    snip = RangeSnipped(
        entry_id=EntryId("x0000001"),
        parent_id=session.conversation.leaf,
        removed=entry_ids(session, prompts[1], prompts[2]),
    )
    compacted = compaction(session, prompts[2])
    return {
        "trim": [trim],
        "trim undone": [trim, CompactionUndone(undone=trim.entry_id)],
        "snip": [snip],
        "snip undone": [snip, CompactionUndone(undone=snip.entry_id)],
        "compaction": [compacted],
        "compaction undone": [compacted, CompactionUndone(undone=compacted.entry_id)],
    }[name]


def said(messages: tuple[Message, ...]) -> list[str]:
    """Roles and words, without ids that differ in every copy."""
    return [
        f"{message.role}: {[getattr(part, 'text', getattr(part, 'content', '')) for part in message.content]}"
        for message in valid_history(messages)
    ]


@pytest.mark.parametrize("kind", ["jsonl", "claude-code"])
@pytest.mark.parametrize(
    "name", ["trim", "trim undone", "snip", "snip undone", "compaction", "compaction undone", "snip of the kept head"]
)
def test_an_export_goes_on_with_the_view(tmp_path: Path, name: str, kind: str) -> None:
    session, prompts = session_in(tmp_path)
    if name == "snip of the kept head":
        session.publish(compaction(session, prompts[2]))
        removed = entry_ids(session, prompts[2], prompts[3])
        leaf = session.conversation.leaf
        session.publish(RangeSnipped(entry_id=EntryId("x0000002"), parent_id=leaf, removed=removed))
    else:
        for event in changes(session, prompts, name):
            session.publish(event)
    session.prompt("ask last")
    live = session.conversation.messages()
    assert live == view(session.conversation.entries)
    file = tmp_path / "exported.jsonl"
    file.write_bytes(b"".join(pieces(open_file(session.path, SessionStore(tmp_path)), kind, redacted=False)))
    fork = adopt(file, ADOPTED, tmp_path)
    assert said(view(fork.entries)) == said(live)
    log = file.read_text()
    assert all(f"say {number}" in log for number in range(4))  # what left the view is still there for people
