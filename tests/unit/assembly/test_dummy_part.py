"""A capability is one folder and one plug: a part that src knows nothing of brings a tool, an op, a lookup, an ask, a
middleware, a call hook and a word on prompts, in a session that is opened as the command line opens it."""

from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec import Struct
from msgspec.structs import replace

from clew.engine.middleware.base import Middleware
from clew.engine.ports import CallChange, CallHook
from clew.engine.turn import Prompt, PromptWord, Turn
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.host.session import EndReason
from clew.llm.scripted import Call, Say
from clew.permissions.access import Access, ToolAccess
from clew.protocol.event_kinds.asks import Answered, Ask
from clew.protocol.events import Event, LiveEvent, Notice, OpAccepted, OpRejected, TurnEnded
from clew.protocol.ids import AgentId, OpId, RequestId, new_uuid
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerOp, OpBase, SubmitPrompt
from clew.protocol.standing import Standing
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.transcript.past.reader import load
from unit.host.hook_lab import HookLab, session
from unit.host.room import Front


class Rung(LiveEvent, frozen=True, kw_only=True, tag="test.bell.rung"):
    """The bell rang."""

    times: int


class RingBell(OpBase, frozen=True, kw_only=True, tag="test.bell.ring"):
    """Ring it."""

    times: int


class BellShown(Answer, frozen=True, kw_only=True, tag="test.bell.shown"):
    """How often it rang."""

    times: int


class ShowBell(Lookup[BellShown], frozen=True, kw_only=True, tag="test.bell.show"):
    """Ask how often it rang."""


class BellAsked(Ask, frozen=True, kw_only=True, tag="test.bell.asked"):
    """May it ring?"""


class BellDecided(Answered, frozen=True, kw_only=True, tag="test.bell.decided"):
    """Whether it may."""

    yes: bool


class AnswerBell(AnswerOp, frozen=True, kw_only=True, tag="test.bell.answer"):
    """Whether it may ring."""

    settles: ClassVar[type[Ask]] = BellAsked
    yes: bool


class Nothing(Struct, kw_only=True):
    """No parameters."""


class Bell(Tool[Nothing]):
    """Asks a person, then rings."""

    name = "Bell"
    params: ClassVar[type[Struct]] = Nothing

    def __init__(self, part: "BellPart") -> None:
        self._part = part

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="Ring the bell.", schema={"type": "object"})

    def accesses(self, params: Nothing, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: Nothing, context: ToolContext) -> ToolResult:
        return ToolResult(text="rung" if await self._part.may_ring() else "silent")


class Bookmark(Middleware):
    """Adds words before the first step of a turn."""

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        if turn.steps == 0:
            yield turn.accept("[the bell hangs in the tower]")


class Echo:
    """Stands around calls."""

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        return None

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        yield

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        return replace(result, text=f"{result.text}, and an echo")

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        return result


class BellPart(Part):
    """Everything that a part can bring."""

    def __init__(self, setup: PartSetup) -> None:
        self.tools = (Bell(self),)
        self.middlewares = (Bookmark(),)
        self.words = "# Bell\nThere is a bell."
        self.times = 0
        self.life: list[str] = []
        self.heard_events: list[tuple[str, AgentId]] = []

    def start(self, own: PartSession) -> None:
        self.life.append("start")
        self._session = own.session

    def begin(self) -> None:
        self.life.append("begin")

    def on(self, event: Event, agent: AgentId) -> None:
        self.heard_events.append((type(event).__name__, agent))

    async def stop(self) -> None:
        self.life.append("stop")

    async def leave(self, reason: EndReason) -> None:
        self.life.append(f"leave {reason}")

    async def end(self) -> None:
        self.life.append("end")

    def ops(self) -> OpHandlers:
        return {RingBell: self._ring}

    def lookups(self) -> Answerers:
        return {ShowBell: self._show}

    def call_hook(self, agent: AgentId) -> CallHook:
        return Echo()

    def look(self, prompt: Prompt) -> Coroutine[Any, Any, PromptWord] | None:
        return self._looked() if prompt.content == "steal the bell" else None

    async def _looked(self) -> PromptWord:
        return PromptWord(refused="the bell stays")

    async def _ring(self, op: RingBell) -> Effect:
        if op.times < 1:
            raise OpRefused("a bell rings at least once")

        def ring() -> None:
            self.times += op.times
            self._session.publish(Rung(times=self.times))

        return ring

    async def _show(self, lookup: ShowBell) -> BellShown:
        return BellShown(times=self.times)

    async def may_ring(self) -> bool:
        asked = BellAsked(request_id=RequestId(new_uuid()))
        waiting = self._session.pending.open(asked.request_id, AnswerBell)
        self._session.publish(asked)
        answer = await waiting
        assert isinstance(answer, AnswerBell)
        self._session.publish(BellDecided(request_id=asked.request_id, yes=answer.yes, via=answer.via))
        return answer.yes


