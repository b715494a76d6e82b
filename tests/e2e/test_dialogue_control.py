"""Control requests through the real command: what each does, and what wrong ones leave undone."""

import os
from typing import Any

import pytest

from e2e.command import Serve
from e2e.driver import Driven, is_response
from e2e.test_dialogue import bash, until


def test_initialize_says_what_there_is(serve: Serve) -> None:
    place, _ = serve([])
    with Driven(place) as run:
        answer = run.answered("r1", "initialize", hooks=None)
        assert answer["subtype"] == "success"
        given = answer["response"]
        assert given["pid"] == run.process.pid
        assert (given["hook_on_failure_supported"], given["hooks_applied"], given["notes"]) == (True, True, [])
        assert {"name", "description", "argumentHint"} == set(given["commands"][0])
        assert given["models"][0]["value"] == "anthropic/claude-sonnet-4-5"
        assert run.end() == 0


def test_what_a_program_brings_and_nothing_uses_is_said(serve: Serve) -> None:
    place, _ = serve([])
    with Driven(place) as run:
        answer = run.answered("r1", "initialize", agents={"a": {}}, somethingNew=True)
        (note,) = answer["response"]["notes"]
        assert note.startswith("SDK, 'a': it has no prompt")
        run.end()
    assert [line for line in run.errors if "SDK, 'a': it has no prompt" in line]


def test_agents_of_a_program_are_told_to_the_model_with_the_first_request(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "Fine."}})
    agents = {"reviewer": {"description": "Reviews what changed.", "prompt": "Review.", "shiny": 1}}
    with Driven(place) as run:
        answer = run.answered("r1", "initialize", agents=agents)
        assert answer["response"]["notes"] == ["agent reviewer: unknown fields, which do nothing: shiny"]
        run.say("hello")
        run.result()
        run.end()
    blocks = [block["text"] for block in server.requests[-1].body["system"]]
    with Driven(place, "--continue") as run:
        run.answered("r1", "initialize", agents=agents)
        run.say("and more")
        run.result()
        run.end()
    assert [block["text"] for block in server.requests[-1].body["system"]] == blocks
    assert any("- reviewer: Reviews what changed." in block for block in blocks)
    assert blocks[-1].startswith("# Environment")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"subtype": "read_minds"}, "there is no request 'read_minds'; requests are initialize"),
        ({"subtype": ""}, "no subtype"),
        ({}, "no subtype"),
        ({"subtype": 5}, "no subtype"),
        ({"subtype": "set_permission_mode"}, "set_permission_mode: Object missing required field `mode`"),
        ({"subtype": "set_permission_mode", "mode": "auto"}, "modes are default, plan, acceptEdits"),
        ({"subtype": "set_model", "model": "nobody/nothing"}, "nobody"),
        ({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0}, "cannot be switched off"),
        ({"subtype": "rewind_files", "user_message_id": "no-such-entry"}, "no-such-entry"),
        ({"subtype": "stop_task", "task_id": "bash_9"}, "no task bash_9"),
        ({"subtype": "mcp_message", "server_name": "x", "message": {}}, "no server 'x' of this program"),
        ({"subtype": "mcp_reconnect", "serverName": "x"}, "there is no MCP server"),
        ({"subtype": "mcp_toggle", "serverName": "x", "enabled": True}, "there is no MCP server"),
        ({"subtype": "initialize", "hooks": "all"}, "initialize: "),
    ],
)
def test_what_cannot_be_done_is_an_error_response_and_the_run_goes_on(
    serve: Serve, request_: dict[str, Any], words: str
) -> None:
    place, _ = serve([{"text": "still here"}])
    with Driven(place) as run:
        run.send({"type": "control_request", "request_id": "r1", "request": request_})
        response = run.until(is_response("r1"))["response"]
        assert response["subtype"] == "error"
        assert words in response["error"]
        run.say("hi")
        assert run.result()["result"] == "still here"
        assert run.end() == 0


def test_effort_stands_for_a_number_of_tokens(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "hi"}})
    with Driven(place) as run:
        for tokens, effort in ((500, "low"), (9000, "medium"), (100_000, "max"), (None, "")):
            said = run.answered(f"t{tokens}", "set_max_thinking_tokens", max_thinking_tokens=tokens)
            assert said["response"] == {"effort": effort}
            run.say("think")
            run.result()
        run.end()
    budgets = [request.body.get("thinking", {}).get("budget_tokens") for request in server.requests]
    assert budgets == [2048, 8192, 16_000, None]  # this model has no more than `high`


