"""What models are told is pinned: a change of a tool's words or schema shows in review.

`CLEW_UPDATE_SNAPSHOTS=1 make test ARGS=tests/architecture` writes the snapshots anew.
"""

import os
from pathlib import Path
from typing import Any, Union, get_args

import msgspec

from clew.prompts.system_prompt import prompt_text
from clew.protocol.base import leaves
from clew.protocol.events import Envelope, Event
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.ops import Op
from clew.protocol.wire import load_lookups
from clew.streaming.shapes import stream, stream_content
from clew.streaming.shapes.control import ControlLine
from clew.streaming.shapes.stream import SCHEMA_VERSION, ResultLine, StreamLine
from clew.tools.registry import builtin_tools
from clew.tools.session import ToolSession

SNAPSHOTS = Path(__file__).parent / "snapshots"
DOCS = Path(__file__).parents[2] / "docs"
MAX_CONSTANT_BYTES = 13_500


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


def in_order(value: Any) -> Any:
    """Choices by name: which module was loaded first must not show."""
    if isinstance(value, dict):
        return {key: in_order(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType] (JSON)
    if isinstance(value, list):
        items = [in_order(item) for item in value]  # pyright: ignore[reportUnknownVariableType] (JSON)
        return sorted(items, key=str) if all("$ref" in item for item in items) else items
    return value


def known(base: type[msgspec.Struct]) -> tuple[type[msgspec.Struct], ...]:
    """Lookups or answers of ours; those that tests define are left out."""
    load_lookups()
    ours = (kind for kind in leaves(base) if kind.__module__.startswith("clew."))
    return tuple(sorted(ours, key=lambda kind: kind.__name__))


def test_the_protocol_is_pinned() -> None:
    """What front ends in other languages read and write, as JSON Schema."""
    kinds = [Envelope, Event, Op, Union[known(Lookup)], Union[known(Answer)]]  # noqa: UP007  (`|` cannot join a tuple)
    references, components = msgspec.json.schema_components(kinds)
    schema = {
        "$defs": components,
        **dict(zip(("envelope", "event", "op", "lookup", "answer"), references, strict=True)),
    }
    now = msgspec.json.format(msgspec.json.encode(in_order(schema), order="sorted"), indent=1) + b"\n"
    pinned = DOCS / "protocol.schema.json"
    if os.environ.get("CLEW_UPDATE_SNAPSHOTS"):
        pinned.write_bytes(now)
    assert now == pinned.read_bytes(), (
        "the protocol differs from docs/protocol.schema.json; if that is meant, update it"
    )


def stream_schema() -> dict[str, Any]:
    """What programs read, one line at a time. Every field is required that is always written."""
    lines = (*get_args(StreamLine), *get_args(ControlLine))
    references, components = msgspec.json.schema_components(lines)
    structs = {
        value.__name__: value
        for module in (stream, stream_content)
        for value in vars(module).values()
        if is_struct(value)
    }
    for name, component in components.items():
        struct = structs.get(name)
        if struct is not None and not struct.__struct_config__.omit_defaults:
            optional = {field.encode_name for field in msgspec.structs.fields(struct) if field.default is msgspec.UNSET}
            component["required"] = [name for name in component["properties"] if name not in optional]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"One line of clew's stream-json, schema version {SCHEMA_VERSION}",
        "anyOf": list(references),
        "$defs": components,
    }


def is_struct(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, msgspec.Struct)


def test_the_stream_that_programs_read_is_pinned() -> None:
    now = msgspec.json.format(msgspec.json.encode(stream_schema(), order="sorted"), indent=1) + b"\n"
    pinned = DOCS / "stream-json.schema.json"
    if os.environ.get("CLEW_UPDATE_SNAPSHOTS"):
        pinned.write_bytes(now)
    assert now == pinned.read_bytes(), (
        "the stream differs from docs/stream-json.schema.json; if that is meant, update it, and raise SCHEMA_VERSION "
        "when it breaks readers"
    )


def test_the_page_about_the_stream_names_every_line_and_every_field_of_the_result() -> None:
    page = (DOCS / "stream-json.md").read_text(encoding="utf-8")
    for line in (*get_args(StreamLine), *get_args(ControlLine)):
        names = {str(line.__struct_config__.tag)} | {
            str(field.default)
            for field in msgspec.structs.fields(line)
            if field.name == "subtype" and isinstance(field.default, str)
        }
        assert all(f"`{name}`" in page for name in names), f"{line.__name__} is not described"
    for field in msgspec.structs.fields(ResultLine):
        assert f"`{field.encode_name}`" in page, f"{field.encode_name} of the result is not described"


def test_what_every_first_request_carries_is_small(tmp_path: Path) -> None:
    specs = [tool.spec() for tool in builtin_tools(ToolSession(cwd=str(tmp_path)))]
    constant = len(msgspec.json.encode(specs)) + len(prompt_text("system").encode())
    assert constant <= MAX_CONSTANT_BYTES


def test_tool_and_parameter_names_are_those_models_were_trained_on(tmp_path: Path) -> None:
    specs = {tool.name: tool.spec().schema["properties"] for tool in builtin_tools(ToolSession(cwd=str(tmp_path)))}
    assert "file_path" in specs["Read"]
    assert {"old_string", "new_string", "replace_all"} <= set(specs["Edit"])
    assert {"command", "timeout", "run_in_background", "description"} <= set(specs["Bash"])
    assert {"pattern", "path", "glob", "output_mode"} <= set(specs["Grep"])
    assert {"pattern", "path"} <= set(specs["Glob"])
