"""Whose hooks run, and what their answers can and cannot allow."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew.llm.scripted import Call, Say
from clew.parts.shells.part import ShellPart
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    HooksChanged,
    HooksOffered,
    Notice,
    Rewound,
    SessionStarted,
    ToolEnded,
)
from clew.protocol.ids import OpId
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.hooks import ApproveHooks, ListHooks
from clew.protocol.ops import AnswerApproval, SubmitPrompt, SwitchSession, Undo
from unit.host.hook_lab import HookLab, approve_all, bash, decision, hook, session
from unit.host.plugs import part_of


@pytest.fixture
def place(tmp_path: Path) -> HookLab:
    return HookLab(tmp_path)


@pytest.mark.parametrize("scope", ["user", "claude_project"])
async def test_an_allow_answers_an_ask_only_from_the_user(place: HookLab, scope: str) -> None:
    hooks = {"PreToolUse": [hook(place.says("yes", decision("allow")), "Write")]}
    place.user(hooks) if scope == "user" else place.claude(hooks)
    approve_all(place)
    target = place.project / "new.txt"
    async with session(place, [Call("Write", {"file_path": str(target), "content": "x"}), Say("ok")]):
        await place.front.submit(SubmitPrompt(content="go"))
        if scope == "user":
            await place.front.until(ToolEnded)
            assert target.exists()
            assert place.front.of(ApprovalResolved)[0].by == "hook"
        else:
            asked = await place.front.until(ApprovalRequested)
            await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="deny"))
            await place.front.until(ToolEnded)
            assert not target.exists()
            assert place.seen("yes")


@pytest.mark.parametrize(
    ("call", "settings", "outcome"),
    [
        (lambda base: Call("Write", {"file_path": f"{base}/project/.git/hooks/x", "content": "x"}), {}, "asks"),
        (lambda base: Call("Read", {"file_path": f"{base}/project/.env"}), {}, "asks"),
        (lambda base: Call("Bash", {"command": "cat .env", "description": "t"}), {}, "asks"),
        (lambda base: Call("Bash", {"command": "touch x", "description": "t"}), {"ask": ["Bash(touch *)"]}, "asks"),
        (lambda base: Call("Bash", {"command": "touch x", "description": "t"}), {"deny": ["Bash(touch *)"]}, "denied"),
        (lambda base: Call("Bash", {"command": "touch x", "description": "t"}), {}, "runs"),
        (lambda base: Call("Bash", {"command": "rm -rf /", "description": "t"}), {}, "denied"),
    ],
)
async def test_what_a_users_allow_can_and_cannot_answer(
    place: HookLab, call: Any, settings: dict[str, Any], outcome: str
) -> None:
    (place.project / ".git").mkdir()
    (place.project / ".env").write_text("KEY=1")
    place.user({"PreToolUse": [hook(place.says("yes", decision("allow")))]}, permissions=settings)
    async with session(place, [call(place.base), Say("ok")]):
        await place.front.submit(SubmitPrompt(content="go"))
        if outcome == "asks":
            asked = await place.front.until(ApprovalRequested)
            await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="deny"))
        await place.front.until(ToolEnded)
        resolved = [(event.by, event.decision) for event in place.front.of(ApprovalResolved)]
        expected = {"asks": [("user", "deny")], "denied": [("rule", "deny")], "runs": [("hook", "allow")]}
        assert resolved == expected[outcome]


async def test_plan_mode_stays_plan_mode(place: HookLab) -> None:
    place.user({"PreToolUse": [hook(place.says("yes", decision("allow")))]})
    target = place.project / "new.txt"
    script = [Call("Write", {"file_path": str(target), "content": "x"}), bash("touch y"), Say("ok")]
    async with session(place, script, flags={"permissionMode": "plan"}):
        await place.say()
    assert [event.decision for event in place.front.of(ApprovalResolved)] == ["deny", "deny"]
    assert not target.exists()
    assert place.seen("yes")[0]["permission_mode"] == "plan"


async def test_hooks_of_a_project_run_only_when_approved(place: HookLab) -> None:
    place.claude({"PreToolUse": [hook(place.says("theirs"))]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        offered = await place.front.until(HooksOffered)
        assert [row.moment for row in offered.hooks] == ["PreToolUse"]
        await place.say()
    assert not place.seen("theirs")
    approve_all(place)
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
        assert not place.front.of(HooksOffered)
    assert len(place.seen("theirs")) == 1


async def test_nobody_asks_in_a_headless_run_and_what_is_left_out_is_listed(place: HookLab) -> None:
    command = place.says("theirs")
    place.claude({"PreToolUse": [hook(command)]})
    async with session(place, [bash("echo hi"), Say("ok")], headless=True):
        await place.say()
        told = [event.text for event in place.front.of(Notice) if event.code == "hooks"]
    assert not place.seen("theirs")
    assert len(told) == 1
    assert all(words in told[0] for words in ("PreToolUse", command, ".claude/settings.json", "clew hooks approve"))


async def test_nothing_of_an_untrusted_project_is_read_or_run(tmp_path: Path) -> None:
    place = HookLab(tmp_path, trusted=False)
    place.claude({"PreToolUse": [hook(place.says("theirs"))], "SessionStart": [hook(place.says("start"))]})
    approve_all(place)
    async with session(place, [Call("Read", {"file_path": "x"}), Say("ok")]):
        await place.say()
        assert not place.front.of(HooksOffered)
    assert not place.seen("theirs")
    assert not place.seen("start")


async def test_a_users_allow_answers_an_ask_as_the_user_could_wherever_that_is(tmp_path: Path) -> None:
    place = HookLab(tmp_path, trusted=False)
    place.user({"PreToolUse": [hook(place.says("yes", decision("allow")))]})
    async with session(place, [bash("touch x"), Say("ok")]):
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(ToolEnded)
    assert (place.project / "x").exists()


async def test_a_hook_whose_file_changed_is_offered_again_and_not_run(place: HookLab) -> None:
    script = place.project / "check.sh"
    script.write_text(f"cat >> {place.base}/check.log\n")
    place.claude({"PreToolUse": [hook("sh ./check.sh")]})
    approve_all(place)
    async with session(place, [bash("echo 1"), Say("ok"), bash("echo 2"), Say("ok"), bash("echo 3"), Say("ok")]):
        await place.say()
        assert len(place.seen("check")) == 1
        script.write_text(f"touch {place.base}/evil\n")
        await place.say("again")
        (offered,) = place.front.of(HooksOffered)
        assert offered.hooks[0].command == "sh ./check.sh"
        await place.say("and again")
        assert len(place.front.of(HooksOffered)) == 1
    assert not (place.base / "evil").exists()


async def test_a_hook_that_was_offered_and_approved_here_is_offered_again_when_its_file_changes(place: HookLab) -> None:
    """Whoever approved it in this very session must not find it silently gone; and what was approved runs again."""
    script = place.project / "check.sh"
    approved = f"cat >> {place.base}/check.log\n"
    script.write_text(approved)
    place.claude({"PreToolUse": [hook("sh ./check.sh")]})
    async with session(place, [item for number in range(3) for item in (bash(f"echo {number}"), Say("ok"))]):
        (offered,) = place.front.of(HooksOffered)
        await place.front.look_up(ApproveHooks(digests=(offered.hooks[0].digest,)))
        await place.say()
        assert len(place.seen("check")) == 1
        script.write_text(f"touch {place.base}/evil\n")
        await place.say("again")
        first, again = place.front.of(HooksOffered)
        assert again.hooks[0].digest != first.hooks[0].digest
        script.write_text(approved)
        await place.say("and again")
        assert len(place.seen("check")) == 2
        assert len(place.front.of(HooksOffered)) == 2
    assert not (place.base / "evil").exists()


async def test_secrets_never_reach_a_hook(place: HookLab) -> None:
    place.env |= {"ANTHROPIC_API_KEY": "sk-ant-canary-000", "MY_TOKEN": "canary-111", "PLAIN": "yes"}
    place.user({"PreToolUse": [hook(place.says("env", more=f"env > {place.base}/env.txt"))]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
    env = (place.base / "env.txt").read_text()
    assert "canary" not in env
    assert f"CLAUDE_PROJECT_DIR={place.project}" in env


async def test_leaving_the_sandbox_is_for_a_person_to_allow(place: HookLab) -> None:
    changed = decision("allow", updatedInput={"command": "touch out", "description": "t", "leave_sandbox": True})
    place.user({"PreToolUse": [hook(place.says("yes", changed))]})
    async with session(place, [bash("touch out"), Say("ok")], flags={"sandbox.mode": "auto"}):
        sandbox = part_of(place.front.door, ShellPart)._tools.sandbox
        if sandbox is None or not sandbox.enforced:
            pytest.skip("there is no sandbox on this machine")
        await place.front.submit(SubmitPrompt(content="go"))
        asked = await place.front.until(ApprovalRequested)
        assert "leaves the sandbox" in asked.why
        await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="deny"))
        await place.front.until(ToolEnded)
    assert not (place.project / "out").exists()


async def test_hooks_are_listed_and_approved_by_exactly_their_digest(place: HookLab) -> None:
    place.claude({"PreToolUse": [hook(place.says("theirs"))], "TeammateIdle": [hook("true")]})
    async with session(place, [bash("echo hi"), Say("ok")]):
        listed = await place.front.look_up(ListHooks())
        assert [(row.moment, row.state) for row in listed.hooks] == [
            ("PreToolUse", "unapproved"),
            ("TeammateIdle", "unapproved"),
        ]
        with pytest.raises(LookupRefused, match="changed"):
            await place.front.look_up(ApproveHooks(digests=("0" * 64,)))
        answered = await place.front.look_up(ApproveHooks(digests=(listed.hooks[0].digest,)))
        assert answered.hooks[0].state == "approved"
        assert (await place.front.until(HooksChanged)).hooks == answered.hooks, "others at the session hear of it"
        await place.say()
        assert len(place.seen("theirs")) == 1
        no_more = ApproveHooks(digests=(listed.hooks[0].digest,), approved=False)
        assert (await place.front.look_up(no_more)).hooks[0].state == "unapproved"


async def test_what_was_offered_in_this_process_is_not_offered_again(place: HookLab) -> None:
    place.claude({"PreToolUse": [hook(place.says("theirs"))]})
    async with session(place, [Say("ok")]):
        await place.front.until(HooksOffered)
        await place.say()
        await place.front.submit(SwitchSession())
        await place.front.until(SessionStarted, 2)
        assert len(place.front.of(HooksOffered)) == 1


async def test_settings_that_cannot_be_understood_are_told_and_the_rest_runs(place: HookLab) -> None:
    (place.project / ".claude").mkdir()
    hooks = {"PreToolUse": [hook(place.says("theirs"))], "NoSuchMoment": [hook("true")]}
    (place.project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    approve_all(place)
    async with session(place, [bash("echo hi"), Say("ok")]):
        await place.say()
        assert any("NoSuchMoment" in event.text for event in place.front.of(Notice))
    assert len(place.seen("theirs")) == 1


@pytest.mark.parametrize("moment", ["PostToolUse", "Stop"])
async def test_undo_takes_back_what_a_hook_did_to_files_too(place: HookLab, moment: str) -> None:
    """A formatter belongs to the turn."""
    target, other = place.project / "a.txt", place.project / "b.txt"
    target.write_text("old\n")
    other.write_text("untouched\n")
    formatter = f"tr a-z A-Z < {target} > {target}.new && mv {target}.new {target}; echo more >> {other}"
    place.user({moment: [hook(formatter, "Edit|" if moment == "PostToolUse" else "")]})
    script = [
        Call("Read", {"file_path": str(target)}),
        Call("Edit", {"file_path": str(target), "old_string": "old", "new_string": "new"}),
        Say("done"),
    ]
    async with session(place, script, flags={"permissionMode": "acceptEdits"}):
        await place.say()
        assert target.read_text() == "NEW\n"
        await place.front.submit(Undo(op_id=OpId("undo")))
        await place.front.until(Rewound)
        assert target.read_text() == "old\n"
        assert other.read_text() == "untouched\n"
