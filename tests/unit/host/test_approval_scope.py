"""Answers to approvals that change more than one call: for this session, always, and a mode in the same moment."""

from pathlib import Path
from typing import Any

from clew.llm.scripted import Call, ReplyOf, Say
from clew.protocol.events import ApprovalRequested, ApprovalResolved, PermissionModeChanged, SessionStarted, TurnEnded
from clew.protocol.lookups.rules_and_models import AllowRule, ListRules, RemoveRule
from clew.protocol.ops import AnswerApproval, SetPermissionMode, SubmitPrompt
from clew.transcript.mapping.retelling import events_of
from clew.transcript.past.reader import load
from engine.harness import SESSION
from unit.host.lab import Lab, lab


def touch(name: str) -> ReplyOf:
    return ReplyOf([Call("Bash", {"command": f"touch {name}"})])


def writes(*names: str) -> ReplyOf:
    return ReplyOf([Call("Write", {"file_path": name, "content": "x\n"}) for name in names])


async def asked(place: Lab, count: int = 1) -> ApprovalRequested:
    request: ApprovalRequested = await place.front.until(ApprovalRequested, count)
    return request


def answer(request: ApprovalRequested, **more: Any) -> AnswerApproval:
    return AnswerApproval(request_id=request.request_id, **more)


async def test_for_this_session_holds_here_and_is_written_nowhere(tmp_path: Path) -> None:
    async with lab(tmp_path, touch("one"), touch("one"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        request = await asked(place)
        rule = request.offers[0].rule
        await place.front.submit(answer(request, decision="allow_always", rules=(rule,), scope="session"))
        await place.front.until(TurnEnded)
        assert len(place.front.of(ApprovalRequested)) == 1
        resolved: ApprovalResolved = place.front.of(ApprovalResolved)[0]
        assert (resolved.scope, resolved.saved_in, resolved.rule) == ("session", "", rule)
        listed = await place.look_up(ListRules())
        assert [(row.rule, row.scope, row.removable) for row in listed.rules] == [(rule, "session", True)]
        assert not list(place.home.rglob("permissions.json"))
        assert (await place.look_up(RemoveRule(rule=rule))).rules == ()
    kept = [event for entry in load(place.path, session_id=SESSION).entries for event in events_of(entry)]
    assert resolved in kept


async def test_always_names_the_file_that_keeps_it(tmp_path: Path) -> None:
    async with lab(tmp_path, touch("one"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        request = await asked(place)
        rule = request.offers[0].rule
        await place.front.submit(answer(request, decision="allow_always", rules=(rule,)))
        resolved: ApprovalResolved = await place.front.until(ApprovalResolved)
        await place.front.until(TurnEnded)
        assert resolved.scope == "project"
        assert rule in Path(resolved.saved_in).read_text()


async def test_once_saves_nothing(tmp_path: Path) -> None:
    async with lab(tmp_path, touch("one"), touch("one"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.submit(answer(await asked(place), decision="allow"))
        await place.front.submit(answer(await asked(place, 2), decision="allow", scope="session"))
        await place.front.until(TurnEnded)
        assert [(event.scope, event.saved_in) for event in place.front.of(ApprovalResolved)] == [("", ""), ("", "")]
        assert (await place.look_up(ListRules())).rules == ()


async def test_accepting_edits_from_now_on_is_one_answer(tmp_path: Path) -> None:
    async with lab(tmp_path, writes("a", "b", "c"), writes("d"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.submit(answer(await asked(place), decision="allow", mode="acceptEdits"))
        await place.front.until(TurnEnded)
        assert len(place.front.of(ApprovalRequested)) == 1
        assert {path.name for path in place.project.iterdir()} == {"a", "b", "c", "d"}
        assert [(event.decision, event.by) for event in place.front.of(ApprovalResolved)] == [("allow", "user")]
        assert [event.mode for event in place.front.of(PermissionModeChanged)] == ["acceptEdits"]
        kinds = [type(event) for event in place.front.events]
        assert kinds.index(PermissionModeChanged) < kinds.index(ApprovalResolved)
        assert not place.door.session.journal.main.state.waiting


async def test_what_the_new_mode_does_not_settle_goes_on_waiting(tmp_path: Path) -> None:
    async with lab(tmp_path, ReplyOf([Call("Bash", {"command": "curl x.example"})]), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        request = await asked(place)
        await place.ask(SetPermissionMode(mode="acceptEdits"), PermissionModeChanged)
        await place.look_up(ListRules())
        assert place.door.session.pending.waits_for(answer(request, decision="deny"))
        await place.front.submit(answer(request, decision="deny"))
        await place.front.until(TurnEnded)
        assert [(event.decision, event.by) for event in place.front.of(ApprovalResolved)] == [("deny", "user")]


async def test_a_mode_set_while_something_waits_settles_it_too(tmp_path: Path) -> None:
    async with lab(tmp_path, writes("a"), writes("b"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await asked(place)
        await place.front.submit(SetPermissionMode(mode="acceptEdits"))
        await place.front.until(TurnEnded)
        assert (place.project / "b").exists()
        assert [(event.decision, event.by) for event in place.front.of(ApprovalResolved)] == [("allow", "rule")]


async def test_plan_mode_refuses_what_waits(tmp_path: Path) -> None:
    async with lab(tmp_path, writes("a"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await asked(place)
        await place.front.submit(SetPermissionMode(mode="plan"))
        await place.front.until(TurnEnded)
        assert not (place.project / "a").exists()
        assert [(event.decision, event.by) for event in place.front.of(ApprovalResolved)] == [("deny", "rule")]


async def test_a_rule_that_is_added_settles_what_waits(tmp_path: Path) -> None:
    async with lab(tmp_path, touch("one"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        await asked(place)
        await place.look_up(AllowRule(rule="Bash(touch *)"))
        await place.front.until(TurnEnded)
        assert (place.project / "one").exists()


async def test_an_answer_with_a_mode_there_is_not_changes_nothing(tmp_path: Path) -> None:
    async with lab(tmp_path, writes("a"), Say("done"), judged=True) as place:
        await place.front.submit(SubmitPrompt(content="go"))
        request = await asked(place)
        assert "no permission mode" in await place.refused(answer(request, decision="allow", mode="yolo"))
        assert "no changes" in await place.refused(answer(request, decision="deny", mode="acceptEdits"))
        assert not place.front.of(ApprovalResolved)
        await place.front.submit(answer(request, decision="deny"))
        await place.front.until(TurnEnded)
        stale = answer(request, decision="allow", mode="bypassPermissions")
        assert "answered already" in await place.refused(stale)
        assert place.door.opened.permits.policy.mode == "default"


async def test_whether_the_mode_that_asks_nothing_may_be_cycled_to_is_told(tmp_path: Path) -> None:
    async with lab(tmp_path) as place:
        started: SessionStarted = place.front.of(SessionStarted)[0]
        assert not started.may_bypass
        place.door.opened.permits.started_with = "bypassPermissions"
        assert place.door._started().may_bypass  # pyright: ignore[reportPrivateUsage] what a late front end is told
