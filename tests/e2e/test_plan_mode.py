"""Plan mode through the real command: nobody there, a driving program, a kill, a copy, a pipe."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from clew.protocol.ids import SessionId
from clew.transcript.log.store import SessionStore
from e2e.command import Place, Serve
from e2e.driver import Driven, Json, is_asked
from e2e.screen_person import ScreenPerson
from e2e.test_dialogue import bash, write_call

PLAN = "# Move the cache\n\n1. Read `cache.py`\n2. Write `store.py`\n"
ASK = ("--permission-prompt-tool", "stdio")


def proposed(plan: str = PLAN) -> Json:
    return {"calls": [{"call": "ExitPlanMode", "arguments": {"plan": plan}}]}


def last_result(body: Json) -> str:
    """The texts of the newest tool results of a request."""
    for message in reversed(body["messages"]):
        parts = message["content"] if isinstance(message["content"], list) else []
        if found := [part for part in parts if part["type"] == "tool_result"]:
            return json.dumps(found)
    return ""


def words_to(server: Any, number: int) -> str:
    return json.dumps(server.requests[number].body["messages"])


def plan_file(place: Place) -> Path:
    (found,) = place.clew_home.glob("projects/*/*/plan.md")
    return found


def allow(run: Driven, **more: Any) -> Json:
    asked = run.until(is_asked("can_use_tool"))
    run.answer(asked, {"behavior": "allow", "updatedInput": asked["request"]["input"], **more})
    return asked["request"]


def test_with_nobody_there_the_plan_is_the_result_and_the_mode_stays(serve: Serve) -> None:
    place, server = serve([write_call("store.py"), proposed(), {"text": "never asked for"}])
    done = place.run("-p", "move the cache", "--permission-mode", "plan", "--output-format", "json")
    assert (done.code, done.err, done.result["subtype"]) == (0, "", "success")
    assert done.result["result"] == PLAN
    assert len(server.requests) == 2
    assert not (place.project / "store.py").exists()
    assert "plan mode changes nothing" in last_result(server.requests[1].body)
    first = server.requests[0].body
    assert "Plan mode is on" in json.dumps(first["messages"])
    assert "Plan mode is on" not in json.dumps(first["system"])
    assert plan_file(place).read_text() == PLAN
    assert oct(plan_file(place).stat().st_mode)[-3:] == "600"


def test_a_resumed_session_is_still_in_plan_mode_and_text_shows_the_plan(serve: Serve) -> None:
    place, server = serve([proposed(), write_call("store.py"), {"text": "not yet"}])
    assert place.run("-p", "plan it", "--permission-mode", "plan").out.strip() == PLAN.strip()
    assert place.run("-p", "do it", "-c").out.strip() == "not yet"
    assert not (place.project / "store.py").exists()
    assert "shown and not answered" in words_to(server, 1)
    shown = place.run("-p", "/plan", "-c")
    assert "Move the cache" in shown.out
    assert "waits for your answer" in shown.out


def test_the_bytes_already_sent_stay_when_the_mode_changes(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "ok"}})
    with Driven(place) as run:
        for mode in ("default", "plan", "plan", "default"):
            run.answered(f"to-{mode}-{len(server.requests)}", "set_permission_mode", mode=mode)
            run.say("and now?")
            run.result()
        run.end()
    bodies = [request.body for request in server.requests]
    assert len({json.dumps([body["system"], body["tools"]]) for body in bodies}) == 1
    for before, after in pairwise(bodies):
        assert [said(item) for item in after["messages"]][: len(before["messages"])] == [
            said(item) for item in before["messages"]
        ]
    told = [json.dumps(body["messages"][-1]) for body in bodies]
    assert ["Plan mode is on" in one for one in told] == [False, True, False, False]
    assert ["Plan mode is off" in one for one in told] == [False, False, False, True]


def said(message: Json) -> str:
    """A message without the marks of the prompt cache."""
    return json.dumps(message).replace(', "cache_control": {"type": "ephemeral"}', "")


@pytest.mark.parametrize(
    ("answer", "mode", "words"),
    [
        ({}, "default", "the permission mode is default"),
        (
            {"updatedPermissions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]},
            "acceptEdits",
            "edits are accepted without asking",
        ),
        ({"updatedInput": {"plan": "# Only read"}}, "default", "this is what counts:\\n\\n# Only read"),
    ],
)
def test_a_driving_program_is_asked_and_its_answer_counts(serve: Serve, answer: Json, mode: str, words: str) -> None:
    place, server = serve([proposed(), {"text": "begun"}])
    with Driven(place, *ASK, "--permission-mode", "plan") as run:
        run.say("move the cache")
        asked = allow(run, **answer)
        assert (asked["tool_name"], asked["input"]["plan"]) == ("ExitPlanMode", PLAN)
        assert Path(asked["input"]["planFilePath"]).read_text() == PLAN
        assert run.result()["result"] == "begun"
        assert run.end() == 0
    assert words in last_result(server.requests[1].body)
    modes = [line["permissionMode"] for line in run.of("system", "status") if "permissionMode" in line]
    assert modes[-1] == mode
    assert plan_file(place).read_text() == answer.get("updatedInput", {}).get("plan", PLAN)


def test_accepting_goes_back_to_the_mode_from_before(serve: Serve) -> None:
    place, server = serve([proposed(), write_call("store.py"), {"text": "done"}])
    with Driven(place, *ASK, "--permission-mode", "bypassPermissions") as run:
        run.answered("m", "set_permission_mode", mode="plan")
        run.say("move the cache")
        allow(run)
        assert run.result()["result"] == "done"
        run.end()
    assert (place.project / "store.py").exists()
    assert "the permission mode is bypassPermissions" in last_result(server.requests[1].body)


def test_a_no_is_told_in_the_words_of_whoever_said_it(serve: Serve) -> None:
    place, server = serve([proposed(), write_call("store.py"), {"text": "planning on"}])
    with Driven(place, *ASK, "--permission-mode", "plan") as run:
        run.say("move the cache")
        asked = run.until(is_asked("can_use_tool"))
        run.answer(asked, {"behavior": "deny", "message": "and the tests?"})
        assert run.result()["result"] == "planning on"
        run.end()
    assert "The user says: and the tests?" in last_result(server.requests[1].body)
    assert not (place.project / "store.py").exists()
    (transcript,) = place.transcripts()
    facts = json.loads(place.run("ledger", transcript.stem, "--json").out)
    refused = [fact for fact in facts["approvals"] if fact["tool"] == "plan"]
    assert facts["plan"]["approved"] is False
    assert [(fact["decision"], fact["reason"]) for fact in refused] == [("deny", "and the tests?")]


def test_what_a_person_writes_into_the_file_counts(serve: Serve) -> None:
    place, server = serve([proposed(), {"text": "begun"}])
    with Driven(place, *ASK, "--permission-mode", "plan") as run:
        run.say("move the cache")
        asked = run.until(is_asked("can_use_tool"))
        Path(asked["request"]["input"]["planFilePath"]).write_text("# My way\n")
        run.answer(asked, {"behavior": "allow"})
        run.result()
        run.end()
    assert "# My way" in last_result(server.requests[1].body)


def test_a_kill_while_it_is_asked_loses_nothing(serve: Serve) -> None:
    place, server = serve([proposed(), {"text": "again"}, {"text": "copied"}])
    with Driven(place, *ASK, "--permission-mode", "plan") as run:
        run.say("move the cache")
        run.until(is_asked("can_use_tool"))
        os.kill(run.process.pid, signal.SIGKILL)
    assert plan_file(place).read_text() == PLAN
    done = place.run("-p", "go on", "-c", "--output-format", "stream-json")
    assert done.lines[0]["permissionMode"] == "plan"
    assert "was shown and not answered" in words_to(server, 1)
    plan_file(place).write_text("# Changed since\n")
    forked = place.run("-p", "go on", "-c", "--fork-session", "--output-format", "stream-json")
    assert forked.lines[0]["permissionMode"] == "plan"
    copies = sorted(path.read_text() for path in place.clew_home.glob("projects/*/*/plan.md"))
    assert copies == ["# Changed since\n", "# Changed since\n"]


def test_only_the_plan_may_be_written_and_reading_commands_run(tmp_path: Path, serve: Serve) -> None:
    session = "11111111-2222-4333-8444-555555555555"
    folder = (
        SessionStore(tmp_path / "home" / ".clew").session_path(tmp_path / "project", SessionId(session)).with_suffix("")
    )
    plan, other = folder / "plan.md", folder / "notes.md"
    calls = [
        {"call": "Write", "arguments": {"file_path": str(plan), "content": "# Draft\n"}},
        {"call": "Write", "arguments": {"file_path": str(other), "content": "x"}},
        {"call": "Read", "arguments": {"file_path": str(plan)}},
    ]
    place, server = serve([{"calls": calls}, bash("cat a.txt"), bash("touch b.txt"), {"text": "so"}])
    (place.project / "a.txt").write_text("one\n")
    done = place.run("-p", "plan", "--permission-mode", "plan", "--session-id", session, "--trust")
    assert done.out.strip() == "so"
    assert plan.read_text() == "# Draft\n"
    assert not other.exists()
    assert not (place.project / "b.txt").exists()
    results = [last_result(request.body) for request in server.requests[1:]]
    assert "# Draft" in results[0]
    assert "one" in results[1]
    assert "plan mode" in results[2]


@pytest.mark.parametrize("rule", [(), ("--allowed-tools", "EnterPlanMode")])
def test_the_model_may_ask_to_plan_first(serve: Serve, rule: tuple[str, ...]) -> None:
    enter = {"calls": [{"call": "EnterPlanMode", "arguments": {}}]}
    place, server = serve([enter, write_call("a.txt"), proposed(), write_call("b.txt"), {"text": "done"}])
    with Driven(place, *ASK, *rule, "--permission-mode", "acceptEdits", "--trust") as run:
        run.say("a large change")
        if not rule:
            asked = allow(run)
            assert asked["tool_name"] == "EnterPlanMode"
        assert allow(run)["tool_name"] == "ExitPlanMode"
        assert run.result()["result"] == "done"
        run.end()
    assert "Plan mode is on" in last_result(server.requests[1].body)
    assert "plan mode changes nothing" in last_result(server.requests[2].body)
    assert not (place.project / "a.txt").exists()
    assert (place.project / "b.txt").exists(), "back in acceptEdits"


def test_an_interrupt_while_it_is_asked_is_no_refusal(serve: Serve) -> None:
    place, server = serve([proposed(), {"text": "again"}])
    with Driven(place, *ASK, "--permission-mode", "plan") as run:
        run.say("move the cache")
        run.until(is_asked("can_use_tool"))
        run.ask("i", "interrupt")
        assert run.result()["is_error"]
        run.say("/plan")
        assert "waits for your answer" in run.result()["result"]
        run.end()
    (transcript,) = place.transcripts()
    facts = json.loads(place.run("ledger", transcript.stem, "--json").out)
    assert "approved" not in facts["plan"]
    assert [fact for fact in facts["approvals"] if fact["tool"] == "plan"] == []
    assert len(server.requests) == 1


def test_while_it_is_asked_the_session_is_asking(serve: Serve) -> None:
    place, _ = serve([proposed()])
    with Driven(place, *ASK, "--permission-mode", "plan") as run:
        run.say("move the cache")
        run.until(is_asked("can_use_tool"))
        listed = json.loads(place.run("sessions", "--json").out)
        rows = listed if isinstance(listed, list) else listed["sessions"]
        assert [row["state"] for row in rows] == ["asking"]


def test_the_work_is_held_against_the_plan_when_that_is_asked_for(serve: Serve) -> None:
    replies = [proposed(), write_call("store.py"), {"text": "done"}, {"text": "item 2 is done"}]
    place, server = serve(replies)
    settings = ("--settings", json.dumps({"plan": {"check": "auto"}}))
    with Driven(place, *ASK, *settings, "--trust", "--permission-mode", "plan") as run:
        run.say("move the cache")
        allow(run, updatedPermissions=[{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
        assert run.result()["result"] == "item 2 is done"
        run.end()
    asked = json.dumps(server.requests[3].body["messages"][-1])
    assert "Check the work so far against the plan" in asked
    assert "store.py +1 -0" in asked
    assert "Move the cache" in asked


@pytest.fixture
def come(serve: Serve) -> Iterator[Callable[..., tuple[ScreenPerson, Place, Any]]]:
    present: list[ScreenPerson] = []

    def comes(script: Any, *args: str, **env: Any) -> tuple[ScreenPerson, Place, Any]:
        place, server = serve(script)
        present.append(ScreenPerson(place, *args, **env))
        return present[-1], place, server

    yield comes
    for person in present:
        person.leave()


def test_line_by_line(come: Any) -> None:
    script = [proposed(), proposed("# Better"), {"text": "begun"}]
    person, _, server = come(script, "--plain", "--trust", "--permission-mode", "plan")
    person.sees("/help")  # behind a path that may take up most of the line
    person.type("move the cache\r")
    person.sees("| # Move the cache")
    person.sees("Accept? [y]es")
    person.type("n and the tests?\r")
    person.sees("Plan sent back: and the tests?")
    person.sees("| # Better")
    person.until(lambda: "Accept? [y]es" in person.rows[last_row(person)])
    person.type("a\r")
    person.sees("Plan accepted; edits are made without asking")
    person.sees("begun")
    person.sees("3 steps")
    assert not [row for row in person.rows if "failed" in row], "a plan that is sent back is an answer"
    assert "The user says: and the tests?" in last_result(server.requests[1].body)
    assert "edits are accepted without asking" in last_result(server.requests[2].body)


def last_row(person: ScreenPerson) -> int:
    return max((at for at, row in enumerate(person.rows) if row.strip()), default=0)


def test_on_the_screen_with_an_editor(come: Any, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "# My way\\n" > "$1"\n')
    editor.chmod(0o755)
    script = [proposed(), {"text": "begun"}]
    person, place, server = come(script, "--trust", "--permission-mode", "plan", EDITOR=str(editor))
    person.sees("plan")
    person.type("move the cache\r")
    person.sees("Accept this plan?")
    person.type("\r")
    person.until(lambda: any("did not count" in row or "Nothing is chosen yet" in row for row in person.rows))
    person.type("e")
    person.sees("edited by you")
    person.sees("My way")
    person.type("y")
    person.sees("begun")
    assert "# My way" in last_result(server.requests[1].body)
    assert plan_file(place).read_text() == "# My way\n"


@pytest.mark.parametrize(("key", "asks"), [("y", True), ("a", False)])
def test_a_yes_after_shift_tab_asks_before_edits_and_edits_too_does_not(come: Any, key: str, asks: bool) -> None:
    script = [proposed(), write_call("store.py"), {"text": "begun"}]
    person, place, _ = come(script, "--trust")
    for words in ("asks: edits, unconfined", "edits without asking", "plans, changes nothing"):
        person.sees(words)
        person.type("\x1b[Z" if "plans" not in words else "move the cache\r")
    person.sees("Accept this plan?")
    person.sees("default: you are asked before changes")
    person.type("\r")
    person.until(lambda: any("did not count" in row or "Nothing is chosen yet" in row for row in person.rows))
    person.type(key)
    person.sees("changes a file" if asks else "begun")
    assert (place.project / "store.py").exists() is not asks
