"""The official reference servers, from their registry, through the real command: `make reference`.

Not part of `make test`: they are installed by npm, once, into a folder of the user's cache.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer

VERSION = "2026.8.31"
SERVERS = ("everything", "filesystem", "memory")
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clew-reference-servers" / VERSION
pytestmark = pytest.mark.skipif(
    os.environ.get("CLEW_REFERENCE") != "1", reason="it installs packages; make reference runs it"
)


@pytest.fixture(scope="module")
def programs() -> dict[str, str]:
    """Where each server's script lies."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("Node and npm are not here")
    found = {name: FOLDER / f"node_modules/@modelcontextprotocol/server-{name}/dist/index.js" for name in SERVERS}
    if not all(path.exists() for path in found.values()):
        FOLDER.mkdir(parents=True, exist_ok=True)
        packages = [f"@modelcontextprotocol/server-{name}@{VERSION}" for name in SERVERS]
        words = ["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--prefix", str(FOLDER)]
        done = subprocess.run([*words, *packages], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the registry does not give them: {done.stderr[-300:]}")
    return {name: str(path) for name, path in found.items()}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"call": "CallTool", "arguments": {"tool": tool, "arguments": arguments}}]}


def results(server: ModelServer) -> list[dict[str, Any]]:
    last = server.requests[-1].body["messages"]
    return [part for message in last for part in message["content"] if part["type"] == "tool_result"]


def test_all_three_in_one_session(tmp_path: Path, programs: dict[str, str]) -> None:
    script = [
        call("mcp__everything__echo", message="hello"),
        call("mcp__everything__get-sum", a=2, b=3),
        call("mcp__everything__get-tiny-image"),
        call("mcp__everything__get-structured-content", location="New York"),
        call("mcp__everything__trigger-long-running-operation", duration=1, steps=3),
        call("mcp__filesystem__read_text_file", path=str(tmp_path / "project" / "a.txt")),
        call("mcp__filesystem__read_text_file", path="/etc/passwd"),
        call("mcp__memory__create_entities", entities=[{"name": "clew", "entityType": "tool", "observations": ["x"]}]),
        call("mcp__memory__read_graph"),
        {"text": "done"},
    ]
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)
        (place.project / "a.txt").write_text("the file's words")
        given = {
            "everything": {"command": "node", "args": [programs["everything"]]},
            "filesystem": {"command": "node", "args": [programs["filesystem"], str(place.project)]},
            "memory": {
                "command": "node",
                "args": [programs["memory"]],
                "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
            },
        }
        rules = [f"mcp__{name}" for name in SERVERS]
        run = place.run("-p", "hi", "--mcp-config", json.dumps({"mcpServers": given}), "--allowed-tools", *rules)
        found = results(server)
    assert run.code == 0, run.err
    texts = [json.dumps(one["content"]) for one in found]
    assert "hello" in texts[0]
    assert "5" in texts[1]
    assert any(part["type"] == "image" for part in found[2]["content"])
    assert "temperature" in texts[3]
    assert "completed" in texts[4]
    assert "the file's words" in texts[5]
    assert found[6].get("is_error"), "it stays in the project"
    assert "clew" in texts[8]
    assert "clew" in (tmp_path / "memory.jsonl").read_text()


def test_their_health(tmp_path: Path, programs: dict[str, str]) -> None:
    place = Place(tmp_path)
    place.run("mcp", "add", "everything", "--", "node", programs["everything"])
    place.run("mcp", "add", "memory", "-s", "user", "--", "node", programs["memory"])
    listed = json.loads(place.run("mcp", "list", "--json").out)
    assert {row["name"]: row["state"] for row in listed["servers"]} == {"everything": "ready", "memory": "ready"}
    assert all(row["tools"] for row in listed["servers"])
