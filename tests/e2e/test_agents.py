"""Child agents through the real command: what the first request costs, the result of a run with children, kills."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.agent_fuzz import play, play_hard
from e2e.command import CLEW, Place, Serve, until

MAX_FIRST_REQUEST_BYTES = 14_000


def agent(prompt: str, **more: Any) -> dict[str, Any]:
    return {"call": "Agent", "arguments": {"description": prompt, "prompt": f"TASK {prompt}", **more}}


def at_work_on(prompt: str) -> str:
    """What stands in the requests of this child and in no other one's."""
    return f'"text":"TASK {prompt}'


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def transcript(place: Place) -> Path:
    (path,) = place.clew_home.glob("projects/*/*.jsonl")
    return path


def told(place: Place, kind: str) -> Iterator[dict[str, Any]]:
    """Events of one kind in the main log, read without any code of ours."""
    for line in lines_of(transcript(place)):
        event = line.get("event", {})
        if event.get("event") == kind:
            yield event


def notices(place: Place) -> list[str]:
    """The tasks that the conversation was told of, in order."""
    return [task for line in lines_of(transcript(place)) for task in line.get("notices", [])]


def test_the_first_request_of_the_whole_product_is_small(serve: Serve) -> None:
    place, server = serve([{"text": "hi"}])
    assert place.run("-p", "hi").code == 0
    assert len(server.requests[0].raw) <= MAX_FIRST_REQUEST_BYTES, len(server.requests[0].raw)


def test_a_run_with_children_has_its_result_when_all_have_settled(serve: Serve) -> None:
    main = {"calls": [agent("slow", run_in_background=True), agent("quick")]}
    child = {"match": at_work_on("slow"), "text": "slow words"}
    place, server = serve(
        [
            main,
            child,
            {"match": at_work_on("quick"), "text": "quick words"},
            {"text": "first answer"},
            {"text": "last answer"},
        ]
    )
    done = place.run("-p", "go", "--output-format", "json")
    assert (done.code, done.err) == (0, "")
    result = done.result
    assert result["result"] in ("last answer", "first answer")
    ended = list(told(place, "agent.ended"))
    assert sorted(event["result"] for event in ended) == ["quick words", "slow words"]
    assert len(notices(place)) == 1
    listed = {row["task"]: row for row in result["agents"]}
    assert {task: (row["status"], row["background"], row["kind"]) for task, row in listed.items()} == {
        "slow": ("completed", True, "general-purpose"),
        "quick": ("completed", False, "general-purpose"),
    }
    assert {row["id"] for row in result["agents"]} == {event["child"] for event in ended}
    assert all(row["total_tokens"] > 0 and row["total_cost_usd"] > 0 for row in result["agents"])
    asked = [request.raw.decode() for request in server.requests]
    assert any("task-notification" in body for body in asked), "the model has read the notice"


def test_a_child_in_print_mode_denies_what_would_ask_and_lists_it(serve: Serve) -> None:
    write = {"calls": [{"call": "Write", "arguments": {"file_path": "x.txt", "content": "x"}}]}
    place, _ = serve(
        [{"calls": [agent("one")]}, {"match": at_work_on("one"), **write}, {"text": "inner"}, {"text": "outer"}]
    )
    done = place.run("-p", "go", "--output-format", "json")
    denials = done.result["permission_denials"]
    assert [denial["tool_name"] for denial in denials] == ["Write"]
    assert not (place.project / "x.txt").exists()


