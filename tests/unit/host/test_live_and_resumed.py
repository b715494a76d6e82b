"""One conversation: what is sent live is what a resume, a fork and an export would send, whatever went wrong.

Random sessions with cut streams at every event of a reply, failures before it, output limits, repeated and missing ids,
interrupts at every event, steering and a fallback model; after each turn the live view is compared with every other way
to the same truth. `make soak` plays many more.
"""

import asyncio
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clew.catalog.exporting import pieces
from clew.catalog.opening import open_file
from clew.engine.turn import Prompt
from clew.host.adoption import adopt
from clew.llm.errors import LLMError, Overloaded, ServerFailed, StreamBroken
from clew.llm.reply import ReplyEvent
from clew.llm.request import ModelRequest
from clew.llm.scripted import BreakAfter, Call, Fail, ReplyOf, Say, ScriptedModel, Think, Wait
from clew.protocol.events import Event, PartCompleted, PromptAccepted, ReplyWithdrawn, ToolEnded
from clew.protocol.history import INTERRUPTED_RESULT, valid_history
from clew.protocol.ids import SessionId
from clew.protocol.messages import Message, Part, ReasoningPart, ToolCallPart, ToolResultPart, arguments_of, parts_of
from clew.tools.base import ToolResult
from clew.transcript.chain.conversation import Conversation
from clew.transcript.chain.view import view
from clew.transcript.log.store import SessionStore
from clew.transcript.log.writer import NullWriter, TranscriptWriter
from clew.transcript.past.fork import fork_session
from clew.transcript.past.reader import load
from engine.harness import SESSION, Params, Reader, Shell, Silent, Stage, Writer

SEEDS = range(int(os.environ.get("CLEW_FUZZ_SEEDS", "60")))
FORK = SessionId("99999999-2222-4333-8444-555555555555")
Said = list[tuple[str, Any]]


class CutModel(ScriptedModel):
    """Plays its script, with ids as bad servers give them, and cuts streams at any event."""

    def __init__(self, chance: random.Random, replies: Sequence[Any], **more: Any) -> None:
        super().__init__(replies, chunk_chars=3, **more)
        self.chance = chance

    async def stream(self, request: ModelRequest, *, whole: bool = False):
        cut = self.chance.randrange(1, 14) if self.chance.random() < 0.35 and not whole else None
        number = 0
        async for event in super().stream(request, whole=whole):
            number += 1
            if number == cut:
                raise self.chance.choice([StreamBroken("cut"), Overloaded("no capacity"), StreamBroken("cut")])
            yield self.bad_ids(event)

    def bad_ids(self, event: ReplyEvent) -> ReplyEvent:
        kind = type(event).__name__
        if kind == "ReplyStarted":
            return replace(event, message_id=self.chance.choice(["", "msg_1", "msg_1", "chatcmpl-7"]))
        return event


def reply(chance: random.Random) -> Any:
    """One reply of the script."""
    parts: list[Any] = []
    if chance.random() < 0.3:
        parts.append(Think("let me see", signature="s"))
    for _ in range(chance.randrange(0, 3)):
        parts.append(Say(chance.choice(["Looking. ", "I will do it now, step by step. ", "Ja, gut 你好 "])))
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        name = chance.choice(["Reader", "Reader", "Writer", "Shell", "Silent", "Nonsense"])
        call_id = chance.choice(["", "call_0", "call_0", "call_1", f"toolu_{chance.randrange(10**6)}"])
        raw = "{oops" if chance.random() < 0.08 else None
        argument = chance.choice(["a", "b", "bad", "slow"])
        parts.append(Call(name, {"name": argument}, id=call_id or "call", raw=raw))
        if chance.random() < 0.2:
            parts.append(Say("and then"))
    stop = "max_tokens" if chance.random() < 0.12 else ""
    failing = chance.random()
    if failing < 0.08:
        return Fail(chance.choice([ServerFailed("500"), Overloaded("529"), StreamBroken("gone")]))
    if failing < 0.25:
        return BreakAfter(parts, StreamBroken("cut at the end"))
    return ReplyOf(parts, stop_reason=stop)


