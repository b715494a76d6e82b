"""Hooks through the real command: whose run, what they see, what they decide; and that none hangs or loops for ever."""

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from e2e.command import LIMIT_S, Place, Serve
from fakes.model_server import ModelServer

SEEDS = range(int(os.environ.get("CLEW_FUZZ_HOOKS", "4")))


def defined(place: Place, hooks: dict[str, str], *, where: str = "user", matcher: str = "", **more: Any) -> None:
    """Settings with one command for each moment. It writes down what it is asked outside the project, so it is not
    held; `test_held_programs.py` is about those that are."""
    path = place.clew_home if where == "user" else place.project / where
    path.mkdir(parents=True, exist_ok=True)
    groups = {
        moment: [{"matcher": matcher, "hooks": [{"type": "command", "command": command, "sandbox": False, **more}]}]
        for moment, command in hooks.items()
    }
    (path / "settings.json").write_text(json.dumps({"hooks": groups}))


def script(place: Place, name: str, *lines: str) -> str:
    """A program outside of the project that writes down what it is asked."""
    file = place.home / f"{name}.sh"
    file.write_text("\n".join([f"cat >> {place.home}/{name}.log", *lines]) + "\n")
    return f"sh {file}"


def seen(place: Place, name: str) -> list[dict[str, Any]]:
    log = place.home / f"{name}.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"call": name, "arguments": arguments}]}


def says(document: dict[str, Any]) -> str:
    return f"echo '{json.dumps(document)}'"


def deciding(word: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, **more}}


def test_a_users_hook_runs_at_once_and_its_no_is_a_denial(serve: Serve) -> None:
    place, server = serve([call("Bash", command="echo hi"), {"text": "ok"}])
    defined(place, {"PreToolUse": script(place, "guard", "echo 'not on Fridays' >&2; exit 2")}, matcher="Bash")
    done = place.run("-p", "go", "--trust", "--output-format", "json")
    (denial,) = done.result["permission_denials"]
    assert denial["tool_name"] == "Bash"
    assert "not on Fridays" in str(server.requests[1].body["messages"])
    assert "guard.sh" in done.err
    (told,) = seen(place, "guard")
    assert told["tool_input"] == {"command": "echo hi"}
    assert Path(told["transcript_path"]) == place.transcripts()[0]


def test_a_users_allow_answers_what_nobody_could(serve: Serve) -> None:
    target = "made.txt"
    place, _ = serve([call("Write", file_path=target, content="x"), {"text": "ok"}])
    defined(place, {"PreToolUse": script(place, "yes", says(deciding("allow")))})
    done = place.run("-p", "go", "--trust")
    assert done.code == 0
    assert (place.project / target).exists()
    approvals = [entry for entry in place.entries() if entry["type"] == "approval"]
    assert [(entry["by"], entry["decision"]) for entry in approvals] == [("hook", "allow")]


@pytest.mark.parametrize("approved", [False, True])
def test_hooks_of_a_project_run_when_they_are_approved_and_never_allow(serve: Serve, approved: bool) -> None:
    place, _ = serve([{"text": "hi"}, call("Write", file_path="made.txt", content="x"), {"text": "ok"}])
    defined(place, {"PreToolUse": script(place, "theirs", says(deciding("allow")))}, where=".claude")
    assert place.run("-p", "trust it", "--trust").code == 0
    if approved:
        assert place.run("hooks", "approve", "--yes").code == 0
    done = place.run("-p", "go", "--output-format", "stream-json", "--verbose")
    assert bool(seen(place, "theirs")) is approved
    assert ("clew hooks approve" in done.err) is not approved
    assert not (place.project / "made.txt").exists()
    if not approved:
        assert "PreToolUse" in done.err
        assert "theirs.sh" in done.err
        assert ".claude/settings.json" in done.err


def test_nothing_of_an_untrusted_project_is_run(serve: Serve) -> None:
    place, _ = serve([call("Bash", command="echo hi"), {"text": "ok"}])
    moments = {moment: script(place, "theirs") for moment in ("SessionStart", "PreToolUse", "Stop", "SessionEnd")}
    defined(place, moments, where=".claude")
    place.run("hooks", "approve", "--yes")
    place.run("-p", "go")
    assert not seen(place, "theirs")


