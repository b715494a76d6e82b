"""Where pinned sessions take place, what the model says in them, and who answers it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from e2e.command import Place
from e2e.driver import Driven, Json, is_asked
from fakes.model_server import ModelServer

ASK = ("--permission-prompt-tool", "stdio")
PARTIAL = ("--include-partial-messages",)
PLAN = "# Move the cache\n\n1. Read `a.txt`\n2. Write `b.txt`\n"
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "red"}, {"label": "blue", "description": "as the sea"}],
}


def new_place(folder: Path, server: ModelServer) -> Place:
    """A home and a project that look the same on every machine."""
    place = Place(folder, server.url)
    # The project's root is here, also when the tests run below a repository. A pointer, because git itself refuses one
    # that leads to nothing whole, and looks further up from a folder: what it would count is the machine's.
    hollow = place.home / "hollow.git"
    hollow.mkdir()
    (hollow / "HEAD").write_text("ref: refs/heads/main\n")
    (place.project / ".git").write_text(f"gitdir: {hollow}\n")
    (place.project / "a.txt").write_text("alpha\nbeta\n")
    place.env |= {"CLEW_SANDBOX": "off"}  # which sandbox there is, and whether, is the machine's
    return place


@contextmanager
def scene(folder: Path, *replies: Json) -> Iterator[tuple[Place, ModelServer]]:
    """A place, and a model that says these things in turn."""
    with ModelServer(list(replies)) as server:
        yield new_place(folder, server), server


def call(tool: str, /, **arguments: Any) -> Json:
    """A reply that asks for one tool."""
    return {"calls": [{"call": tool, "arguments": arguments}]}


def held(reply: Json, gate: str = "end") -> Json:
    """The reply, whose end waits for a gate: what its tool does comes before it, however fast the machine is.
    Without it a tool that ends while its reply still ends has its line on either side."""
    return {"parts": [*reply.get("parts", []), *reply["calls"], {"wait": gate}]}


def is_user(line: Json) -> bool:
    return line["type"] == "user" and not line.get("isMeta")


def is_text(line: Json) -> bool:
    """A piece of an answer."""
    return line["type"] == "stream_event" and line["event"].get("delta", {}).get("type") == "text_delta"


def titled_result(run: Driven) -> None:
    """The end of the first turn. Its title comes a moment after the result, or not at all when the program leaves
    before: it is waited for."""
    run.result()
    run.until(lambda line: line.get("subtype") == "title")


def answer(run: Driven, respond: Callable[[Json], Json]) -> None:
    """What the program says when it is asked about a call."""
    asked = run.until(is_asked("can_use_tool"))
    run.answer(asked, respond(asked["request"]["input"]))


def allow(given: Json) -> Json:
    return {"behavior": "allow", "updatedInput": given}


def deny(_: Json) -> Json:
    return {"behavior": "deny", "message": "not on a Friday"}


def blue(given: Json) -> Json:
    return {"behavior": "allow", "updatedInput": {**given, "answers": {"Which colour?": "blue"}}}
