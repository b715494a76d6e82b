"""`--bare`: nothing that files bring is in the session, in print mode, line by line and on the screen."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

SERVER = str(Path(__file__).parents[1] / "fakes" / "mcp_server.py")
SCRIPT = {"replies": [{"match": "lamp", "text": "The lamp is mended."}], "last": {"text": "Harbour lamp"}}


def equipped(tmp_path: Path, url: str) -> Place:
    """A place with all that files can bring, and a mark for each program that ran."""
    place = Place(tmp_path, url)
    place.clew_home.mkdir()
    (place.clew_home / "AGENTS.md").write_text("Memory of the user.\n")
    (place.project / "AGENTS.md").write_text("Memory of the project.\n")
    skill = place.clew_home / "skills" / "tidy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: Tidies up\n---\nTidy.\n")
    hook = {"type": "command", "command": f"touch {tmp_path}/hook-ran", "sandbox": False}
    settings = {
        "fastModel": "anthropic/claude-haiku-4-5",
        "titles": {"model": "on"},
        "hooks": {"UserPromptSubmit": [{"hooks": [hook]}]},
    }
    (place.clew_home / "settings.json").write_text(json.dumps(settings))
    starts = {"command": "sh", "args": ["-c", f"touch {tmp_path}/server-ran; exec {sys.executable} {SERVER}"]}
    starts["sandbox"] = False  # it leaves its mark outside the project
    (place.clew_home / "mcp.json").write_text(json.dumps({"mcpServers": {"harbour": starts}}))
    return place


def one_turn(place: Place, front: str, *more: str) -> None:
    if front == "print":
        done = place.run("-p", "mend the lamp", "--trust", *more)
        assert (done.code, done.out) == (0, "The lamp is mended.\n"), done.err
        return
    person = ScreenPerson(place, *(["--plain"] if front == "plain" else []), *more)
    try:
        person.sees("lists commands" if front == "plain" else "F1 help")
        person.type("mend the lamp\r")
        person.sees("The lamp is mended.")
        (path,) = place.transcripts()
        person.until(lambda: b'"turn-result"' in path.read_bytes())
        person.type("\x04")
        person.until_ended()
    finally:
        person.leave()


def brought(place: Place, server: ModelServer) -> dict[str, bool]:
    """What came into the session."""
    asked: list[Any] = [request.body for request in server.requests if b"messages" in request.raw]
    main = next(body for body in asked if "mend the lamp" in json.dumps(body["messages"]))
    words, here = json.dumps(main["system"]), place.home.parent
    return {
        "memory of the user": "Memory of the user" in words,
        "memory of the project": "Memory of the project" in words,
        "skills": "Tidies up" in words,
        "hooks": (here / "hook-ran").exists(),
        "servers": (here / "server-ran").exists(),
        "side queries": len({body["model"] for body in asked}) > 1,
    }


@pytest.mark.parametrize("front", ["print", "plain", "screen"])
def test_nothing_is_brought_to_a_bare_session(tmp_path: Path, front: str) -> None:
    with ModelServer(SCRIPT) as server:
        place = equipped(tmp_path, server.url)
        one_turn(place, front, "--bare")
        assert not [what for what, came in brought(place, server).items() if came]


def test_all_of_it_is_brought_to_any_other(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        place = equipped(tmp_path, server.url)
        one_turn(place, "print", "--mcp-wait", "30")
        assert [what for what, came in brought(place, server).items() if not came] == []


def test_what_is_given_for_a_bare_session_itself_counts(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        place = equipped(tmp_path, server.url)
        given = (place.clew_home / "mcp.json").read_text()
        words = ("--append-system-prompt", "Words of the caller.")
        one_turn(place, "print", "--bare", "--mcp-config", given, "--mcp-wait", "30", *words)
        assert [what for what, came in brought(place, server).items() if came] == ["servers"]
        assert "Words of the caller." in json.dumps(server.requests[0].body["system"])


def test_a_slash_name_of_a_file_is_unknown_in_a_bare_session(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        place = equipped(tmp_path, server.url)
        for name in ("/tidy", "/init"):
            done = place.run("-p", name, "--bare")
            assert done.code == 2
            assert f"Unknown command {name}" in done.err
        assert server.requests == []