def test_a_hook_that_hangs_ends_and_nothing_is_left_of_it(serve: Serve) -> None:
    place, _ = serve([call("Bash", command="echo hi"), {"text": "done"}])
    hanging = script(place, "hanging", f"echo $$ > {place.home}/pid", "trap '' TERM", "sleep 300 & sleep 300")
    defined(place, {"PreToolUse": hanging}, timeout=2)
    done = place.run("-p", "go", "--trust")
    assert (done.code, done.out) == (0, "done\n")
    assert "timed_out" in done.err
    if (place.home / "pid").exists():  # else its time was over before its first line
        assert_gone(int((place.home / "pid").read_text()))


def assert_gone(pid: int) -> None:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} still runs")


def test_al_11_a_stop_hook_that_always_blocks_is_bounded(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "done"}})
    defined(place, {"Stop": script(place, "more", "echo 'not yet' >&2; exit 2")})
    done = place.run("-p", "go", "--trust")
    assert (done.code, done.out) == (0, "done\n")
    assert len(server.requests) == 9
    assert "8 times" in done.err
    assert [told["stop_hook_active"] for told in seen(place, "more")] == [False] + [True] * 8


def test_al_11_and_with_a_model_that_refuses_the_length(serve: Serve) -> None:
    place, server = serve({"replies": [{"text": "done"}], "last": {"fault": "prompt_too_long"}})
    defined(place, {"Stop": script(place, "more", "echo 'not yet' >&2; exit 2")})
    done = place.run("-p", "go", "--trust", "--output-format", "json")
    assert done.result["is_error"]
    assert len(seen(place, "more")) == 1
    assert len(server.requests) < 8


def test_a_prompt_that_is_blocked_has_one_result_and_no_request(serve: Serve) -> None:
    place, server = serve([{"text": "never"}])
    defined(place, {"UserPromptSubmit": script(place, "guard", "echo 'it names ACME' >&2; exit 2")})
    done = place.run("-p", "about ACME", "--trust", "--output-format", "stream-json")
    assert [line["type"] for line in done.lines].count("result") == 1
    assert done.lines[-1]["is_error"]
    assert "it names ACME" in json.dumps(done.lines[-1])
    assert done.code != 0
    assert not server.requests


def test_start_and_end_of_a_run_are_told(serve: Serve) -> None:
    place, server = serve([{"text": "ok"}] * 2)
    defined(
        place, {"SessionStart": script(place, "start", "echo 'the build is red'"), "SessionEnd": script(place, "end")}
    )
    place.run("-p", "go", "--trust")
    place.run("-p", "again", "--continue")
    assert [told["source"] for told in seen(place, "start")] == ["startup", "resume"]
    assert [told["reason"] for told in seen(place, "end")] == ["other", "other"]
    assert "the build is red" in str(server.requests[0].body["messages"])


def test_what_ran_is_shown_and_the_model_keeps_its_own_words(serve: Serve) -> None:
    place, server = serve([call("Bash", command="echo one"), {"text": "ok"}, {"text": "again"}])
    changed = deciding("allow", updatedInput={"command": "echo two"})
    defined(place, {"PreToolUse": script(place, "change", says(changed))})
    place.run("-p", "go", "--trust")
    shown = place.run("show", "--no-pager", place.transcripts()[0].stem)
    assert "Bash(echo one)" in shown.out
    assert "a hook made it Bash(echo two)" in shown.out
    place.run("-p", "and on", "--continue")
    for request in server.requests[1:]:
        assert "echo one" in str(request.body["messages"])
        assert "echo two" not in str(request.body["messages"])
        assert "two" in str(request.body["messages"])


@pytest.mark.parametrize(
    ("replies", "flags", "kind"),
    [
        ([{"text": "done"}], (), "idle_prompt"),
        ([{"fault": "unauthorized"}], (), "failed"),
        ([call("Bash", command="echo hi")], ("--max-turns", "1"), "limit"),
    ],
)
def test_the_end_of_a_run_of_one_prompt_is_told_to_hooks(
    serve: Serve, replies: list[Any], flags: tuple[str, ...], kind: str
) -> None:
    place, _ = serve(replies)
    defined(place, {"Notification": script(place, "told")})
    place.run("-p", "go", "--trust", *flags)
    assert [one["notification_type"] for one in seen(place, "told")] == [kind]


