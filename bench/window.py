"""The window of a long session: building the view, measuring it, making room that was prepared."""

import asyncio
import statistics
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

from bench.report import Row
from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.compaction.budgets import Budgets, budgets_for
from clew.engine.compaction.compact import CompactionInput, compact, in_words, past_of, prepare
from clew.engine.compaction.micro import due
from clew.engine.compaction.sizes import Sizes
from clew.engine.compaction.window_meter import WindowMeter
from clew.llm.scripted import Say, ScriptedModel
from clew.protocol.events import CompactionEnded, Event, PartCompleted, PromptAccepted, SectionKept, ToolEnded
from clew.protocol.ids import CallId, MessageId, SessionId, new_entry_id
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.tools.toolset import ToolSet
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.conversation import Conversation
from clew.transcript.chain.view import messages_of, replacements_of
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import NullWriter
from clew.transcript.mapping.recording import entries_of

SESSION = SessionId("bench")
ENTRIES = 10_000
WINDOW = 200_000
RECORD = "# Parcels\n## Done\n- Looked at the parcels.\n## Learned\n- They have weights.\n"
WORDS = "the parcels of the depot were weighed and their weights written down, one after the other, as they came in "


class Talk:
    """A conversation of prompts, replies and results."""

    def __init__(self) -> None:
        self.conversation = Conversation(NullWriter(), session_id=SESSION)
        self._stamp = Stamp(session_id=SESSION, cwd="/p")
        self._number = 0

    def take(self, event: Event) -> None:
        """Let it join."""
        for entry in entries_of(event, self._stamp):
            self.conversation.append(entry)

    def exchange(self, *, words: int) -> None:
        """Four entries: a prompt, a reply with a call, its result, an answer."""
        self._number += 1
        talk, number = self.conversation, self._number
        self.take(PromptAccepted(entry_id=new_entry_id(), parent_id=talk.leaf, content=f"prompt {number}"))
        self._says(
            f"a{number}", ToolCallPart(id=CallId(f"c{number}"), name="Read", arguments={"file_path": f"{number}"})
        )
        result = ToolResultPart(call_id=CallId(f"c{number}"), content=WORDS * words)
        leaf = talk.leaf
        assert leaf is not None
        self.take(ToolEnded(entry_id=new_entry_id(), parent_id=leaf, name="Read", result=result))
        self._says(f"b{number}", TextPart(text=WORDS))

    def _says(self, reply: str, part: TextPart | ToolCallPart) -> None:
        self.take(
            PartCompleted(
                entry_id=new_entry_id(),
                parent_id=self.conversation.leaf,
                reply_id=MessageId(reply),
                part_number=0,
                model="m",
                part=part,
            )
        )


def rows() -> Iterator[Row]:
    """View, meter, and a compaction for which everything was written before."""
    talk = Talk()
    while len(talk.conversation.entries) < ENTRIES:
        talk.exchange(words=1)
    entries = tuple(talk.conversation.entries)
    chain = build_chain(entries, session_id=SESSION)
    walked = best(lambda: build_chain(entries, session_id=SESSION))
    built = best(lambda: messages_of(chain.entries, replacements_of(entries)))
    yield Row(f"view of {ENTRIES:,} entries, chain known", f"{built:.1f} ms", "<= 50 ms", built <= 50)
    yield Row("… with the chain found anew", f"{walked + built:.0f} ms", "-", None)
    added = statistics.median(timed(lambda: grown(talk)) for _ in range(50))
    yield Row("… after four more entries", f"{added:.2f} ms", "-", None)
    looked = best(lambda: due(chain.entries, replacements_of(entries), Compaction(), idle_s=None))
    yield Row("… looking for outputs to clear", f"{looked:.0f} ms", "-", None)
    yield from measured()
    yield from asyncio.run(prepared())


def grown(talk: Talk) -> None:
    """One more exchange, and the view with it."""
    talk.exchange(words=1)
    talk.conversation.messages()


def measured() -> Iterator[Row]:
    """The meter after each step of a session that fills three quarters of a window."""
    talk = filled()
    agent = agent_of(talk)
    meter = WindowMeter(Compaction())
    meter.tokens(agent)
    times: list[float] = []
    for _ in range(20):
        talk.exchange(words=20)
        times.append(timed(lambda: meter.measured(agent)))
    yield Row("meter after a step, window three quarters full", f"{statistics.median(times):.2f} ms", "-", None)


async def prepared() -> list[Row]:
    """The stall that a person sees when sections were written ahead of need."""
    talk = filled()
    sizes = Sizes(in_words)
    budgets = budgets_for(WINDOW)
    model = ScriptedModel([Say(RECORD)] * 200, name="bench/model", window=WINDOW)
    async with aclosing(prepare(past_of(talk.conversation, sizes), model=model, budgets=budgets)) as events:
        async for event in events:
            if isinstance(event, SectionKept):
                talk.take(event)
    for _ in range(3):
        talk.exchange(words=20)
    past = past_of(talk.conversation, sizes)
    taken = [await stall(past, model, budgets) for _ in range(3)]
    took = statistics.median(taken)
    return [Row("compaction with a prepared snapshot, 150k tokens", f"{took:.0f} ms", "<= 100 ms", took <= 100)]


async def stall(past: CompactionInput, model: ScriptedModel, budgets: Budgets) -> float:
    """Milliseconds until the new view is there."""
    started = time.perf_counter()
    steps: AsyncGenerator[Event] = compact(past, model=model, budgets=budgets, kind="auto")
    async with aclosing(steps) as events:
        ended = [event async for event in events][-1]
    assert isinstance(ended, CompactionEnded), ended
    return (time.perf_counter() - started) * 1000


def filled() -> Talk:
    """About 150,000 tokens."""
    talk = Talk()
    for _ in range(300):
        talk.exchange(words=22)
    return talk


def agent_of(talk: Talk) -> Agent:
    """Whose window it is."""
    model = ScriptedModel([Say("")], name="bench/model", window=WINDOW)
    return Agent(conversation=talk.conversation, model=model, system=("system",), tools=ToolSet(()))


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def best(work: Callable[[], object]) -> float:
    """Of three."""
    return min(timed(work) for _ in range(3))
