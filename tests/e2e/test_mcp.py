"""MCP servers through the real command: brought, approved, called, and gone with the session."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from e2e.command import Place
from e2e.driver import Driven
from fakes.effort import HANG_S
from fakes.model_server import ModelServer

FAKES = Path(__file__).parents[1] / "fakes"
ECHO = {"calls": [{"call": "CallTool", "arguments": {"tool": "mcp__raw__echo", "arguments": {"text": "hi"}}}]}

WAIT = ("--mcp-wait", "60")


def raw(*words: str, **env: str) -> dict[str, Any]:
    """A server of the tests. One that writes its number outside the project is not held."""
    made = {"command": sys.executable, "args": [str(FAKES / "raw_mcp.py"), *words], "env": env}
    return {**made, "sandbox": False} if "RAW_PIDFILE" in env else made


def config(**servers: Any) -> str:
    return json.dumps({"mcpServers": servers})


def until(path: Path) -> str:
    limit = time.monotonic() + HANG_S
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < limit, f"{path.name} never came"
        time.sleep(0.02)
    return path.read_text()


def test_a_server_that_connects_in_the_middle_of_a_turn_is_usable_at_the_next_step(tmp_path: Path) -> None:
    """AL-14. The first request neither waits for it nor holds anything of it."""
    script = {
        "replies": [{"match": "echo: hi", "text": "done"}],
        "last": ECHO,
    }  # a busy machine takes more than one try
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)
        given = config(raw=raw(), hangs=raw("silent"))
        run = place.run(
            "-p", "hi", "--mcp-config", given, "--allowed-tools", "mcp__raw", "--output-format", "stream-json"
        )
        first, last = server.requests[0].body, server.requests[-1].body
    assert run.code == 0, run.err
    assert "about echo" not in json.dumps(first)
    assert first["tools"] == last["tools"]
    assert "echo: hi" in json.dumps(last["messages"])
    (init,) = [line for line in run.lines if line.get("subtype") == "init"]
    assert {one["name"]: one["status"] for one in init["mcp_servers"]} == {"raw": "pending", "hangs": "pending"}


def test_every_call_asks_unless_a_rule_says_otherwise(tmp_path: Path) -> None:
    """Three servers in one run: a rule that means its tool, one that is only the beginning of its name, and none."""
    calls = [
        {"call": "CallTool", "arguments": {"tool": f"mcp__{name}__echo", "arguments": {"text": f"to {name}"}}}
        for name in ("meant", "nearly", "other")
    ]
    with ModelServer([{"calls": calls}, {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        rules = ("--allowed-tools", "Read,mcp__meant__ec*,mcp__near")
        place.run("-p", "hi", "--mcp-config", config(meant=raw(), nearly=raw(), other=raw()), *rules, *WAIT)
        results = json.dumps(server.requests[1].body["messages"])
    assert [name for name in ("meant", "nearly", "other") if f"echo: to {name}" in results] == ["meant"]


def test_a_projects_server_runs_only_after_trust_and_approval(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    with ModelServer({"replies": [], "last": {"text": "done"}}) as server:
        place = Place(tmp_path, server.url)
        (place.project / ".mcp.json").write_text(config(theirs=raw(RAW_PIDFILE=str(pidfile), SHOWN="${HOME}")))
        (place.project / ".git").mkdir()
        untrusted = place.run("-p", "hi", "--mcp-wait", "5")
        assert "theirs" not in untrusted.err
        assert "is not trusted" in place.run("mcp", "approve", "--yes").err
        waiting = place.run("-p", "hi", "--trust", "--mcp-wait", "5")
        assert "1 MCP server is not approved and not run: theirs" in waiting.err
        listed = place.run("mcp", "list")
        assert "theirs: not approved" in listed.out
        assert "variable SHOWN: ${HOME}" in listed.out
        assert str(place.home) not in listed.out.partition("gets of your environment")[0]
        assert not pidfile.exists(), "nothing of it ran"
        assert place.run("mcp", "approve").code == 1, "nobody can answer here"
        assert place.run("mcp", "approve", "--yes").code == 0
        allowed = place.run("mcp", "list", "--json")
        assert json.loads(allowed.out)["servers"][0]["state"] == "ready", allowed.out
        until(pidfile)
        (place.project / ".mcp.json").write_text(config(theirs=raw("junk", RAW_PIDFILE=str(pidfile))))
        changed = place.run("mcp", "list", "--json")
        assert json.loads(changed.out)["servers"][0]["state"] == "unapproved"


def test_what_a_server_offers_is_counted(tmp_path: Path) -> None:
    with ModelServer([{"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        place.run("mcp", "add", "fake", "-s", "user", "--", sys.executable, str(FAKES / "mcp_server.py"))
        (row,) = json.loads(place.run("mcp", "list", "--json").out)["servers"]
        assert (row["prompts"], row["resources"]) == (1, 1)
        assert ", 1 prompt, 1 resource" in place.run("mcp", "get", "fake").out
        with Driven(place, "--mcp-wait", "20") as run:
            run.say("hi")
            run.result()
            run.say("/mcp")
            assert ", 1 prompt, 1 resource" in run.result()["result"]
            run.end()


def test_what_is_no_json_is_one_line_and_the_rest_works(tmp_path: Path) -> None:
    with ModelServer([ECHO, {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        (place.project / ".mcp.json").write_text("{ no")
        place.run("mcp", "add", "raw", "-s", "user", "--", sys.executable, str(FAKES / "raw_mcp.py"))
        run = place.run("-p", "hi", "--trust", "--allowed-tools", "mcp__raw__*", *WAIT)
        assert "echo: hi" in json.dumps(server.requests[1].body["messages"])
    assert run.code == 0
    assert run.err.count(".mcp.json") == 1


def test_no_server_outlives_the_agent_however_it_ends(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    with ModelServer([{"parts": [{"wait": "never"}]}]) as server:
        place = Place(tmp_path, server.url)
        process = place.start("-p", "hi", "--mcp-config", config(raw=raw(RAW_PIDFILE=str(pidfile))))
        pid = int(until(pidfile))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        limit = time.monotonic() + HANG_S
        while Path(f"/proc/{pid}").exists():
            assert time.monotonic() < limit, "the server is still there"
            time.sleep(0.02)


def test_a_tool_that_describes_itself_otherwise_asks_again(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": "done"}}) as server:
        place = Place(tmp_path, server.url)
    (place.home / "clew.json").write_text(config(raw=raw(RAW_WORDS="${WORDS}")))
    rule = ("--mcp-config", str(place.home / "clew.json"), "--allowed-tools", "mcp__raw", *WAIT)
    ran: list[bool] = []
    for words, more in (("a", ()), ("b", ()), ("b", ("--dangerously-skip-permissions",)), ("b", ())):
        with ModelServer([ECHO, {"text": "done"}]) as server:
            place.run("-p", "hi", *rule, *more, env={"ANTHROPIC_BASE_URL": server.url, "WORDS": words})
            ran.append("echo: hi" in json.dumps(server.requests[1].body["messages"]))
    assert ran == [True, False, True, True]


def test_a_tool_answers_for_a_person(tmp_path: Path) -> None:
    calls = [{"call": "Write", "arguments": {"file_path": f"{name}.txt", "content": name}} for name in ("yes", "no")]
    with ModelServer([{"calls": calls}, {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        given = config(fake={"command": sys.executable, "args": [str(FAKES / "mcp_server.py")]})
        place.run("-p", "hi", "--mcp-config", given, "--permission-prompt-tool", "mcp__fake__decide")
        results = json.dumps(server.requests[1].body["messages"])
    assert (place.project / "yes.txt").read_text() == "yes"
    assert not (place.project / "no.txt").exists()
    assert "the word no is in it" in results


def test_a_tool_answers_for_a_person_in_every_turn_of_a_dialogue(tmp_path: Path) -> None:
    def write(name: str) -> dict[str, Any]:
        return {"calls": [{"call": "Write", "arguments": {"file_path": f"{name}.txt", "content": name}}]}

    done = {"text": "done"}
    with ModelServer([write("yes"), done, write("no"), done, write("yes2"), done]) as server:
        place = Place(tmp_path, server.url)
        given = config(fake={"command": sys.executable, "args": [str(FAKES / "mcp_server.py")]})
        with Driven(place, "--mcp-config", given, "--permission-prompt-tool", "mcp__fake__decide") as run:
            run.say("one")
            assert run.result()["subtype"] == "success"
            run.say("two")
            denied = run.result()
            assert [denial["reason"] for denial in denied["permission_denials"]] == ["the word no is in it"]
            assert run.answered("r1", "set_permission_mode", mode="dontAsk")["subtype"] == "success"
            run.say("three")
            assert run.result()["is_error"]
            assert run.end() == 1
            assert not run.of("control_request")
    assert [path.name for path in sorted(place.project.glob("*.txt"))] == ["yes.txt"]


def test_a_tool_that_answers_is_asked_about_what_would_run(tmp_path: Path) -> None:
    """A call through the proxy and a command's own shell, by a server that answers with an object."""
    asked = tmp_path / "asked"
    with ModelServer([ECHO, {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        (place.clew_home / "commands").mkdir(parents=True)
        (place.clew_home / "commands" / "make.md").write_text("Made: !`touch made`")
        fake = {"command": sys.executable, "args": [str(FAKES / "mcp_server.py")], "env": {"FAKE_ASKED": str(asked)}}
        fake["sandbox"] = False  # it writes outside the project
        given = ("--mcp-config", config(fake=fake, raw=raw()), *WAIT)
        run = place.run("-p", "/make", *given, "--permission-prompt-tool", "mcp__fake__decide_and_tell")
        result = json.dumps(server.requests[1].body["messages"])
    assert run.code == 0, run.err
    assert [json.loads(line) for line in asked.read_text().splitlines()] == [
        ["Bash", {"command": "touch made"}],
        ["mcp__raw__echo", {"text": "hi"}],
    ]
    assert "echo: changed" in result


def test_the_first_request_names_the_tools_of_a_server_that_answers_soon(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": "done"}}) as server:
        place = Place(tmp_path, server.url)
        for _ in range(5):  # a busy machine may take longer to start it than a run waits
            place.run("-p", "hi", "--mcp-config", config(raw=raw()))
            if "raw (3): echo" in json.dumps(server.requests[-1].body["messages"]):
                return
    raise AssertionError("the tools of the server were never named")


def test_a_script_may_wait_for_none(tmp_path: Path) -> None:
    with ModelServer([{"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        run = place.run("-p", "hi", "--mcp-config", config(hangs=raw("silent")), "--mcp-wait", "0")
        assert (run.code, run.err) == (0, "")
        assert "hangs" not in json.dumps(server.requests[0].body["messages"])


class Held:
    """A program with servers in itself, as the TypeScript SDK drives clew: they are named in `initialize` alone."""

    def __init__(self, run: Driven, *names: str) -> None:
        self.run = run
        self.called: list[tuple[str, Any]] = []
        run.ask("init", "initialize", sdkMcpServers=list(names))

    def until_result(self) -> dict[str, Any]:
        while True:
            line = self.run.until(lambda line: line["type"] in ("result", "control_request"))
            if line["type"] == "result":
                return line
            if line["request"]["subtype"] == "mcp_message":
                self.run.answer(line, {"mcp_response": self._said(line["request"])})

    def _said(self, request: dict[str, Any]) -> dict[str, Any]:
        message = request["message"]
        said: dict[str, Any] = {}
        if message["method"] == "initialize":
            info = {"name": request["server_name"], "version": "1"}
            version = message["params"]["protocolVersion"]
            said = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        elif message["method"] == "tools/list":
            schema = {"type": "object", "properties": {"a": {"type": "number"}}}
            said = {"tools": [{"name": "double", "description": "Doubles a number", "inputSchema": schema}]}
        elif message["method"] == "tools/call":
            given = message["params"]["arguments"]
            self.called.append((request["server_name"], given))
            said = {"content": [{"type": "text", "text": f"it is {given['a'] * 2}"}]}
        return {"jsonrpc": "2.0", "id": message.get("id", 0), "result": said}


DOUBLE = {"calls": [{"call": "mcp__calc__double", "arguments": {"a": 21}}]}


def test_servers_that_a_program_names_in_initialize_are_served(tmp_path: Path) -> None:
    with ModelServer([DOUBLE, {"text": "42"}, DOUBLE, {"text": "42 again"}]) as server:
        place = Place(tmp_path, server.url)
        with Driven(place, "--allowed-tools", "mcp__calc__double") as run:
            held = Held(run, "calc")
            run.say("double 21")
            result = held.until_result()
            assert (result["result"], held.called) == ("42", [("calc", {"a": 21})])
            run.end()
        first, second = (request.body for request in server.requests)
        assert [tool["name"] for tool in first["tools"]][-1] == "mcp__calc__double"
        assert first["tools"] == second["tools"]
        assert "it is 42" in json.dumps(second["messages"])
        with Driven(place, "--allowed-tools", "mcp__calc__double", "--resume", result["session_id"]) as run:
            held = Held(run, "calc")
            run.say("again")
            assert held.until_result()["result"] == "42 again"
            run.end()
        assert server.requests[2].body["tools"] == first["tools"], "a resumed session begins with the same bytes"


def test_servers_that_come_after_the_first_request_are_refused(tmp_path: Path) -> None:
    """The bytes of the first request begin every later one."""
    with ModelServer([{"text": "one"}, {"text": "two"}]) as server, Driven(Place(tmp_path, server.url)) as run:
        run.say("hi")
        run.result()
        run.ask("late", "initialize", sdkMcpServers=["calc"])
        answer = run.until(lambda line: line["type"] == "control_response")["response"]
        assert (answer["subtype"], "before its first prompt" in answer["error"]) == ("error", True)
        run.say("again")
        assert run.result()["result"] == "two"
        run.end()
        first, second = (request.body for request in server.requests)
    assert first["tools"] == second["tools"]


def test_beside_other_servers_they_are_found_by_search(tmp_path: Path) -> None:
    call = {"calls": [{"call": "CallTool", "arguments": {"tool": "mcp__calc__double", "arguments": {"a": 4}}}]}
    with ModelServer([call, {"text": "8"}]) as server:
        place = Place(tmp_path, server.url)
        with Driven(place, "--allowed-tools", "mcp__calc", "--mcp-config", config(raw=raw())) as run:
            held = Held(run, "calc")
            run.say("double 4")
            assert held.until_result()["result"] == "8"
            run.end()
        assert "calc (1): double" in json.dumps(server.requests[0].body["messages"])


def test_a_name_that_no_server_can_have_is_refused(tmp_path: Path) -> None:
    with ModelServer([{"text": "hi"}]) as server, Driven(Place(tmp_path, server.url)) as run:
        run.ask("init", "initialize", sdkMcpServers=["a b"], systemPrompt="Be brief.")
        answer = run.until(lambda line: line["type"] == "control_response")["response"]
        assert answer["subtype"] == "error"
        assert "a b" in answer["error"]
        run.ask("again", "initialize", systemPrompt="Be brief.")
        answer = run.until(lambda line: line["type"] == "control_response")["response"]
        assert [note for note in answer["response"]["notes"] if "--system-prompt" in note]
        run.say("hi")
        assert run.result()["result"] == "hi"
        run.end()
