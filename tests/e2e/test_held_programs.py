"""Hooks and servers of the workspace are held like commands: what a confined command changed never runs outside."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.system.sandbox.status import probe_now
from e2e.command import Place, Serve
from fakes.model_server import ModelServer

FAKES = Path(__file__).parents[1] / "fakes"
pytestmark = pytest.mark.skipif(not probe_now().enforced, reason="no sandbox holds on this machine")


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"call": "Bash", "arguments": {"command": command}}]}


def hooked(place: Place, moment: str, command: str, **more: Any) -> None:
    place.clew_home.mkdir(parents=True, exist_ok=True)
    hook = {"type": "command", "command": command, "timeout": 300, **more}
    (place.clew_home / "settings.json").write_text(json.dumps({"hooks": {moment: [{"hooks": [hook]}]}}))


def test_the_first_example_of_the_docs_is_no_way_out(serve: Serve, tmp_path: Path) -> None:
    """A Stop hook runs the tests of the project, and a confined command says what the tests are."""
    planted = f"printf 'test:\\n\\ttouch inside; touch {tmp_path}/escaped; touch /usr/.clew-test\\n' > Makefile"
    place, server = serve({"replies": [bash(planted)], "last": {"text": "done"}})
    hooked(place, "Stop", "make -s test >&2 || exit 2")
    done = place.run("-p", "go", "--trust")
    assert not (tmp_path / "escaped").exists()
    assert (place.project / "inside").exists(), "it ran, in the sandbox"
    assert '"sandbox": false beside its command' in done.err
    assert len(server.requests) > 2, "its no still counts"


def test_a_hook_that_sources_a_file_of_the_project(serve: Serve, tmp_path: Path) -> None:
    place, _ = serve([bash(f"echo 'touch {tmp_path}/escaped' > lib.sh"), {"text": "done"}])
    hooked(place, "Stop", ". ./lib.sh; echo over > mark")
    done = place.run("-p", "go", "--trust")
    assert done.code == 0, done.err
    assert not (tmp_path / "escaped").exists()
    assert (place.project / "mark").exists()


def test_a_hook_that_may_leave_the_sandbox_does(serve: Serve, tmp_path: Path) -> None:
    place, _ = serve([{"text": "done"}])
    hooked(place, "Stop", f"touch {tmp_path}/outside", sandbox=False)
    place.run("-p", "go", "--trust")
    assert (tmp_path / "outside").exists()
    listed = place.run("hooks", "list", "--json")
    assert json.loads(listed.out)["hooks"][0]["sandbox"] is False


@pytest.mark.parametrize("folder", [".claude/hooks", ".clew/hooks", ".claude"])
def test_a_hooks_own_program_is_seen_in_a_hidden_home_and_nothing_else_there(serve: Serve, folder: str) -> None:
    place, _ = serve([{"text": "done"}])
    script = place.home / folder / "guard.sh"
    script.parent.mkdir(parents=True)
    secret = place.home / ".claude" / ".credentials.json"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("tokens")
    script.write_text(f"cat {secret} > seen; echo ran > mark\n")
    hooked(place, "Stop", f"sh {script}")
    done = place.run("-p", "go", "--trust")
    assert (place.project / "mark").exists(), done.err
    assert (place.project / "seen").read_text() == ""


def test_what_a_project_wants_outside_is_said_at_its_approval(serve: Serve, tmp_path: Path) -> None:
    place, _ = serve([{"text": "done"}])
    (place.project / ".clew").mkdir()
    hook = {"type": "command", "command": f"touch {tmp_path}/outside"}
    for more in ({}, {"sandbox": False}):
        settings = {"hooks": {"Stop": [{"hooks": [hook | more]}]}}
        (place.project / ".clew" / "settings.json").write_text(json.dumps(settings))
        place.run("-p", "hi", "--trust")
        shown = place.run("hooks", "approve", "--yes")
        assert ("outside the sandbox" in shown.out) == bool(more), shown.out


def server_script(place: Place, target: Path) -> Path:
    """A real server that tries to write outside the workspace when it starts."""
    script = place.project / "server.py"
    text = (FAKES / "raw_mcp.py").read_text()
    first = f"import pathlib\ntry:\n    pathlib.Path({str(target)!r}).touch()\nexcept OSError:\n    pass\n"
    head, mark, rest = text.partition("\nimport ")
    script.write_text(head + "\n" + first + mark + rest)
    return script


@pytest.mark.parametrize(
    ("where", "more", "free"),
    [
        ("script", {}, False),
        ("directory", {}, False),
        ("elsewhere", {}, True),
        ("script", {"sandbox": False}, True),
        ("elsewhere", {"env": {"PYTHONPATH": "../project/lib"}}, False),
    ],
    ids=[
        "a-script-of-the-project",
        "the-projects-directory",
        "elsewhere",
        "as-its-definition-wants",
        "a-variable-from-its-directory",
    ],
)
def test_servers(tmp_path: Path, where: str, more: dict[str, Any], *, free: bool) -> None:
    target = tmp_path / "escaped"
    echo = {"calls": [{"call": "mcp__raw__echo", "arguments": {"text": "hi"}}]}
    with ModelServer([echo, {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        script = server_script(place, target)
        outside = tmp_path / "programs"
        definition = {"command": sys.executable, "args": [str(script)], **more}
        if where != "script":
            outside.mkdir()
            script = script.rename(outside / "server.py")
            definition["args"] = [str(script)]
        if where == "elsewhere":
            definition["cwd"] = str(outside)
        config = json.dumps({"mcpServers": {"raw": definition}})
        done = place.run(
            *("-p", "hi", "--mcp-config", config, "--mcp-wait", "30", "--allowed-tools", "mcp__raw", "--trust")
        )
        assert done.code == 0, done.err
        assert "echo: hi" in json.dumps(server.requests[1].body["messages"]), "the server works"
    assert target.exists() == free


def test_what_is_taken_away_is_one_visible_line(serve: Serve) -> None:
    """Not only inside the call, which is folded."""
    place, _ = serve([bash("git init -q vend; git -C vend config core.fsmonitor x"), {"text": "done"}])
    done = place.run("-p", "go", "--trust", "--output-format", "stream-json")
    lines = [json.loads(line) for line in done.out.splitlines()]
    told = [line for line in lines if line.get("code") == "sandbox"]
    assert len(told) == 1, done.out
    assert "vend/.git/config (it sets core.fsmonitor" in json.dumps(told[0])


def test_what_a_hook_left_for_git_is_told(serve: Serve) -> None:
    place, _ = serve([{"text": "done"}])
    hooked(place, "Stop", "git init -q vend; git -C vend config core.fsmonitor x")
    done = place.run("-p", "go", "--trust")
    assert "the sandbox took away what it left: " in done.err
    assert not (place.project / "vend" / ".git" / "config").exists()