class Played:
    """A random session on disk, played turn by turn."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = random.Random(seed)
        self.path = SessionStore(folder / "home").session_path(folder, SESSION)
        self.writer = TranscriptWriter(self.path, SESSION)
        replies = [reply(self.chance) for _ in range(60)]
        model = CutModel(self.chance, replies)
        fallback = CutModel(self.chance, [reply(self.chance) for _ in range(60)], name="other/model")
        tools = [Reader(), Writer(), Shell(), Silent()]
        self.stage = Stage(model, tools, fallback=fallback, sink=self.writer)
        self.seen = 0

    async def turn(self, number: int) -> None:
        """One turn; sometimes interrupted after some event, sometimes with input that joins."""
        stop_at = self.seen + self.chance.randrange(1, 30) if self.chance.random() < 0.5 else None

        def react(event: Event) -> None:
            self.seen += 1
            if self.seen == stop_at:
                self.stage.abort.throw()
            if self.chance.random() < 0.02:
                self.stage.inbox.append(Prompt(content=f"also {self.seen}"))

        await self.stage.play(f"question {number}", on=react)


def said(messages: Sequence[Message]) -> Said:
    """What a provider is sent of a conversation, without what is only ours."""
    return [(message.role, parts_of(message)) for message in valid_history(messages)]


def portable(messages: Said) -> Said:
    """For exports: reasoning is bound to a provider that other formats do not name, and they have no place for
    arguments that are no JSON, which are compared as they are sent."""
    kept = [
        (role, tuple(plain(part) for part in parts if not isinstance(part, ReasoningPart))) for role, parts in messages
    ]
    return [(role, parts) for role, parts in kept if parts]


def plain(part: Part) -> Part:
    if not isinstance(part, ToolCallPart):
        return part
    return replace(part, arguments=arguments_of(part), raw_arguments=None)


def resumed(path: Path) -> Said:
    loaded = load(path)
    assert not loaded.problems
    again = Conversation(NullWriter(), session_id=SESSION, entries=loaded.entries, chain=loaded.chain, leaf=loaded.leaf)
    return said(again.messages())


def forked(path: Path) -> Said:
    fork = fork_session(load(path), FORK, timestamp="2026-11-16T08:00:00.000Z")
    again = Conversation(NullWriter(), session_id=FORK, entries=fork.entries, chain=fork.chain, leaf=fork.leaf)
    assert said(again.messages()) == said(view(fork.entries, session_id=FORK))
    return said(again.messages())


def exported(path: Path, to: str, folder: Path) -> Said:
    copy = folder / f"export-{to}.jsonl"
    copy.write_bytes(b"".join(pieces(open_file(path, SessionStore(folder / "home")), to, redacted=False)))
    taken = adopt(copy, FORK, folder)
    again = Conversation(NullWriter(), session_id=FORK, entries=taken.entries, chain=taken.chain, leaf=taken.leaf)
    return said(again.messages())


@pytest.mark.parametrize("seed", SEEDS)
async def test_live_is_resumed_is_forked_is_exported(seed: int, tmp_path: Path) -> None:
    played = Played(seed, tmp_path)
    conversation = played.stage.log.conversation
    live: Said = []
    for number in range(played.chance.randrange(1, 6)):
        await played.turn(number)
        live = said(conversation.messages())
        assert live == said(view(conversation.entries, session_id=SESSION)), "the incremental view differs"
        assert resumed(played.path) == live
        assert forked(played.path) == live
    check_settled(played, live)
    for to in ("jsonl", "claude-code"):
        assert portable(exported(played.path, to, tmp_path)) == portable(live), to
    played.writer.close()


def check_settled(played: Played, live: Said) -> None:
    """Independent of every view: what happened, by the events alone, is there, and nothing that was withdrawn."""
    events = played.stage.events
    gone = {target for event in events if isinstance(event, ReplyWithdrawn) for target in event.entry_ids}
    stands = [event for event in events if isinstance(event, PartCompleted) and event.entry_id not in gone]
    calls = [event.part.id for event in stands if isinstance(event.part, ToolCallPart)]
    assert len(set(calls)) == len(calls), "call ids are not distinct"
    results = [event.result.call_id for event in events if isinstance(event, ToolEnded) and event.entry_id not in gone]
    assert sorted(calls) == sorted(results), "a call is not answered exactly once"
    sent = [part for _, parts in live for part in parts if isinstance(part, ToolResultPart)]
    assert [part.call_id for part in sent] == calls
    assert not [part for part in sent if part.content == INTERRUPTED_RESULT]
    text = str(live)
    for event in events:
        if isinstance(event, PromptAccepted) and not event.hidden:
            assert str(event.content) in text


async def test_an_interrupt_at_every_event_leaves_each_call_with_one_result(tmp_path: Path) -> None:
    script = [
        ReplyOf(
            [Think("hm"), Say("One moment. "), Call("Reader", {"name": "a"}), Call("Shell", {"name": "b"}), Say("so")]
        ),
        ReplyOf([Call("Writer", {"name": "c"}), Call("Reader", {"name": "d"})]),
        Say("Done."),
    ]
    points = 0
    while True:
        stage = Stage(ScriptedModel(list(script), chunk_chars=4), [Reader(), Shell(), Writer()])
        seen = 0

        def stop(event: Event, at: int = points, stage: Stage = stage) -> None:
            nonlocal seen
            seen += 1
            if seen == at:
                stage.abort.throw()

        ended = await stage.play(on=stop)
        stage.assert_settled()
        if ended.reason == "completed" and seen < points:
            break
        points += 1
    assert points > 25


async def test_an_interrupt_at_every_await_leaves_each_call_with_one_result() -> None:
    """The switch is thrown by another task after n turns of the event loop, for every n until the turn is through."""
    ticks = 0
    while True:
        calls = [Call("Reader", {"name": "a"}), Call("Writer", {"name": "b"}), Call("Reader", {"name": "c"})]
        stage = Stage(ScriptedModel([ReplyOf([Say("So. "), *calls]), Say("Done.")]), [Reader(), Writer()])
        turn = asyncio.create_task(stage.play())
        for _ in range(ticks):
            await asyncio.sleep(0)
        if turn.done():
            break
        stage.abort.throw()
        assert (await turn).reason in ("interrupted", "completed")
        stage.assert_settled()
        ticks += 1
    assert ticks > 20


@pytest.mark.parametrize("error", [StreamBroken("cut"), Overloaded("529")])
async def test_what_a_cut_stream_had_written_is_not_written_twice(error: LLMError, tmp_path: Path) -> None:
    """`echo once >> out.txt` runs once, and the model is told what came of it."""
    ran: list[str] = []
    started = asyncio.Event()

    class Once(Writer):
        """Tells when it has begun."""

        async def work(self, params: Params) -> ToolResult:
            started.set()
            return await super().work(params)

    broken = BreakAfter([Say("Now. "), Call("Writer", {"name": "once"}), Wait(started)], error)
    fallback = ScriptedModel([Say("Done.")], name="other/model")
    stage = Stage(ScriptedModel([broken, Say("Done.")]), [Once(ran)], fallback=fallback)
    assert (await stage.play()).reason == "completed"
    assert ran == ["start once", "end once"]
    asked = [*stage.model.requests[1:], *fallback.requests]
    assert "content of once" in str(asked[0].messages)