async def test_a_part_brings_everything_without_another_file(tmp_path: Path) -> None:
    place = HookLab(tmp_path)
    made: list[BellPart] = []

    def make(setup: PartSetup) -> Part:
        made.append(BellPart(setup))
        return made[-1]

    async with session(place, [Call("Bell", {}), Say("done"), Say("more")], parts=[make]):
        front = place.front
        (part,) = made
        await front.submit(RingBell(times=2, op_id=OpId("a")))
        assert (await front.until(Rung)).times == 2
        assert (await front.until(OpAccepted)).op_id == "a"
        await front.submit(RingBell(times=0, op_id=OpId("b")))
        assert "at least once" in (await front.until(OpRejected)).reason
        assert (await front.look_up(ShowBell())).times == 2

        await front.submit(SubmitPrompt(content="ring it"))
        asked = await front.until(BellAsked)
        assert front.door.session.journal.main.state.standing is Standing.ASKING
        late = Front(front.door)
        assert (await late.until(BellAsked)).request_id == asked.request_id, "who joins late sees what waits"
        await front.submit(AnswerBell(request_id=asked.request_id, yes=True))
        await front.until(TurnEnded)
        sent = str(place.model.requests[-1].messages)
        assert "rung, and an echo" in sent
        assert "the bell hangs in the tower" in sent
        assert "There is a bell." in str(place.model.requests[0].system)
        assert "Bell" in {spec.name for spec in place.model.requests[0].tools}
        await front.submit(AnswerBell(request_id=asked.request_id, yes=True, op_id=OpId("c")))
        assert "answered already" in (await front.until(OpRejected, 2)).reason

        await front.submit(SubmitPrompt(content="steal the bell"))
        assert "the bell stays" in str(await front.until(TurnEnded, 2)) + str(front.of(Notice))
        assert ("BellDecided", "main") in part.heard_events
    assert part.life == ["start", "begin", "begin", "stop", "leave closed", "end"]
    (path,) = place.home.glob("projects/*/*.jsonl")
    assert load(path).chain, "a log with entries of a part that is gone is read"
    async with session(place, [Say("still here")], resume=str(path)):
        assert (await place.say("and now?")).reason == "completed"
        with pytest.raises(LookupRefused, match=r"nothing in this session answers test\.bell\.show"):
            await place.front.look_up(ShowBell())


async def test_each_op_and_each_lookup_has_one_part_that_takes_it(tmp_path: Path) -> None:
    place = HookLab(tmp_path)
    async with session(place, [Say("x")]):
        opened = place.front.door.opened
        assert opened.more_parts is not None
        parts = (*opened.parts, *opened.more_parts())
        ops = [kind for part in parts for kind in part.ops()]
        lookups = [kind for part in parts for kind in part.lookups()]
        assert len(ops) == len(set(ops)), "two parts take the same op"
        assert len(lookups) == len(set(lookups)), "two parts answer the same lookup"