def test_changes_take_effect_for_the_prompt_behind_them(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "hi"}})
    with Driven(place) as run:
        for number, model in enumerate(["claude-haiku-4-5", None, "claude-opus-4-5"]):
            run.ask(f"m{number}", "set_model", model=model)
            run.say(f"prompt {number}")
            run.result()
        assert run.end() == 0
    models = [request.body["model"] for request in server.requests]
    assert models == ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5"]


def test_wrong_and_repeated_ids_break_nothing(serve: Serve) -> None:
    place, _ = serve([{"text": "still here"}])
    with Driven(place) as run:
        run.send(
            {"type": "control_response", "response": {"subtype": "success", "request_id": "x", "response": {}}},
            {"type": "control_response", "response": {"subtype": "error", "request_id": "y", "error": "no"}},
            {"type": "control_cancel_request", "request_id": "z"},
            {"type": "keep_alive"},
        )
        assert run.answered("same", "mcp_status")["response"] == {"mcpServers": []}
        assert run.answered("same", "mcp_status")["response"] == {"mcpServers": []}
        run.say("hi")
        assert run.result()["result"] == "still here"
        assert run.end() == 0
    assert len([line for line in run.errors if "nobody waits" in line]) == 2
    assert len([line for line in run.errors if "nothing to cancel" in line]) == 1
    assert not run.of("system", "input_error")


def test_questions_are_answered_while_a_turn_runs(serve: Serve) -> None:
    place, server = serve([{"parts": [{"text": "slow "}, {"wait": "go"}, {"text": "answer"}]}])
    with Driven(place) as run:
        run.say("hi")
        until(lambda: len(server.requests) == 1)
        assert run.answered("c", "get_context_usage")["response"]["totalTokens"] > 0
        assert run.answered("m", "mcp_status")["response"] == {"mcpServers": []}
        assert run.answered("p", "set_permission_mode", mode="plan")["subtype"] == "success"
        server.release("go")
        assert run.result()["result"] == "slow answer"
        assert run.end() == 0
    assert [line["permissionMode"] for line in run.of("system", "status") if "permissionMode" in line] == ["plan"]


def test_files_are_rewound_by_either_name_of_a_prompt(serve: Serve) -> None:
    write = {"calls": [{"call": "Write", "arguments": {"file_path": "new.txt", "content": "x"}}]}
    place, _ = serve([write, {"text": "done"}])
    with Driven(place, "--permission-mode", "bypassPermissions") as run:
        run.say("make it", uuid="my-own-name")
        run.result()
        preview = run.answered("d", "rewind_files", user_message_id="my-own-name", dry_run=True)["response"]
        assert preview["canRewind"]
        assert [os.path.basename(path) for path in preview["filesChanged"]] == ["new.txt"]
        assert (place.project / "new.txt").exists()
        assert run.answered("r", "rewind_files", user_message_id="my-own-name")["subtype"] == "success"
        assert not (place.project / "new.txt").exists()
        assert run.end() == 0


def test_a_command_in_the_background_is_stopped_and_gone_at_the_end(serve: Serve) -> None:
    place, _ = serve([bash("echo $$ > pid; exec sleep 1000", run_in_background=True), {"text": "runs"}])
    with Driven(place, "--permission-mode", "bypassPermissions") as run:
        run.say("go")
        run.result()
        until(lambda: (place.project / "pid").exists() and (place.project / "pid").read_text().strip() != "")
        assert run.answered("s", "stop_task", task_id="bash_1")["subtype"] == "success"
        assert run.end() == 0


def test_the_state_of_the_session_is_told_to_a_host_that_asks_for_it(serve: Serve) -> None:
    place, _ = serve([{"text": "one"}, {"text": "two"}])
    with Driven(place, env={"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}) as run:
        run.say("a")
        run.say("b")
        run.result()
        run.result()
        run.end()
    told = [line for line in run.lines if line["type"] == "result" or line.get("subtype") == "session_state_changed"]
    assert [line.get("state", "result") for line in told] == ["running", "result", "running", "idle", "result"]
    assert all(line["sdk_host_only"] for line in told if "state" in line)