@pytest.mark.parametrize("moment", ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"])
def test_a_line_of_a_hook_for_the_person_is_on_stderr(serve: Serve, moment: str) -> None:
    place, _ = serve([call("Bash", command="echo hi"), {"text": "done"}])
    defined(place, {moment: says({"systemMessage": "look at this"})})
    done = place.run("-p", "go", "--trust")
    assert (done.code, done.out) == (0, "done\n")
    assert "clew: look at this" in done.err.splitlines()


def test_no_key_reaches_a_hook(serve: Serve) -> None:
    place, _ = serve([call("Bash", command="echo hi"), {"text": "ok"}])
    defined(place, {"PreToolUse": script(place, "env", f"env > {place.home}/env.txt")})
    place.env |= {"SOME_TOKEN": "canary-token", "HARMLESS": "x"}
    place.run("-p", "go", "--trust")
    assert "canary" not in (place.home / "env.txt").read_text()


def random_call(chance: random.Random, place: Path) -> dict[str, Any]:
    """Calls that work, that fail, and that cannot even be decoded."""
    name = f"f{chance.randrange(4)}.txt"
    return chance.choice(
        [
            {"call": "Read", "arguments": {"file_path": str(place / name)}},
            {"call": "Read", "arguments": {"file_path": str(place / "there.txt")}},
            {"call": "Write", "arguments": {"file_path": str(place / name), "content": f"{chance.random()}"}},
            {"call": "Bash", "arguments": {"command": f"echo {name}"}},
            {"call": "Bash", "arguments": {"command": "ls missing"}},
            {"call": "Glob", "arguments": {"pattern": "*.txt"}},
            {"call": "Read", "arguments": {"no_such": 1}},
            {"call": "Nothing", "arguments": {}},
        ]
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_what_hooks_wrote_down_is_what_the_transcript_says(serve: Serve, seed: int) -> None:
    """Random runs, some calls denied by the hook itself: two independent accounts of the same calls."""
    chance = random.Random(seed)
    replies = [
        {"calls": [random_call(chance, Path("@PROJECT@")) for _ in range(chance.randrange(1, 4))]} for _ in range(5)
    ]
    place, server = serve([{"text": "placeholder"}])
    server.__exit__()
    text = json.dumps([*replies, {"text": "done"}]).replace("@PROJECT@", str(place.project))
    with ModelServer(json.loads(text)) as served:
        place.env["ANTHROPIC_BASE_URL"] = served.url
        (place.project / "there.txt").write_text("there\n")
        deny = f'if tail -n 1 {place.home}/pre.log | grep -q "f{chance.randrange(4)}.txt"; then exit 2; fi'
        moments = {"PreToolUse": "pre", "PostToolUse": "post", "PostToolUseFailure": "failure"}
        hooks = {moment: script(place, name, *([deny] if name == "pre" else [])) for moment, name in moments.items()}
        defined(place, hooks)
        done = place.run("-p", "go", "--trust", "--permission-mode", "acceptEdits")
    assert done.code == 0, done.err
    calls, results = told_by_transcript(place.entries())
    decoded = {id for id, part in calls.items() if part["name"] != "Nothing" and "no_such" not in part["input"]}
    before = {told["tool_use_id"]: told for told in seen(place, "pre")}
    assert set(before) == decoded
    assert all(before[id]["tool_input"] == calls[id]["input"] for id in decoded)
    assert all(before[id]["tool_name"] == calls[id]["name"] for id in decoded)
    cancelled = {id for id in decoded if results[id]["text"].startswith("Cancelled: another shell command")}
    refused = {id for id in decoded if results[id]["refused"]} | cancelled  # neither ran
    failed = {id for id in decoded - refused if results[id]["failed"]}
    assert {told["tool_use_id"] for told in seen(place, "failure")} == failed
    after = {told["tool_use_id"]: told for told in seen(place, "post")}
    assert set(after) == decoded - refused - failed
    assert all(told["tool_response"]["content"].strip() in results[id]["text"] for id, told in after.items())


def told_by_transcript(entries: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Calls and what came of them, as the file has them."""
    calls: dict[str, Any] = {}
    results: dict[str, Any] = {}
    for entry in entries:
        content = entry.get("message", {}).get("content")
        for part in content if isinstance(content, list) else ():
            if part["type"] == "tool_use":
                calls[part["id"]] = part
            elif part["type"] == "tool_result":
                results[part["tool_use_id"]] = {
                    "refused": entry.get("toolUseResult", {}).get("refused", False),
                    "failed": part.get("is_error", False),
                    "text": part["content"] if isinstance(part["content"], str) else json.dumps(part["content"]),
                }
    assert set(calls) == set(results)
    return calls, results
