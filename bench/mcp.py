"""What five configured MCP servers, one of them hanging, cost: the first request, and the end of a short run."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.processes import CLEW, ROOT, clew_env, interleaved, model_server, run
from bench.report import Row
from bench.startup import first_request

ROUNDS = 15


def rows() -> Iterator[Row]:
    """With servers and without, in turns."""
    script = str(ROOT / "tests" / "fakes" / "raw_mcp.py")
    servers = {f"s{number}": {"command": sys.executable, "args": [script]} for number in range(4)}
    servers["hangs"] = {"command": sys.executable, "args": [script, "silent"]}
    with tempfile.TemporaryDirectory() as home, model_server({"replies": [], "last": {"text": "Hello."}}) as server:
        project = f"{home}/project"
        Path(project).mkdir()
        env = clew_env(home, server)
        none = [CLEW, "-p", "hi"]
        some = [*none, "--mcp-config", json.dumps({"mcpServers": servers})]
        run(some, env, project)
        taken = interleaved(
            ROUNDS,
            none=lambda: first_request(server, none, env, project),
            some=lambda: first_request(server, some, env, project),
            none_wall=lambda: run(none, env, project).wall_s,
            some_wall=lambda: run(some, env, project).wall_s,
        )
    ratio = taken["some"] / taken["none"]
    wall = taken["some_wall"] / taken["none_wall"]
    yield Row("first request, no servers", f"{taken['none'] * 1000:.0f} ms", "-", None)
    yield Row("first request, 5 servers, one hangs", f"{ratio:.2f} x none", "<= 1.1 x", ratio <= 1.1)
    yield Row("one short answer, whole process, 5 servers", f"{wall:.2f} x none", "-", None)
