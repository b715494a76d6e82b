"""What is loaded on the way to the first request, and what must not be."""

import json
import subprocess
import sys
from pathlib import Path

from e2e.command import Place
from fakes.model_server import ModelServer

REPORT = """
import atexit, json, sys
from clew.llm import remote
seen = []
send = remote.Transport.open
def spy(self, *args, **kwargs):
    if not seen:
        seen.extend(sorted(sys.modules))
    return send(self, *args, **kwargs)
remote.Transport.open = spy
atexit.register(lambda: sys.stderr.write("MODULES " + json.dumps(seen)))
sys.argv = ["clew", "-p", "hi"]
from clew.cli.entry import main
main()
"""
ROOMS = {
    "agents",
    "assembly",
    "cli",
    "config",
    "engine",
    "headless",
    "hooks",
    "host",
    "llm",
    "parts",
    "permissions",
    "prompts",
    "protocol",
    "streaming",
    "system",
    "text",
    "tools",
    "transcript",
}
HEAVY = {
    "anyio",
    "asyncio.windows_events",
    "ctypes",
    "difflib",
    "email",
    "hypothesis",
    "html.parser",
    "http.client",
    "httpx",
    "httpx2",
    "importlib.resources",
    "jsonschema_rs",
    "mcp",
    "pathspec",
    "pydantic",
    "pypdf",
    "re2",
    "rich",
    "shutil",
    "sqlite3",
    "textual",
    "tree_sitter",
    "tree_sitter_bash",
    "urllib.request",
    "xml",
    "zipfile",
}


AFTER_ALL = """
import atexit, json, sys
atexit.register(lambda: sys.stderr.write("MODULES " + json.dumps(sorted(sys.modules))))
sys.argv = ["clew", "-p", "hi"]
from clew.cli.entry import main
main()
"""
MAX_MODULES_OF_A_TURN = 230
"""How many modules of clew, packages included, `clew -p` loads for one turn with a Read. A change may only lower it."""
LOADED_BY_READ = {"ctypes"}
"""What one Read needs of the heavy ones."""
METER = {"contents", "window_meter", "meter", "slimming", "thresholds"}
"""What of compaction every run needs."""


def test_version_loads_nothing_of_ours_but_the_entry() -> None:
    code = "import sys; from clew.cli.entry import main; main(['--version']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.splitlines()[1].split() if name.startswith("clew")]
    assert loaded == ["clew", "clew.cli", "clew.cli.entry"]


def test_only_what_is_needed_is_loaded_before_the_first_request(tmp_path: Path) -> None:
    with ModelServer([{"text": "hi"}]) as server:
        place = Place(tmp_path, server.url)
        done = subprocess.run(
            [sys.executable, "-c", REPORT], capture_output=True, text=True, cwd=place.project, env=place.env, check=True
        )
    modules = set(json.loads(done.stderr.partition("MODULES ")[2]))
    assert modules
    assert not modules & HEAVY, f"loaded too early: {sorted(modules & HEAVY)}"
    rooms = {name.split(".")[1] for name in modules if name.startswith("clew.")}
    assert rooms <= ROOMS, f"rooms loaded too early: {sorted(rooms - ROOMS)}"
    hooks = {name for name in modules if name.startswith("clew.hooks")}
    assert hooks <= {"clew.hooks", "clew.hooks.answers"}, "nobody has hooks here, so nothing reads or runs them"


def test_a_run_that_needs_no_room_never_loads_what_makes_it(tmp_path: Path) -> None:
    with ModelServer([{"text": "hi"}]) as server:
        place = Place(tmp_path, server.url)
        done = subprocess.run(
            [sys.executable, "-c", AFTER_ALL],
            capture_output=True,
            text=True,
            cwd=place.project,
            env=place.env,
            check=True,
        )
    modules = set(json.loads(done.stderr.partition("MODULES ")[2]))
    compaction = {name.rsplit(".", 1)[1] for name in modules if name.startswith("clew.engine.compaction.")}
    assert compaction <= METER
    assert not {name for name in modules if name.startswith(("clew.ledger", "clew.parts.window.window."))}


def test_a_turn_with_a_read_loads_no_more_modules_than_it_did(tmp_path: Path) -> None:
    read = {"calls": [{"call": "Read", "arguments": {"file_path": "a.txt"}}]}
    with ModelServer([read, {"text": "hi"}]) as server:
        place = Place(tmp_path, server.url)
        (place.project / "a.txt").write_text("alpha\n")
        place.env["CLEW_SANDBOX"] = "off"  # each kind of sandbox has modules of its own
        done = subprocess.run(
            [sys.executable, "-c", AFTER_ALL],
            capture_output=True,
            text=True,
            cwd=place.project,
            env=place.env,
            check=True,
        )
        assert "alpha" in json.dumps(server.requests[1].body["messages"])
    modules = set(json.loads(done.stderr.partition("MODULES ")[2]))
    heavy = (modules & HEAVY) - LOADED_BY_READ
    assert not heavy, f"loaded for one Read: {sorted(heavy)}"
    ours = sorted(name for name in modules if name.split(".")[0] == "clew")
    assert len(ours) <= MAX_MODULES_OF_A_TURN, f"{len(ours)} modules: {ours}"


WATCHED = REPORT.replace('["clew", "-p", "hi"]', '["clew", "--plain"]')
"""Where a person sits; a script's first request waits for servers a little."""


def test_servers_are_connected_after_the_first_request_left(tmp_path: Path) -> None:
    """Five are configured, one of them hangs: nothing of the SDK is loaded on the way."""
    script = str(Path(__file__).parents[1] / "fakes" / "raw_mcp.py")
    servers = {f"s{number}": {"command": sys.executable, "args": [script]} for number in range(4)}
    servers["hangs"] = {"command": sys.executable, "args": [script, "silent"]}
    with ModelServer([{"text": "hi"}]) as server:
        place = Place(tmp_path, server.url)
        home = Path(place.env["CLEW_HOME"])
        home.mkdir(parents=True, exist_ok=True)
        (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        done = subprocess.run(
            [sys.executable, "-c", WATCHED],
            input="hi\n",
            capture_output=True,
            text=True,
            cwd=place.project,
            env=place.env,
            check=True,
        )
    modules = set(json.loads(done.stderr.partition("MODULES ")[2]))
    assert "clew.mcp.servers" in modules
    too_early = modules & {"anyio", "httpx2", "mcp", "pydantic"}
    assert not too_early, f"loaded too early: {sorted(too_early)}"
    assert not {name for name in modules if name.startswith(("mcp", "clew.mcp.transport.connection"))}