def test_kill_9_while_children_work_loses_no_outcome_and_tells_each_once(serve: Serve) -> None:
    """One child has ended and is owed, one is at work: after the kill and a resume the model reads both once."""
    place, server = serve(
        {
            "replies": [
                {"calls": [agent("ready", run_in_background=True), agent("hanging", run_in_background=True)]},
                {"match": at_work_on("ready"), "text": "ready words"},
                {"match": at_work_on("hanging"), "parts": [{"wait": "for ever"}, {"text": "never"}]},
                {"parts": [{"wait": "for ever"}, {"text": "never"}]},
            ],
            "last": {"text": "after the kill"},
        }
    )
    process = place.start("-p", "go")
    until(lambda: any(transcript_there(place)) and len(list(told(place, "agent.ended"))) == 1, process)
    until(lambda: len(server.requests) >= 4, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert notices(place) == []
    done = place.run("-c", "-p", "what came of it?")
    assert (done.code, done.out) == (0, "after the kill\n")
    started, ended = list(told(place, "agent.started")), list(told(place, "agent.ended"))
    assert sorted(event["child"] for event in started) == sorted(event["child"] for event in ended)
    assert {event["standing"] for event in ended} == {"completed", "interrupted"}
    assert sorted(notices(place)) == sorted(event["child"] for event in started)
    body = server.requests[-1].raw.decode()
    assert body.count("<task-notification>") == 2
    assert "ready words" in body
    assert "<status>interrupted</status>" in body
    place.run("-c", "-p", "and now?")
    assert server.requests[-1].raw.decode().count("<task-notification>") == 2, "nothing is told twice"


def transcript_there(place: Place) -> list[Path]:
    return list(place.clew_home.glob("projects/*/*.jsonl"))


def test_a_run_that_is_told_to_end_while_only_children_work_ends(serve: Serve) -> None:
    place, server = serve(
        [
            {"calls": [agent("hanging", run_in_background=True)]},
            {"match": at_work_on("hanging"), "parts": [{"wait": "for ever"}, {"text": "never"}]},
            {"text": "first answer"},
        ]
    )
    process = place.start("-p", "go")
    until(lambda: len(server.requests) == 3, process)
    until(lambda: any("turn-result" in json.dumps(line) for line in lines_of(transcript(place))), process)
    process.send_signal(signal.SIGINT)
    process.wait()
    (ended,) = told(place, "agent.ended")
    assert (ended["standing"], ended["by"]) == ("stopped", "session")


@pytest.mark.parametrize("seed", [158, 181, 3])
def test_a_tree_of_agents_killed_at_random_moments_tells_every_outcome_once(seed: int, tmp_path: Path) -> None:
    """`make soak ARGS="--agents 1000"` plays more; these found a child without a log and a notice that was too late."""
    assert play(seed, tmp_path) == []


@pytest.mark.parametrize("seed", [103, 107])
def test_the_same_holds_with_full_disks_and_clocks_that_jump(seed: int, tmp_path: Path) -> None:
    assert play_hard(seed, tmp_path) == []


def test_the_stream_tells_of_agents_as_programs_know_it(serve: Serve) -> None:
    echo = {"calls": [{"call": "Bash", "arguments": {"command": "echo here"}}]}
    place, _ = serve(
        [
            {"calls": [agent("one"), agent("two", run_in_background=True)]},
            {"match": at_work_on("one"), **echo},
            {"match": at_work_on("two"), "text": "two words"},
            {"match": "echo here", "text": "one words"},
            {"text": "first"},
            {"text": "last"},
        ]
    )
    done = place.run("-p", "go", "--output-format", "stream-json", "--permission-mode", "bypassPermissions")
    lines = done.lines
    started = {line["task_id"]: line for line in lines if line.get("subtype") == "task_started"}
    over = [line for line in lines if line.get("subtype") == "task_notification"]
    assert sorted(line["task_id"] for line in over) == sorted(started)
    assert {line["status"] for line in over} == {"completed"}
    assert all(line["usage"]["total_tokens"] > 0 and Path(line["output_file"]).exists() for line in over)
    inner = [line for line in lines if line["type"] == "assistant" and line["parent_tool_use_id"]]
    assert {line["parent_tool_use_id"] for line in inner} == {line["tool_use_id"] for line in started.values()}
    assert [line["type"] for line in lines].count("result") == 1
    assert lines[-1]["type"] == "result"
    spent = sum(line["total_cost_usd"] for line in over)
    assert 0 < spent < lines[-1]["total_cost_usd"]


def test_a_hook_is_told_of_an_agents_end_and_may_send_it_on_once(serve: Serve) -> None:
    place, server = serve(
        [{"calls": [agent("one")]}, {"match": at_work_on("one"), "text": "half"}, {"text": "whole"}, {"text": "out"}]
    )
    script = place.home / "look.py"
    script.write_text(
        "import json, sys\n"
        "told = json.load(sys.stdin)\n"
        f"open({str(place.home / 'told.jsonl')!r}, 'a').write(json.dumps(told) + chr(10))\n"
        "if told['hook_event_name'] == 'SubagentStop' and not told['stop_hook_active']:\n"
        "    print(json.dumps({'decision': 'block', 'reason': 'do the rest'}))\n"
    )
    hook = [{"matcher": "general-purpose", "hooks": [{"type": "command", "command": f"python3 {script}"}]}]
    never = [{"matcher": "Explore", "hooks": [{"type": "command", "command": "exit 2"}]}]
    place.clew_home.mkdir(exist_ok=True)
    settings = {"hooks": {"SubagentStop": [*hook, *never], "SubagentStart": hook}, "sandbox": {"mode": "off"}}
    (place.clew_home / "settings.json").write_text(json.dumps(settings))
    done = place.run("-p", "go")
    assert (done.code, done.out) == (0, "out\n"), done.err
    (ended,) = told(place, "agent.ended")
    assert ended["result"] == "whole"
    asked = lines_of(place.home / "told.jsonl")
    stops = [one for one in asked if one["hook_event_name"] == "SubagentStop"]
    assert [(one["stop_hook_active"], one["last_assistant_message"]) for one in stops] == [
        (False, "half"),
        (True, "whole"),
    ]
    assert {one["agent_id"] for one in asked} == {ended["child"]}
    assert all(Path(one["agent_transcript_path"]).exists() for one in stops)
    assert len(asked) == 3
    assert "do the rest" in server.requests[2].raw.decode()


def test_a_program_gets_one_result_per_prompt_and_closing_stdin_waits_for_agents(serve: Serve) -> None:
    place, server = serve(
        [
            {"calls": [agent("slow", run_in_background=True)]},
            {"match": at_work_on("slow"), "parts": [{"wait": "slow"}, {"text": "slow words"}]},
            {"text": "first"},
            {"text": "heard"},
        ]
    )
    prompt = {"type": "user", "message": {"role": "user", "content": "go"}}
    process = subprocess.Popen(
        [CLEW, "-p", "--input-format", "stream-json", "--output-format", "stream-json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=place.project,
        env=place.env,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(prompt).encode() + b"\n")
    process.stdin.close()
    until(lambda: len(server.requests) == 3, process)
    server.release("slow")
    assert process.stdout is not None
    lines = [json.loads(line) for line in process.stdout.read().splitlines()]
    assert process.wait() == 0
    results = [line["result"] for line in lines if line["type"] == "result"]
    assert results == ["heard"]
    assert [line["status"] for line in lines if line.get("subtype") == "task_notification"] == ["completed"]


def test_ag_9_after_a_restart_a_message_goes_on_with_an_old_agent_and_its_history(serve: Serve) -> None:
    tell = {"calls": [{"call": "SendMessage", "arguments": {"to": "scout", "message": "and then?"}}]}
    place, server = serve(
        [
            {"calls": [agent("old", name="scout")]},
            {"match": at_work_on("old"), "text": "old words"},
            {"text": "first"},
            tell,
            {"match": at_work_on("old"), "text": "new words"},
            {"text": "sent"},
            {"text": "heard"},
        ]
    )
    assert place.run("-p", "go").out == "first\n"
    done = place.run("-c", "-p", "ask it")
    assert done.code == 0, done.err
    runs = list(told(place, "agent.started"))
    assert [run.get("resumed", False) for run in runs] == [False, True]
    assert runs[0]["child"] == runs[1]["child"]
    ends = [event["result"] for event in told(place, "agent.ended")]
    assert ends == ["old words", "new words"]
    bodies = [request.body["messages"] for request in server.requests]
    history = next(json.dumps(body) for body in bodies if "TASK old" in json.dumps(body[0]) and len(body) > 1)
    assert "old words" in history
    assert "and then?" in history
    assert notices(place) == [runs[0]["child"]]


def test_a_rate_limit_of_a_child_is_waited_out_in_print_mode_as_one_of_the_conversation(serve: Serve) -> None:
    limited = {"match": at_work_on("one"), "fault": "rate_limited", "retry_after": 0}
    place, _ = serve(
        [
            {"calls": [agent("one")]},
            limited,
            limited,
            {"match": at_work_on("one"), "text": "inner words"},
            {"text": "out"},
        ]
    )
    done = place.run("-p", "go", "--output-format", "json")
    assert done.result["result"] == "out"
    assert [row["status"] for row in done.result["agents"]] == ["completed"]
