"""The first request of a run, byte by byte: its head, and its body in the order in which it was written."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer, Recorded
from pinned.normal import Json, Normal, same, shown
from pinned.scenes import new_place

SCHEMA = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}
PROVIDERS = ("anthropic", "chat", "responses", "gemini")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"replies": [], "last": {"text": "done"}}) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: ModelServer) -> Place:
    return new_place(tmp_path, server)


def request_shown(place: Place, request: Recorded, *, tools: bool = True) -> str:
    """`tools`: with all of their words; else their names and a digest, for those are whole in the pins of the wires."""
    normal = Normal(place)
    head = normal.value({name: value for name, value in request.headers.items() if name != "content-length"})
    line = normal.text(f"{request.method} {request.path}")
    body: Json = normal.document(request.raw.decode())
    if not tools:
        digest = hashlib.sha256(json.dumps(body["tools"]).encode()).hexdigest()
        body["tools"] = [*(tool["name"] for tool in body["tools"]), f"sha256 {digest}"]
    return "\n".join([line, shown(head), shown(body)])


def of_wire(place: Place, server: ModelServer, wire: str) -> tuple[str, ...]:
    """What makes a run use this wire."""
    place.env |= {"OPENAI_API_KEY": "sk-test", "GEMINI_API_KEY": "g-test"}
    place.env |= {"OPENAI_BASE_URL": f"{server.url}/v1", "GOOGLE_GEMINI_BASE_URL": server.url}
    match wire:
        case "anthropic":
            return ()
        case "chat":  # OpenAI's at an address that is not OpenAI's
            return ("--model", "openai/gpt-5")
        case "responses":
            settings = {"providers": {"openai": {"dialect": "openai-responses"}}}
            return ("--model", "openai/gpt-5", "--settings", json.dumps(settings))
        case _:
            return ("--model", "gemini/gemini-2.5-pro")


@pytest.mark.parametrize("wire", PROVIDERS)
def test_each_wire(place: Place, server: ModelServer, wire: str) -> None:
    done = place.run("-p", "hi", *of_wire(place, server, wire))
    assert (done.code, done.out) == (0, "done\n"), done.err
    same(f"requests/wire-{wire}", request_shown(place, server.requests[0]))


def test_memory_files_of_the_project(place: Place, server: ModelServer) -> None:
    (place.project / "CLAUDE.md").write_text("# House rules\n- Use tabs.\n")
    (place.project / "AGENTS.md").write_text("# For agents\n- Run `make test`.\n")
    (place.clew_home).mkdir()
    (place.clew_home / "AGENTS.md").write_text("- Answer in verse.\n")
    assert place.run("-p", "hi", "--trust").code == 0
    same("requests/memory-files", request_shown(place, server.requests[0], tools=False))


def test_a_resumed_session(place: Place, server: ModelServer) -> None:
    (place.project / "note.txt").write_text("the tide is high\n")
    read = {"calls": [{"call": "Read", "arguments": {"file_path": "note.txt"}}]}
    with ModelServer([read, {"text": "It is high."}]) as before:
        assert place.run("-p", "read the note", env={"ANTHROPIC_BASE_URL": before.url}).code == 0
    assert place.run("-p", "and now?", "-c").code == 0
    same("requests/resumed", request_shown(place, server.requests[0], tools=False))


def test_a_schema_for_the_answer(place: Place, server: ModelServer) -> None:
    place.run("-p", "six times seven?", "--json-schema", json.dumps(SCHEMA))
    same("requests/json-schema", request_shown(place, server.requests[0]))


def test_plan_mode(place: Place, server: ModelServer) -> None:
    assert place.run("-p", "move the cache", "--permission-mode", "plan").code == 0
    same("requests/plan-mode", request_shown(place, server.requests[0], tools=False))


def test_the_plain_front_end(place: Place, server: ModelServer) -> None:
    done = place.run("--plain", stdin="hi\n")
    assert done.code == 0, done.err
    same("requests/plain", request_shown(place, server.requests[0], tools=False))
