"""The user's hooks in a whole session: what each moment is told, what its answers do, and what they never do."""

import asyncio
import os
from pathlib import Path

import pytest

from clew.llm.errors import InvalidRequest
from clew.llm.scripted import Fail, Say
from clew.parts.hooks import part as hook_parts
from clew.protocol.events import (
    ApprovalResolved,
    CallChanged,
    CompactionEnded,
    CompactionFailed,
    HookAwaited,
    HookRan,
    Notice,
    Notified,
    PromptAccepted,
    PromptOffered,
    PromptWithdrawn,
    TitleChanged,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from clew.protocol.ops import ClearContext, Compact, Interrupt, SubmitPrompt
from fakes.effort import HANG_S
from unit.host.hook_lab import HookLab, bash, decision, hook, session


@pytest.fixture
def place(tmp_path: Path) -> HookLab:
    return HookLab(tmp_path)


async def test_a_call_is_told_before_and_after(place: HookLab) -> None:
    place.user({moment: [hook(place.says(moment), "Bash")] for moment in ("PreToolUse", "PostToolUse")})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
    (before,) = place.seen("PreToolUse")
    (after,) = place.seen("PostToolUse")
    assert before["hook_event_name"] == "PreToolUse"
    assert before["tool_name"] == "Bash"
    assert before["tool_input"]["command"] == "echo hi"
    assert before["permission_mode"] == "default"
    assert before["cwd"] == str(place.project)
    assert Path(before["transcript_path"]).exists()
    assert Path(before["transcript_path"]).stem == before["session_id"]
    assert after["tool_response"]["stdout"].strip() == "hi"
    assert after["tool_use_id"] == before["tool_use_id"]
    assert [event.outcome for event in place.front.of(HookRan)] == ["ok", "ok"]


async def test_a_failed_call_is_told_as_a_failure(place: HookLab) -> None:
    place.user({moment: [hook(place.says(moment))] for moment in ("PostToolUse", "PostToolUseFailure")})
    async with session(place, [bash("false"), Say("ok")], flags={"permissions.allow": ["Bash(false)"]}):
        await place.say()
    assert not place.seen("PostToolUse")
    (failed,) = place.seen("PostToolUseFailure")
    assert failed["is_interrupt"] is False
    assert failed["error"]


async def test_a_deny_refuses_and_counts(place: HookLab) -> None:
    place.user({"PreToolUse": [hook(place.says("guard", code=2, err="not today"), "Bash")]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
    (resolved,) = place.front.of(ApprovalResolved)
    assert (resolved.by, resolved.decision, resolved.reason) == ("hook", "deny", "not today")
    assert "guard.sh" in resolved.rule
    (ended,) = place.front.of(ToolEnded)
    assert ended.refused
    assert "not today" in place.sent
    assert place.front.of(HookRan)[0].outcome == "blocked"


async def test_changed_input_is_what_runs_and_the_log_says_so(place: HookLab) -> None:
    changed = decision("allow", updatedInput={"command": "echo changed", "description": "test"})
    place.user({"PreToolUse": [hook(place.says("rewrite", changed), "Bash")]})
    async with session(place, [bash("echo original"), Say("ok")]):
        await place.say()
    (event,) = place.front.of(CallChanged)
    assert event.arguments["command"] == "echo changed"
    assert "rewrite.sh" in event.hook
    assert "changed" in str(place.front.of(ToolEnded)[0].result.content)
    assert "echo original" in place.sent


async def test_the_strictest_of_several_decides_and_all_run(place: HookLab) -> None:
    place.user(
        {
            "PreToolUse": [
                hook(place.says("yes", decision("allow"))),
                hook(place.says("no", decision("deny", "no and no"))),
                hook(place.says("maybe", decision("ask"))),
            ]
        }
    )
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
    assert all(len(place.seen(name)) == 1 for name in ("yes", "no", "maybe"))
    assert place.front.of(ApprovalResolved)[0].reason == "no and no"


async def test_hooks_of_a_moment_run_at_once(place: HookLab) -> None:
    """Each waits for the other: one after the other they would both time out."""
    wait = "while [ ! -e {there} ]; do sleep 0.02; done"
    one = place.says("one", more=f"touch {place.base}/a; " + wait.format(there=place.base / "b"))
    two = place.says("two", more=f"touch {place.base}/b; " + wait.format(there=place.base / "a"))
    place.user({"PreToolUse": [hook(one, timeout=30), hook(two, timeout=30)]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
    assert [event.outcome for event in place.front.of(HookRan)] == ["ok", "ok"]


async def test_words_of_hooks_join_after_the_step(place: HookLab) -> None:
    before = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "look at a.py too"}}
    after = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "it was formatted"}}
    place.user({"PreToolUse": [hook(place.says("pre", before))], "PostToolUse": [hook(place.says("post", after))]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
    hidden = [str(event.content) for event in place.front.of(PromptAccepted) if event.hidden]
    assert len(hidden) == 2
    assert "look at a.py too" in hidden[0]
    assert "it was formatted" in hidden[1]
    assert "it was formatted" not in str(place.front.of(ToolEnded)[0].result.content)
    assert "it was formatted" in place.sent


async def test_a_block_after_a_call_is_told_with_its_result(place: HookLab) -> None:
    place.user({"PostToolUse": [hook(place.says("lint", {"decision": "block", "reason": "3 lint errors"}))]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
    assert "3 lint errors" in str(place.front.of(ToolEnded)[0].result.content)
    assert not place.front.of(ToolEnded)[0].refused


@pytest.mark.parametrize("moment", ["PreToolUse", "PostToolUse"])
async def test_continue_false_ends_the_turn_when_its_calls_are_settled(place: HookLab, moment: str) -> None:
    place.user({moment: [hook(place.says("stop", {"continue": False, "stopReason": "enough for today"}))]})
    async with session(place, [bash("echo hi"), Say("never")]):
        ended = await place.say()
    assert (ended.reason, ended.error) == ("stopped_by_hook", "enough for today")
    assert len(place.model.requests) == 1
    (call,) = place.front.of(ToolEnded)
    assert call.refused is (moment == "PreToolUse")


async def test_a_prompt_that_is_blocked_never_joins_and_is_given_back(place: HookLab) -> None:
    place.user(
        {"UserPromptSubmit": [hook(place.says("guard", {"decision": "block", "reason": "it names a customer"}))]}
    )
    async with session(place, [Say("never")]):
        ended = await place.say("about ACME")
        assert (ended.reason, ended.error) == ("stopped_by_hook", "the prompt was not sent: it names a customer")
        assert place.front.of(PromptOffered)[0].text == "about ACME"
        assert len(place.front.of(PromptWithdrawn)) == 1
        assert not place.front.of(PromptAccepted)
        assert not place.front.door.session.journal.main.conversation.messages()
    assert place.seen("guard")[0]["prompt"] == "about ACME"
    assert not place.model.requests
    assert "ACME" not in "".join(path.read_text() for path in place.home.rglob("*.jsonl"))


async def test_words_and_a_title_join_with_a_prompt(place: HookLab) -> None:
    said = {"hookEventName": "UserPromptSubmit", "additionalContext": "Branch: main", "sessionTitle": "Named by a hook"}
    place.user({"UserPromptSubmit": [hook(place.says("ctx", {"hookSpecificOutput": said}))]})
    async with session(place, [Say("ok")]):
        await place.say("hello")
        titles = [event.title for event in place.front.of(TitleChanged)]
    assert "Branch: main" in place.sent
    assert titles[0] == "Named by a hook"


async def test_what_is_said_meanwhile_is_looked_at_too(place: HookLab) -> None:
    more = f'if grep -q "second" {place.base}/guard.log; then echo no >&2; exit 2; fi'
    place.user({"UserPromptSubmit": [hook(place.says("guard", more=more))], "PreToolUse": [hook(place.says("slow"))]})
    async with session(place, [bash("sleep 0.3"), Say("ok")], flags={"permissions.allow": ["Bash(sleep *)"]}):
        await place.front.submit(SubmitPrompt(content="first"))
        await place.front.until(HookRan, 2)
        await place.say("second")
        assert [event.content for event in place.front.of(PromptAccepted)] == ["first"]
        assert any("not sent: no" in event.text for event in place.front.of(Notice))
    assert "second" not in place.sent


async def test_the_start_of_a_session_adds_words_before_the_first_request(place: HookLab) -> None:
    place.user({"SessionStart": [hook(place.says("start", "the build is red"), "startup")]})
    async with session(place, [Say("ok"), Say("ok")]):
        await place.say()
        assert "the build is red" in place.sent
        await place.say("again")
    assert [told["source"] for told in place.seen("start")] == ["startup"]
    assert place.sent.count("the build is red") == 1
    async with session(place, [Say("ok")], newest=True):
        await place.say()
    assert len(place.seen("start")) == 1


async def test_a_stop_hook_sends_the_model_on_and_is_told_that_it_did(place: HookLab) -> None:
    more = f"if [ $(wc -l < {place.base}/stop.log) -gt 1 ]; then exit 0; fi"
    block = {"decision": "block", "reason": "the tests have not run"}
    place.user({"Stop": [hook(place.says("stop", block, more=more))]})
    async with session(place, [Say("done"), Say("now really")]):
        ended = await place.say()
    assert ended.reason == "completed"
    assert len(place.model.requests) == 2
    assert "the tests have not run" in place.sent
    assert [told["stop_hook_active"] for told in place.seen("stop")] == [False, True]
    assert place.seen("stop")[1]["last_assistant_message"] == "now really"


async def test_al_11_a_stop_hook_that_always_blocks_is_bounded(place: HookLab) -> None:
    place.user({"Stop": [hook(place.says("stop", {"decision": "block", "reason": "more"}))]})
    async with session(place, [Say("done")] * 30):
        ended = await place.say()
        assert ended.reason == "completed"
        assert len(place.model.requests) == 9
        assert any("8 times" in event.text for event in place.front.of(Notice))
        await place.say("again")
        assert len(place.model.requests) == 18


async def test_no_stop_hook_after_a_request_that_failed(place: HookLab) -> None:
    place.user({"Stop": [hook(place.says("stop", {"decision": "block", "reason": "more"}))]})
    async with session(place, [Fail(InvalidRequest("no")), Say("ok")]):
        ended = await place.say()
    assert ended.reason == "model_error"
    assert not place.seen("stop")


async def test_no_stop_hook_after_a_limit(place: HookLab) -> None:
    place.user({"Stop": [hook(place.says("stop"))]})
    async with session(place, [bash("echo hi"), Say("ok")], flags={"limits.maxSteps": 1}):
        ended = await place.say()
    assert ended.reason == "max_turns"
    assert not place.seen("stop")


async def test_compaction_asks_first(place: HookLab) -> None:
    place.user({"PreCompact": [hook(place.says("no", {"decision": "block", "reason": "not yet"}), "manual")]})
    async with session(place, [Say("ok")]):
        await place.say()
        await place.front.submit(Compact(focus="the parser"))
        failed = await place.front.until(CompactionFailed)
    assert "not yet" in failed.reason
    (told,) = place.seen("no")
    assert (told["trigger"], told["custom_instructions"]) == ("manual", "the parser")


async def test_words_for_a_compaction_are_heeded_by_its_summary(place: HookLab) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "PreCompact", "additionalContext": "keep every port number"}}
    place.user({"PreCompact": [hook(place.says("focus", said))]})
    long = "words " * 4_000
    async with session(place, [Say(long), Say(long), Say(long), *[Say("Nothing of the kind.")] * 6]):
        for number in range(3):
            await place.say(f"{number} {long}")
        await place.front.submit(Compact(focus="the parser"))
        await place.front.until(
            CompactionEnded
        )  # these words are no summary: facts alone; what was asked for is what counts
    asked = [str(request.messages) + str(request.system) for request in place.model.requests[3:]]
    assert asked
    assert all("keep every port number" in words and "the parser" in words for words in asked)


async def test_a_view_that_begins_anew_starts_the_session_again_for_hooks(place: HookLab) -> None:
    place.user({"SessionStart": [hook(place.says("start", "fresh words"))]})
    async with session(place, [Say("ok"), Say("ok")]):
        await place.say()
        await place.front.submit(ClearContext())
        await place.front.until(CompactionEnded)
        await place.say("again")
    assert [told["source"] for told in place.seen("start")] == ["startup", "clear"]
    assert place.sent.count("fresh words") == 1


async def test_a_call_that_was_interrupted_is_told_as_such(place: HookLab) -> None:
    place.user({"PostToolUseFailure": [hook(place.says("failed"))]})
    async with session(place, [bash("sleep 300"), Say("ok")], flags={"permissions.allow": ["Bash(sleep *)"]}):
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(ToolStarted)
        await place.front.submit(Interrupt())
        await place.front.until(TurnEnded)
        await place.front.until(HookRan)
    (told,) = place.seen("failed")
    assert told["is_interrupt"] is True
    assert told["tool_input"]["command"] == "sleep 300"


async def test_notices_go_to_hooks_and_nobody_waits_for_them(place: HookLab) -> None:
    place.user({"Notification": [hook(place.says("tell"), "permission_prompt")]})
    async with session(place, [Say("ok")]):
        for kind, text in (("needs_approval", "Bash asks"), ("done", "It is done")):
            place.front.door.session.publish(Notified(kind=kind, text=text))  # pyright: ignore[reportArgumentType]  # words of this file
        await place.front.until(HookRan)
    (told,) = place.seen("tell")
    assert (told["message"], told["notification_type"], told["title"]) == ("Bash asks", "permission_prompt", "clew")


async def test_the_end_is_told(place: HookLab) -> None:
    place.user({"SessionEnd": [hook(place.says("end"))]})
    async with session(place, [Say("ok")]):
        await place.say()
    assert [told["reason"] for told in place.seen("end")] == ["prompt_input_exit"]


async def test_hooks_of_the_end_keep_nobody(place: HookLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_parts, "END_LIMIT_S", 0.3)
    hanging = place.says("hanging", more=f"echo $$ > {place.base}/pid; sleep 300")
    place.user({"SessionEnd": [hook(hanging, timeout=300)]})
    async with session(place, [Say("ok")]):
        await place.say()
    assert [event.outcome for event in place.front.of(HookRan)] == ["timed_out"]
    assert_gone(place)


async def test_what_is_still_being_told_and_the_end_share_their_time(
    place: HookLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that hangs up waits five seconds: for the longest of all farewells, not for their sum."""
    for limit in ("END_LIMIT_S", "TOLD_LIMIT_S"):
        monkeypatch.setattr(hook_parts, limit, HANG_S)
    meet = "until [ -e {base}/{other} ]; do sleep 0.02; done"
    for name, other in (("told", "ended"), ("ended", "told")):
        place.says(name, more=f"touch {place.base}/{name}; {meet.format(base=place.base, other=other)}")
    place.user({"Notification": [hook(f"sh {place.base}/told.sh")], "SessionEnd": [hook(f"sh {place.base}/ended.sh")]})
    async with session(place, [Say("ok")]):
        place.front.door.session.publish(Notified(kind="done", text="It is done"))
    assert [event.outcome for event in place.front.of(HookRan)] == ["ok", "ok"]


async def test_an_interrupt_stops_the_hook_and_the_turn(place: HookLab) -> None:
    forever = place.says("forever", more=f"echo $$ > {place.base}/pid; sleep 300")
    place.user({"PreToolUse": [hook(forever, timeout=300)]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(HookAwaited)
        await place.front.submit(Interrupt())
        ended = await place.front.until(TurnEnded)
        assert ended.reason == "interrupted"
        assert place.front.of(ToolEnded)[0].result.is_error
    assert_gone(place)


async def test_an_interrupt_while_a_prompt_is_looked_at_gives_it_back(place: HookLab) -> None:
    forever = place.says("forever", more=f"echo $$ > {place.base}/pid; sleep 300")
    place.user({"UserPromptSubmit": [hook(forever, timeout=300)]})
    async with session(place, [Say("never")]):
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(HookAwaited)
        await place.front.submit(Interrupt())
        offered = await place.front.until(PromptOffered)
        assert offered.text == "go"
        assert not place.front.of(PromptAccepted)
    assert_gone(place)
    assert not place.model.requests


def assert_gone(place: HookLab) -> None:
    written = place.base / "pid"
    if not written.exists():
        return  # it was ended before it came so far
    pid = int(written.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_hook_that_hangs_is_ended_and_the_call_goes_on(place: HookLab) -> None:
    hanging = place.says("hanging", more=f"echo $$ > {place.base}/pid; sleep 300")
    place.user({"PreToolUse": [hook(hanging, timeout=0.3)]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        ended = await place.say()
    assert ended.reason == "completed"
    assert place.front.of(HookRan)[0].outcome == "timed_out"
    assert not place.front.of(ToolEnded)[0].result.is_error
    assert_gone(place)


async def test_messages_for_people_are_shown(place: HookLab) -> None:
    place.user({"PreToolUse": [hook(place.says("tell", {"systemMessage": "be careful"}))]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
        assert [event.text for event in place.front.of(Notice) if event.code == "hook"] == ["be careful"]


async def test_a_session_that_closes_leaves_no_hook_behind(place: HookLab) -> None:
    forever = place.says("forever", more=f"echo $$ > {place.base}/pid; sleep 300")
    place.user({"SessionStart": [hook(forever, timeout=300)], "SessionEnd": [hook(place.says("end"))]})
    async with session(place, [Say("ok")]):
        await place.front.until(HookAwaited)
    assert_gone(place)
    assert len(place.seen("end")) == 1
    await asyncio.sleep(0)
