"""Functions of the program as hooks: registered, asked by id, answered by id, and left when nobody waits."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clew.protocol.events import (
    ApprovalRequested,
    Envelope,
    Event,
    HookCalled,
    HookCallWithdrawn,
    OpAccepted,
    OpRejected,
    PartCompleted,
    SessionEnded,
    SessionStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, MessageId, RequestId, SessionId
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, AnswerHookCall, AnswerOp, Close, Op, RegisterHooks
from clew.sdk import Allow, Hook, NotOpened, Options, Session, ToolRequest
from fakes.no_lookups import NoLookups

STARTED = SessionStarted(
    session_id=SessionId("s"), cwd="/", model="m", permission_mode="default", tools=(), version="0", resumed=False
)


class FakeClient(NoLookups):
    """A session that takes every op and says what a test wants."""

    def __init__(self, *, refuse_hooks: str = "") -> None:
        self.ops: list[Op] = []
        self.answered = asyncio.Event()
        self._events: asyncio.Queue[tuple[Event, AgentId] | None] = asyncio.Queue()
        self._refuse_hooks = refuse_hooks
        self.say(STARTED)

    def say(self, event: Event, agent: AgentId = MAIN_AGENT) -> None:
        self._events.put_nowait((event, agent))

    async def submit(self, op: Op) -> None:
        self.ops.append(op)
        if isinstance(op, RegisterHooks) and self._refuse_hooks:
            self.say(OpRejected(op_id=op.op_id, op="hooks.register", reason=self._refuse_hooks))
        elif op.op_id:
            self.say(OpAccepted(op_id=op.op_id))
        if isinstance(op, AnswerHookCall | AnswerOp):
            self.answered.set()
        if isinstance(op, Close):
            self.say(SessionEnded(reason="closed"))
            self._events.put_nowait(None)

    async def events(self) -> AsyncIterator[Envelope]:
        number = 0
        while (said := await self._events.get()) is not None:
            number += 1
            event, agent = said
            at = "2026-01-31T00:00:00.000Z"
            yield Envelope(seq=number, at=at, session_id=SessionId("s"), event=event, agent=agent)


def opened_with(monkeypatch: pytest.MonkeyPatch, client: FakeClient) -> None:
    monkeypatch.setattr("clew.sdk.session.open_client", lambda options: client)


async def answer_to(client: FakeClient, callback: str, document: dict[str, Any]) -> AnswerHookCall:
    client.say(HookCalled(request_id=RequestId("r1"), callback_id=callback, input=document, call_id=CallId("c1")))
    await client.answered.wait()
    (answer,) = [op for op in client.ops if isinstance(op, AnswerHookCall)]
    return answer


async def test_functions_are_registered_by_moment_and_asked_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []

    async def look(document: dict[str, Any], call_id: str | None) -> dict[str, Any]:
        heard.append((document["tool_name"], call_id))
        return {"hookSpecificOutput": {"permissionDecision": "deny"}}

    hooks = {
        "PreToolUse": [Hook(callback=look, matcher="Bash", timeout_s=5, blocks_on_failure=True)],
        "Stop": [Hook(callback=lambda document, call_id: None)],
    }
    client = FakeClient()
    opened_with(monkeypatch, client)
    async with Session(Options(hooks=hooks)):
        (registered,) = [op for op in client.ops if isinstance(op, RegisterHooks)]
        before, stop = registered.hooks
        assert (before.moment, before.matcher, before.timeout_s, before.blocks_on_failure) == (
            "PreToolUse",
            "Bash",
            5,
            True,
        )
        assert (stop.moment, stop.matcher, stop.blocks_on_failure) == ("Stop", "", False)
        answer = await answer_to(client, before.callback_id, {"tool_name": "Bash"})
    assert heard == [("Bash", "c1")]
    assert (answer.request_id, answer.error) == ("r1", "")
    assert answer.output == {"hookSpecificOutput": {"permissionDecision": "deny"}}


async def test_a_function_that_fails_or_is_unknown_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(document: dict[str, Any], call_id: str | None) -> None:
        raise LookupError("no such thing")

    for callback, word in (("", "LookupError: no such thing"), ("other", "no callback")):
        client = FakeClient()
        opened_with(monkeypatch, client)
        async with Session(Options(hooks={"Stop": [Hook(callback=broken)]})) as session:
            (registered,) = [op for op in client.ops if isinstance(op, RegisterHooks)]
            answer = await answer_to(client, callback or registered.hooks[0].callback_id, {})
            assert session.id == "s"
        assert word in answer.error


async def test_what_nobody_waits_for_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, cancelled = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def slow(document: dict[str, Any], call_id: str | None) -> None:
        begun.release()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.release()

    client = FakeClient()
    opened_with(monkeypatch, client)
    async with Session(Options(hooks={"Stop": [Hook(callback=slow)]})):
        client.say(HookCalled(request_id=RequestId("r1"), callback_id="Stop-1", input={}))
        await begun.acquire()
        client.say(HookCallWithdrawn(request_id=RequestId("r1")))
        await cancelled.acquire()
        client.say(HookCalled(request_id=RequestId("r2"), callback_id="Stop-1", input={}))
        await begun.acquire()
        client.say(HookCalled(request_id=RequestId("r3"), callback_id="Stop-1", input={}))
        client.say(HookCallWithdrawn(request_id=RequestId("r3")))
    await cancelled.acquire()
    assert not [op for op in client.ops if isinstance(op, AnswerHookCall)]


async def test_hooks_that_are_not_taken_keep_the_session_from_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FakeClient(refuse_hooks="no such moment")
    opened_with(monkeypatch, client)
    with pytest.raises(NotOpened, match="no such moment"):
        async with Session(Options(hooks={"Nonsense": [Hook(callback=lambda document, call_id: None)]})):
            pass
    assert isinstance(client.ops[-1], Close)


async def test_a_session_that_breaks_off_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FakeClient()
    opened_with(monkeypatch, client)
    async with Session() as session:
        monkeypatch.setattr(session._stream, "lines", lambda envelope: 1 / 0)
        client.say(STARTED)
        with pytest.raises(Exception, match="ZeroDivisionError"):
            async for _ in session.messages():
                pass


def called(command: str) -> PartCompleted:
    call = ToolCallPart(id=CallId("call_0"), name="Bash", arguments={"command": command})
    return PartCompleted(
        entry_id=EntryId("e"), parent_id=None, reply_id=MessageId("m"), part_number=0, model="m", part=call
    )


async def test_a_childs_call_of_the_same_id_is_asked_about_with_its_own_input(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ToolRequest] = []

    async def decide(request: ToolRequest) -> Allow:
        asked.append(request)
        return Allow()

    client, helper = FakeClient(), AgentId("helper")
    opened_with(monkeypatch, client)
    async with Session(Options(can_use_tool=decide)):
        client.say(called("make test"))
        client.say(called("rm -rf build"), helper)
        client.say(
            ApprovalRequested(
                request_id=RequestId("r"), call_id=CallId("call_0"), tool="Bash", subject="rm -rf build", why=""
            ),
            helper,
        )
        await client.answered.wait()
    (answer,) = [op for op in client.ops if isinstance(op, AnswerApproval)]
    assert answer.agent == helper
    assert asked[0].arguments == {"command": "rm -rf build"}
