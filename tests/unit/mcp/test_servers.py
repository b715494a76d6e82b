"""Servers as real programs: what they offer, how they misbehave, and that nothing of it lasts or spreads."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clew.mcp import server as server_module
from clew.mcp.files import ServerPlaces
from clew.mcp.ports import ConnectionLost, ServerError, Surroundings
from clew.mcp.servers import McpServers
from clew.protocol.ids import CallId
from clew.protocol.messages import ImagePart
from clew.system.environment import tool_environment
from clew.tools.base import ToolContext
from clew.tools.deferred.described import Arguments
from fakes.effort import HANG_S

FAKES = Path(__file__).parents[2] / "fakes"
RAW, REAL = str(FAKES / "raw_mcp.py"), str(FAKES / "mcp_server.py")


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(HANG_S):
        while not true():  # noqa: ASYNC110 - what is waited for is in another process
            await asyncio.sleep(0.01)


def program(script: str, *words: str, **env: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": [script, *words], "env": env}


class Lab:
    """Some servers, what was told, and what is running."""

    def __init__(self, tmp_path: Path, servers: dict[str, Any], **env: str) -> None:
        self.told: list[str] = []
        self.logged: list[str] = []
        self.states: list[tuple[str, str]] = []
        given = json.dumps({"mcpServers": servers})
        places = ServerPlaces(home=tmp_path, root=tmp_path, kept=tmp_path / "kept", trusted=True, given=(given,))
        around = Surroundings(
            root=tmp_path,
            env={**os.environ, **env},
            child_env=tool_environment({**os.environ, **env}, key_variables=("MY_KEY",)),
            roots=lambda: (str(tmp_path),),
            log=lambda server, line: self.logged.append(line),
        )
        self.servers = McpServers(
            places,
            around,
            changed=lambda one: self.states.append((one.name, one.state)),
            tell=self.told.append,
        )

    def tool(self, name: str) -> Any:
        return next(tool for tool in self.servers.tools if tool.name == name)

    async def call(self, server: str, tool: str, **arguments: Any) -> Any:
        connection = self.servers.servers[server].connection
        assert connection is not None
        return await connection.call(tool, arguments, progress=lambda words: None, limit_s=HANG_S)


@asynccontextmanager
async def lab(tmp_path: Path, servers: dict[str, Any], **env: str) -> AsyncIterator[Lab]:
    made = Lab(tmp_path, servers, **env)
    try:
        made.servers.begin()
        yield made
    finally:
        await made.servers.close()


def context(progress: Callable[[str], None]) -> ToolContext:
    async def ask(questions: Any) -> None:
        return None

    return ToolContext(call_id=CallId("c"), cwd="/", progress=progress, ask=ask)


async def test_a_server_of_the_sdk(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    real = program(REAL, FAKE_PIDFILE=str(pidfile), FROM_USER="${MINE}")
    async with lab(tmp_path, {"real": real}, MY_KEY="sk-key", MINE="mine") as made:
        assert await made.servers.settled(HANG_S) == ()
        (row,) = made.servers.rows()
        assert (row.state, row.version) == ("ready", "fake 1.2.3")
        echo = made.tool("mcp__real__echo")
        assert (echo.source, echo.offered.annotations) == ("real", ("read-only",))
        assert (await made.call("real", "add", a=1, b=2)).text == "3"
        picture = await made.call("real", "picture")
        assert isinstance(picture.media[0], ImagePart)
        assert (await made.call("real", "fail", why="x")).is_error
        assert (await made.call("real", "environment", name="MY_KEY")).text == "(not set)"
        assert (await made.call("real", "environment", name="FROM_USER")).text == "mine"
        steps: list[str] = []
        slow = made.tool("mcp__real__slow")
        result = await slow.run(Arguments(given={"steps": 3}), context(steps.append))
        assert result.text == "done"
        assert steps == ["1/3 step 1\n", "2/3 step 2\n", "3/3 step 3\n"]
        with pytest.raises(ServerError, match="longer than 16 MB"):
            await made.call("real", "flood", megabytes=50)
        assert (await made.call("real", "echo", text="still here")).text == "echo: still here"
        await made.call("real", "grow")
        await until(lambda: len(made.servers.tools) == 12)
        pid = int(pidfile.read_text())
    assert not Path(f"/proc/{pid}").exists()
    assert not made.told


async def test_one_that_dies_is_one_line_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "BACK_OFF_S", (0.0, 0.0))
    async with lab(tmp_path, {"raw": program(RAW)}) as made:
        await made.servers.settled(HANG_S)
        for _ in range(2):
            with pytest.raises(ConnectionLost, match="code 7"):
                await made.call("raw", "die")
            await until(lambda: made.states[-1] != ("raw", "ready"))
            await until(lambda: made.servers.servers["raw"].state == "ready")
        result = await made.tool("mcp__raw__die").run(Arguments(given={}), context(lambda words: None))
        assert result.is_error
        assert "not known" in result.text
        await until(lambda: made.servers.servers["raw"].state == "failed")
        assert not made.servers.tools
    assert len(made.told) == 3, made.told
    assert "/mcp reconnect raw" in made.told[-1]


async def test_what_misbehaves_harms_nobody(tmp_path: Path) -> None:
    servers = {
        "good": program(RAW),
        "hangs": program(RAW, "silent"),
        "junk": program(RAW, "junk"),
        "chatty": program(RAW, "chatty"),
        "huge": program(RAW, "huge"),
        "gone": {"command": "/proc/nonexistent/program"},
        "unset": program(RAW, "${NOBODY_SET_THIS}"),
    }
    async with lab(tmp_path, servers) as made:
        await made.servers.settled(HANG_S, [name for name in servers if name != "hangs"])
        assert made.servers.connecting == ("hangs",)
        for name in ("good", "junk", "chatty"):
            assert (await made.call(name, "echo", text=name)).text == f"echo: {name}"
        with pytest.raises(ServerError, match="longer"):
            await made.call("huge", "echo", text="")
        assert made.servers.servers["huge"].state == "ready"
        assert {row.name: row.state for row in made.servers.rows()}["gone"] == "failed"
        assert "NOBODY_SET_THIS" in made.servers.servers["unset"].detail
    assert len(made.logged) < 10_000, "a flood of 20,000 lines is bounded"
    assert len(made.told) == 2


async def test_names(tmp_path: Path) -> None:
    async with lab(tmp_path, {"raw": program(RAW, "names")}) as made:
        await made.servers.settled(HANG_S)
        names = [tool.name for tool in made.servers.tools]
    assert "mcp__raw__Bash" in names
    assert names.count("mcp__raw__a_b") == 1
    assert all(len(name) <= 64 and name.isascii() and name.isprintable() for name in names)
    assert len(made.told) == 4, made.told  # a control character, two that become the same name, a schema of a list
    assert "\a" not in "".join(made.told)


async def test_a_list_that_changes_all_the_time_is_followed_calmly(tmp_path: Path) -> None:
    async with lab(tmp_path, {"raw": program(RAW, "restless")}) as made:
        await made.servers.settled(HANG_S)
        await until(lambda: any("new_" in tool.name for tool in made.servers.tools))
        seen = len(made.states)
        for _ in range(20):
            assert (await made.call("raw", "echo", text="x")).text == "echo: x"
        assert len(made.states) - seen < 10
    assert not made.told


async def test_an_interrupt_is_told_to_the_server_and_a_late_answer_is_dropped(tmp_path: Path) -> None:
    told = tmp_path / "cancelled"
    async with lab(tmp_path, {"raw": program(RAW, "late", RAW_CANCELLED=str(told))}) as made:
        await made.servers.settled(HANG_S)
        task = asyncio.create_task(made.call("raw", "wait"))
        await asyncio.sleep(0)
        assert (await made.call("raw", "echo", text="1")).text == "echo: 1"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: told.exists() and told.read_text())
        assert (await made.call("raw", "echo", text="2")).text == "echo: 2"


async def test_switching_off_and_on(tmp_path: Path) -> None:
    async with lab(tmp_path, {"raw": program(RAW)}) as made:
        await made.servers.settled(HANG_S)
        await made.servers.toggle("raw", enabled=False)
        assert [(row.state, row.tools) for row in made.servers.rows()] == [("off", ())]
        with pytest.raises(ValueError, match="off"):
            await made.servers.reconnect("raw")
        await made.servers.toggle("raw", enabled=True)
        await made.servers.settled(HANG_S)
        assert made.servers.rows()[0].state == "ready"
        await made.servers.reconnect("raw")
        await made.servers.settled(HANG_S)
        assert made.servers.tools


async def test_servers_at_addresses(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, REAL, "http", stdout=asyncio.subprocess.PIPE, env={**os.environ, "FAKE_TOKEN": "t0ken"}
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(HANG_S):
            port = int(await process.stdout.readline())
        signed = {"headers": {"Authorization": "Bearer ${TOKEN}"}}
        servers = {
            "new": {"type": "http", "url": f"http://127.0.0.1:{port}/mcp", **signed},
            "old": {"type": "sse", "url": f"http://127.0.0.1:{port}/sse", **signed},
            "unsigned": {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"},
            "nobody": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
        }
        async with lab(tmp_path, servers, TOKEN="t0ken") as made:
            await made.servers.settled(HANG_S)
            states = {row.name: row.state for row in made.servers.rows()}
            assert states == {"new": "ready", "old": "ready", "unsigned": "needs_auth", "nobody": "failed"}, made.told
            for name in ("new", "old"):
                assert (await made.call(name, "echo", text=name)).text == f"echo: {name}"
                with pytest.raises(ServerError):
                    await made.call(name, "flood", megabytes=50)
            assert (await made.call("new", "echo", text="again")).text == "echo: again"
            process.kill()
            await process.wait()
            with pytest.raises(ServerError):
                await made.call("new", "echo", text="gone")
            await until(
                lambda: {made.servers.servers[name].state for name in ("new", "old")} <= {"failed", "connecting"}
            )
        assert "t0ken" not in "".join(made.told)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_projects_server_comes_back_only_as_it_was_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program is a file of the workspace: whoever may edit it and make the server end would run what they wrote."""
    monkeypatch.setattr(server_module, "BACK_OFF_S", (0.01,) * 50)
    script = tmp_path / "theirs.py"
    script.write_text(Path(RAW).read_text())
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": program("theirs.py")}}))
    made = Lab(tmp_path, {})
    try:
        await made.servers.decide([row.digest for row in made.servers.unapproved()], approved=True)
        assert await made.servers.settled(HANG_S) == ()
        for changes in (False, True):
            if changes:
                script.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{script.read_text()}")
            made.states.clear()
            with pytest.raises(ConnectionLost):
                await made.call("theirs", "die")
            await until(lambda: made.states and made.states[-1][1] in ("ready", "unapproved"))
            assert made.states[-1] == ("theirs", "unapproved" if changes else "ready")
        assert not (tmp_path / "ran").exists()
        assert any("has changed since it was approved" in line for line in made.told)
        await made.servers.reread()
        await made.servers.decide([row.digest for row in made.servers.unapproved()], approved=True)
        await until(lambda: made.states[-1] == ("theirs", "ready"))
    finally:
        await made.servers.close()


async def test_an_answer_that_is_cut_or_no_json_is_an_answer_all_the_same(tmp_path: Path) -> None:
    """Nobody waits ten minutes for what came and could not be read."""
    async with lab(tmp_path, {"halved": program(RAW, "halved"), "broken": program(RAW, "broken")}) as made:
        assert await made.servers.settled(HANG_S) == ()
        assert (await made.call("halved", "echo")).text == "echo: cut \ufffd"
        with pytest.raises(ServerError, match="not JSON"):
            await made.call("broken", "echo")
