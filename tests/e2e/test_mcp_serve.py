"""`clew mcp serve` through the official client: sessions are told as the commands tell them, and nothing is changed."""

import hashlib
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from e2e.command import CLEW, LIMIT_S, Place
from fakes.model_server import ModelServer

ASKED = "Rename the flag in parser.py"
SECRET = "sk-ant-api03-" + "a1B2" * 20
READ_ONLY = {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False}


@asynccontextmanager
async def served(place: Place, *args: str) -> AsyncIterator[Client]:
    command = StdioServerParameters(command=CLEW, args=["mcp", "serve", *args], env=place.env, cwd=str(place.project))
    with anyio.fail_after(LIMIT_S * 2):
        async with Client(command) as client:
            yield client


async def told(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    """The words of an answer, and whether it is an error."""
    result = await client.call_tool(tool, arguments)
    return "\n".join(part.text for part in result.content if part.type == "text"), bool(result.is_error)


def prepared(tmp_path: Path) -> tuple[Place, str]:
    """A session of ours that read a file, one of another agent, and a home in which both are found."""
    script: dict[str, Any] = {
        "replies": [
            {"calls": [{"call": "Read", "arguments": {"file_path": "parser.py"}}]},
            {"text": f"The flag is called --quiet now. The key was {SECRET}."},
        ]
    }
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)
        (place.project / "parser.py").write_text("flag = '--silent'\n")
        done = place.run("-p", ASKED, "--output-format", "json")
    assert done.code == 0, done.err
    foreign = place.home / ".claude" / "projects" / "-elsewhere" / "0b9c1e9e-6f0b-4a39-9c0f-3a1d1c1b7a10.jsonl"
    foreign.parent.mkdir(parents=True)
    lines = [
        {"type": "user", "message": {"role": "user", "content": "Where do zebras sleep?"}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Standing, in the savannah."}]},
        },
    ]
    common = {"sessionId": foreign.stem, "cwd": "/elsewhere", "version": "2.0.0", "isSidechain": False}
    for number, line in enumerate(lines):
        line |= common | {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
        line["timestamp"] = f"2026-11-01T10:00:0{number}.000Z"
    foreign.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return place, str(done.result["session_id"])


def contents(root: Path) -> dict[str, str]:
    """Every file below a directory that is not a cache, by a digest of its bytes."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.startswith("index.db") and "/.clew/cache/" not in str(path)
    }


async def test_sessions_are_told_as_the_commands_tell_them_and_nothing_changes(tmp_path: Path) -> None:
    place, session = prepared(tmp_path)
    before = contents(tmp_path)
    async with served(place) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {
            "list_sessions",
            "search_sessions",
            "recap_session",
            "show_session",
            "session_ledger",
        }
        for tool in tools:
            assert tool.annotations is not None
            assert tool.annotations.model_dump(include=set(READ_ONLY)) == READ_ONLY, tool.name

        listed, _ = await told(client, "list_sessions")
        assert session[:8] in listed
        assert "claude_code" in listed
        assert "zebras" in listed
        only, _ = await told(client, "list_sessions", agent="clew")
        assert "zebras" not in only
        found, _ = await told(client, "search_sessions", query="savannah")
        assert "0b9c1e9e" in found
        assert session[:8] not in found

        recap, _ = await told(client, "recap_session", session=session[:8])
        assert recap.split("\n") == place.run("recap", session).out.rstrip("\n").split("\n")
        board, _ = await told(client, "recap_session", since="3650d")
        assert session in board
        ledger, _ = await told(client, "session_ledger", session=session)
        assert ledger == place.run("ledger", session).out.rstrip("\n")

        shown, _ = await told(client, "show_session", session=session)
        assert SECRET not in shown, "what other agents are told holds no secrets"
        assert "--quiet" in shown
        asked_of_other, _ = await told(client, "show_session", session="Where do zebras sleep?")
        assert "Standing, in the savannah." in asked_of_other
        whole = place.run("show", session).out.rstrip("\n").split("\n")
        pages: list[str] = []
        while len(pages) < len(whole):
            page, _ = await told(client, "show_session", session=session, first_line=len(pages) + 1, lines=3)
            pages += page.split("\n")[1:]
        plain = [line for line in whole if SECRET not in line]
        assert [line for line in pages if line in plain] == plain
        assert len(pages) == len(whole)
    assert contents(tmp_path) == before


async def test_what_cannot_be_answered_is_said_and_the_server_goes_on(tmp_path: Path) -> None:
    place, session = prepared(tmp_path)
    (path,) = place.transcripts()
    async with served(place) as client:
        for tool, arguments, words in (
            ("show_session", {"session": "xyzzy plugh"}, "no session fits"),
            ("show_session", {"session": str(path)}, "no session fits"),  # a file is not a session's name here
            ("show_session", {"session": session, "first_line": 99_999}, "only"),
            ("show_session", {}, "session"),
            ("list_sessions", {"limit": "many"}, "limit"),
            ("list_sessions", {"agent": "nobody"}, "no agent named"),
            ("list_sessions", {"project": "relative"}, "absolute"),
            ("search_sessions", {"query": " "}, "empty"),
            ("recap_session", {"since": "yesterday"}, "not an age"),
            ("no_such_tool", {}, "no tool"),
            ("Read", {"file_path": "parser.py"}, "no tool"),
        ):
            text, is_error = await told(client, tool, **arguments)
            assert is_error, (tool, arguments)
            assert words in text, (tool, arguments, text)
        text, is_error = await told(client, "list_sessions")
        assert not is_error
        assert session[:8] in text


async def test_files_are_served_below_the_given_directories_and_nothing_that_would_ask(tmp_path: Path) -> None:
    place, _ = prepared(tmp_path)
    outside = tmp_path / "outside.txt"
    outside.write_text("needle outside\n")
    (place.project / "link.txt").symlink_to(outside)
    (place.project / ".env").write_text("needle=1\n")
    (place.project / "long.txt").write_text("needle and much hay\n" * 5_000)
    place.clew_home.joinpath("settings.json").write_text(
        json.dumps(
            {"permissions": {"allow": ["Read"], "deny": ["Read(private/**)"]}, "permissionMode": "bypassPermissions"}
        )
    )
    (place.project / "private").mkdir()
    (place.project / "private" / "x.txt").write_text("needle\n")
    async with served(place, "--files", str(place.project)) as client:
        assert {"Read", "Grep", "Glob"} <= {tool.name for tool in (await client.list_tools()).tools}
        text, is_error = await told(client, "Read", file_path="parser.py")
        assert not is_error
        assert "--silent" in text
        for path in (str(outside), "link.txt", ".env", "private/x.txt", "../outside.txt", str(place.clew_home)):
            text, is_error = await told(client, "Read", file_path=path)
            assert is_error, path
            assert "needle" not in text, path
        text, _ = await told(client, "Grep", pattern="needle", output_mode="content")
        assert "outside" not in text
        assert "needle=1" not in text
        text, _ = await told(client, "Read", file_path="long.txt", limit=5_000)
        assert len(text) < 50_000
        assert "left out" in text or "continue with" in text


def test_only_the_protocol_is_on_stdout_and_a_bad_directory_is_one_line(tmp_path: Path) -> None:
    place = Place(tmp_path)
    done = place.run("mcp", "serve", "--files", "not/there")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "no such directory" in done.err
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_sessions", "arguments": {}}}
    noise = "this is no JSON\n"
    # stdin stays open until both answers are there: the end of it is the end of the server.
    with subprocess.Popen(
        [CLEW, "mcp", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=place.env, cwd=place.project
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        process.stdin.write("".join([noise, *(json.dumps(one) + "\n" for one in (hello, ready, call))]).encode())
        process.stdin.flush()
        answers: dict[Any, Any] = {}
        while not {1, 2} <= set(answers):
            line = json.loads(process.stdout.readline())
            answers[line.get("id")] = line
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(LIMIT_S) == 0
    assert answers[1]["result"]["serverInfo"]["name"] == "clew"
    assert "No sessions." in answers[2]["result"]["content"][0]["text"]
