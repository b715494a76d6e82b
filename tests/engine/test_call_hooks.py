"""What a hook may decide about a call, what nobody but a person may, and what the log says of it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clew.engine.ports import CallChange
from clew.ledger.fold import fold
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel
from clew.permissions.access import Access, Verdict
from clew.presentation.story.passages import BatchPassage
from clew.presentation.story.telling import retold
from clew.protocol.entries import Entry
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallChanged,
    Event,
    Recorded,
    ToolEnded,
    ToolStarted,
)
from clew.protocol.messages import ToolCallPart, parts_of
from clew.protocol.ops import AnswerApproval
from clew.tools.base import Tool, ToolResult
from clew.transcript.chain.view import view
from clew.transcript.log.writer import TranscriptWriter
from clew.transcript.mapping.render import plain
from clew.transcript.mapping.retelling import events_of
from clew.transcript.past.reader import load
from engine.harness import SESSION, Params, Reader, Shell, Stage, TestHost


class Saying:
    """A hook that says the same to every call, and remembers what it stood around."""

    def __init__(self, change: CallChange | None = None, *, name: str = "", log: list[str] | None = None) -> None:
        self.change = change
        self.name = name
        self.log = [] if log is None else log

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        return self.change

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        self.log.append(f"in {self.name}")
        try:
            yield
        finally:
            self.log.append(f"out {self.name}")

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        self.log.append(f"after {self.name}: {result.text}")
        return result

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        return result


def judging(**decisions: str) -> Any:
    """A verdict by the word a command begins with; all others are allowed."""

    def verdict(accesses: tuple[Access, ...]) -> Verdict:
        word = str(getattr(accesses[0], "command", "")).partition(" ")[0]
        return Verdict(decision=decisions.get(word, "allow"), why=f"{word} is judged", rule="test")  # pyright: ignore[reportArgumentType]  # words of this file

    return verdict


def stage_for(command: str, *changes: CallChange, shell: Shell | None = None, **more: Any) -> Stage:
    host = TestHost(verdict=judging(ask="ask", deny="deny"), hooks=tuple(map(Saying, changes)), **more)
    model = ScriptedModel([Call("Shell", {"name": command}), Say("ok")])
    return Stage(model, [shell or Shell()], host=host)


def answering(stage: Stage, **answer: Any) -> Any:
    def on(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            fields: dict[str, Any] = {"decision": "allow"} | answer
            op = AnswerApproval(request_id=event.request_id, **fields)
            asyncio.get_running_loop().call_soon(stage.pending.settle, op)

    return on


DENY = CallChange(refused="not on Fridays", hook="./friday")
ASK = CallChange(leaning="ask", reason="it touches production", hook="./prod")
ALLOW = CallChange(leaning="allow", reason="known", hook="./known")


@pytest.mark.parametrize("command", ["plain", "ask me", "deny me"])
async def test_a_deny_refuses_whatever_permissions_say_and_is_recorded_as_the_hooks(command: str) -> None:
    shell = Shell()
    stage = stage_for(command, ALLOW, DENY, ASK, shell=shell)
    await stage.play()
    (resolved,) = stage.of(ApprovalResolved)
    assert (resolved.decision, resolved.by, resolved.rule) == ("deny", "hook", "./friday")
    assert (resolved.subject, resolved.reason) == (command, "not on Fridays")
    assert not stage.of(ApprovalRequested)
    (ended,) = stage.of(ToolEnded)
    assert ended.refused
    assert "not on Fridays" in str(ended.result.content)
    assert not shell.log


async def test_an_ask_makes_an_allowed_call_ask_and_tells_why() -> None:
    shell = Shell()
    stage = stage_for("plain", ALLOW, ASK, shell=shell)
    await stage.play(on=answering(stage))
    (asked,) = stage.of(ApprovalRequested)
    assert "it touches production" in asked.why
    assert asked.offers == ()
    (resolved,) = stage.of(ApprovalResolved)
    assert (resolved.by, resolved.decision) == ("user", "allow")
    assert shell.log


async def test_an_ask_of_both_says_both_reasons() -> None:
    stage = stage_for("ask me", ASK)
    await stage.play(on=answering(stage, decision="deny"))
    (asked,) = stage.of(ApprovalRequested)
    assert "ask is judged" in asked.why
    assert "it touches production" in asked.why
    assert stage.of(ToolEnded)[0].refused


async def test_rules_that_change_meanwhile_do_not_answer_for_the_person_a_hook_asked_for() -> None:
    shell = Shell()
    stage = stage_for("plain", ASK, shell=shell)

    def on(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            loop = asyncio.get_running_loop()
            loop.call_soon(stage.pending.reconsider)
            op = AnswerApproval(request_id=event.request_id, decision="deny", reason="no")
            loop.call_later(0.02, stage.pending.settle, op)

    await stage.play(on=on)
    (resolved,) = stage.of(ApprovalResolved)
    assert (resolved.by, resolved.decision) == ("user", "deny")
    assert not shell.log


async def test_an_allow_answers_an_ask_and_the_log_says_who_did() -> None:
    shell = Shell()
    stage = stage_for("ask me", ALLOW, shell=shell)
    await stage.play()
    assert not stage.of(ApprovalRequested)
    (resolved,) = stage.of(ApprovalResolved)
    assert (resolved.decision, resolved.by, resolved.rule, resolved.reason) == ("allow", "hook", "./known", "known")
    assert resolved.subject == "ask me"
    assert shell.log


async def test_an_allow_of_what_runs_anyway_leaves_no_trace() -> None:
    stage = stage_for("plain", ALLOW)
    await stage.play()
    assert not stage.of(ApprovalResolved)
    assert stage.of(ToolStarted)


async def test_an_allow_is_never_stronger_than_a_deny() -> None:
    shell = Shell()
    stage = stage_for("deny me", ALLOW, shell=shell)
    await stage.play()
    (resolved,) = stage.of(ApprovalResolved)
    assert (resolved.decision, resolved.by) == ("deny", "rule")
    assert not shell.log


async def test_what_only_a_person_may_answer_is_asked_although_a_hook_allows_it() -> None:
    stage = stage_for("ask me", ALLOW, for_people=True)
    await stage.play(on=answering(stage, decision="deny"))
    assert len(stage.of(ApprovalRequested)) == 1
    assert stage.of(ToolEnded)[0].refused


async def test_each_hook_stands_around_those_after_it_also_when_the_tool_fails() -> None:
    class Failing(Shell):
        """With a bug."""

        async def work(self, params: Params) -> ToolResult:
            raise ValueError("a bug")

    log: list[str] = []
    host = TestHost(hooks=(Saying(name="a", log=log), Saying(name="b", log=log)))
    stage = Stage(ScriptedModel([Call("Shell", {"name": "x"}), Say("ok")]), [Failing()], host=host)
    await stage.play()
    failed = "Shell failed: ValueError: a bug"
    assert log == ["in a", "in b", "out b", f"after b: {failed}", "out a", f"after a: {failed}"]
    assert stage.of(ToolEnded)[0].result.is_error


async def test_an_interrupt_while_a_hook_looks_at_a_result_keeps_the_result() -> None:
    """What ran, ran."""
    looking = asyncio.Event()

    class Slow(Saying):
        """Never done with it."""

        async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
            looking.set()
            await asyncio.Event().wait()
            return result

    model = ScriptedModel([Call("Shell", {"name": "x"}), Say("never")])
    stage = Stage(model, [Shell()], host=TestHost(hooks=(Slow(),)))
    turn = asyncio.create_task(stage.play())
    await looking.wait()
    stage.abort.throw()
    assert (await turn).reason == "interrupted"
    (ended,) = stage.of(ToolEnded)
    assert (ended.result.content, ended.result.is_error) == ("ok", False)
    stage.assert_settled()


async def test_an_input_that_cannot_be_taken_fails_the_call_and_says_whose_it_is() -> None:
    shell = Shell()
    stage = stage_for("plain", CallChange(arguments={"name": ["no text"]}), shell=shell)
    await stage.play()
    (ended,) = stage.of(ToolEnded)
    assert ended.result.is_error
    assert "A hook changed the input" in str(ended.result.content)
    assert not stage.of(CallChanged)
    assert not shell.log


async def test_who_answers_may_change_the_input() -> None:
    shell = Shell()
    stage = stage_for("ask me", shell=shell)
    await stage.play(on=answering(stage, arguments={"name": "ask them"}))
    assert len(stage.of(ApprovalRequested)) == 1
    assert shell.log[0] == "start ask them"
    (changed,) = stage.of(CallChanged)
    assert (changed.arguments, changed.by, changed.tool) == ({"name": "ask them"}, "user", "Shell")
    kinds = [type(event) for event in stage.events if isinstance(event, ApprovalResolved | CallChanged | ToolStarted)]
    assert kinds == [ApprovalResolved, CallChanged, ToolStarted]


async def test_what_is_denied_stays_so_whoever_changes_the_input() -> None:
    for stage in (
        stage_for("ask me"),
        stage_for("plain", CallChange(arguments={"name": "deny it"}, leaning="allow")),
    ):
        await stage.play(on=answering(stage, arguments={"name": "deny it"}))
        last = stage.of(ApprovalResolved)[-1]
        assert (last.decision, last.by, last.subject) == ("deny", "rule", "deny it")
        assert not stage.of(ToolStarted)
        assert stage.of(ToolEnded)[0].refused


async def test_a_changed_input_of_an_answer_that_cannot_be_taken_runs_nothing() -> None:
    shell = Shell()
    stage = stage_for("ask me", shell=shell)
    await stage.play(on=answering(stage, arguments={"name": {}}))
    assert "The answer to its approval changed the input" in str(stage.of(ToolEnded)[0].result.content)
    assert not shell.log


async def test_a_call_that_an_answer_made_unsafe_waits_for_what_runs_beside_it() -> None:
    class Careful(Reader):
        """Safe unless it is told to write."""

        def is_concurrency_safe(self, params: Params) -> bool:
            return not params.name.startswith("write")

    opened = asyncio.Event()
    log: list[str] = []
    tool = Careful(log, {"slow": opened})
    asking = {"ask"}

    def verdict(accesses: tuple[Access, ...]) -> Verdict:
        return Verdict(decision="ask" if asking and not asking.clear() else "allow", why="first")

    calls = [Call("Reader", {"name": "first"}), Call("Reader", {"name": "slow"}), Call("Reader", {"name": "last"})]
    stage = Stage(ScriptedModel([ReplyOf(calls), Say("ok")]), [tool], host=TestHost(verdict=verdict))

    def on(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            op = AnswerApproval(request_id=event.request_id, decision="allow", arguments={"name": "write"})
            asyncio.get_running_loop().call_soon(stage.pending.settle, op)
        if isinstance(event, CallChanged):
            asyncio.get_running_loop().call_later(0.02, opened.set)

    await stage.play(on=on)
    assert log.index("start write") > log.index("end slow")
    stage.assert_settled()


async def test_the_facts_tell_what_ran_and_the_model_keeps_its_own_words(tmp_path: Any) -> None:
    """Live and read back alike."""
    path = tmp_path / "s.jsonl"
    host = TestHost(hooks=(Saying(CallChange(arguments={"name": "pytest -q", "command": "pytest -q"}, hook="./h")),))

    class Bash(Shell):
        """Its name is one that facts know."""

        name = "Bash"

    model = ScriptedModel([Call("Bash", {"name": "make", "command": "make"}), Say("ok")])
    stage = Stage(model, [Bash()], host=host, sink=TranscriptWriter(path, SESSION))
    await stage.play()
    stage.log.close()
    entries = load(path, session_id=SESSION).entries
    live = stage.log.conversation.messages()
    assert view(entries, session_id=SESSION) == live
    written = [part for message in live for part in parts_of(message) if isinstance(part, ToolCallPart)]
    assert [call.arguments for call in written] == [{"name": "make", "command": "make"}]
    assert [fact.command for fact in fold(entries).commands] == ["pytest -q"]
    assert shown_call(entries).arguments["command"] == "pytest -q"
    text = "\n".join(plain(entries, entries))
    assert "Bash(make" in text
    assert "a hook made it Bash(pytest -q" in text


def shown_call(entries: tuple[Entry, ...]) -> ToolCallPart:
    """The call, as a front end that reads the log shows it."""
    told = tuple(Recorded(at="", event=event) for entry in entries for event in events_of(entry))
    (batch,) = [passage for passage in retold(told) if isinstance(passage, BatchPassage)]
    assert batch.calls[0].changed_by == "hook"
    return batch.calls[0].call
