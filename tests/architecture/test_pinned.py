"""What models are told is pinned: a change of a tool's words or schema shows in review.

`CLEW_UPDATE_SNAPSHOTS=1 make test ARGS=tests/architecture` writes the snapshots anew.
"""

import os
from pathlib import Path

import msgspec

from clew.prompts.system_prompt import prompt_text
from clew.protocol.events import Envelope
from clew.protocol.ops import Op
from clew.tools.registry import builtin_tools
from clew.tools.session import ToolSession

SNAPSHOTS = Path(__file__).parent / "snapshots"
DOCS = Path(__file__).parents[2] / "docs"
MAX_CONSTANT_BYTES = 16_000


def tool_specs(tmp_path: Path) -> bytes:
    specs = [tool.spec() for tool in builtin_tools(ToolSession(cwd=str(tmp_path)))]
    return msgspec.json.format(msgspec.json.encode(specs)) + b"\n"


def test_tool_specs_are_pinned(tmp_path: Path) -> None:
    now = tool_specs(tmp_path)
    pinned = SNAPSHOTS / "tools.json"
    if os.environ.get("CLEW_UPDATE_SNAPSHOTS"):
        SNAPSHOTS.mkdir(exist_ok=True)
        pinned.write_bytes(now)
    assert now == pinned.read_bytes(), "the tools differ from their snapshot; if that is meant, update it"


def test_the_protocol_is_pinned() -> None:
    """What front ends in other languages read and write, as JSON Schema."""
    (envelope, op), components = msgspec.json.schema_components([Envelope, Op])
    schema = {"$defs": components, "event": envelope, "op": op}
    now = msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=1) + b"\n"
    pinned = DOCS / "protocol.schema.json"
    if os.environ.get("CLEW_UPDATE_SNAPSHOTS"):
        pinned.write_bytes(now)
    assert now == pinned.read_bytes(), (
        "the protocol differs from docs/protocol.schema.json; if that is meant, update it"
    )


def test_what_every_first_request_carries_is_small(tmp_path: Path) -> None:
    constant = len(tool_specs(tmp_path)) + len(prompt_text("system").encode())
    assert constant <= MAX_CONSTANT_BYTES


def test_tool_and_parameter_names_are_those_models_were_trained_on(tmp_path: Path) -> None:
    specs = {tool.name: tool.spec().schema["properties"] for tool in builtin_tools(ToolSession(cwd=str(tmp_path)))}
    assert "file_path" in specs["Read"]
    assert {"old_string", "new_string", "replace_all"} <= set(specs["Edit"])
    assert {"command", "timeout", "run_in_background", "description"} <= set(specs["Bash"])
    assert {"pattern", "path", "glob", "output_mode"} <= set(specs["Grep"])
    assert {"pattern", "path"} <= set(specs["Glob"])
