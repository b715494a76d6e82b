"""MCP servers that ask people, through the real command: declined by nobody, answered by programs and by persons, and
withdrawn when the turn stops; what was answered goes to the server and nowhere else."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import CLEW, Place
from e2e.driver import Driven, is_asked
from e2e.test_plain import Person
from fakes.model_server import ModelServer

SERVER = Path(__file__).parents[1] / "fakes" / "mcp_people_server.py"
TOOLS = ",".join(f"mcp__people__{tool}" for tool in ("book", "pay", "nested", "whoami"))
ALLOW = ("--allowed-tools", TOOLS, "--mcp-wait", "60")
PROGRAM = ("--permission-prompt-tool", "stdio")


def calls(tool: str) -> dict[str, Any]:
    call = {"call": "CallTool", "arguments": {"tool": f"mcp__people__{tool}", "arguments": {}}}
    return {"calls": [call]}


def results(server: ModelServer) -> list[str]:
    """What the model was told by tools."""
    found: list[str] = []
    for request in server.requests:
        for message in request.body["messages"]:
            for part in message["content"] if isinstance(message["content"], list) else ():
                if part["type"] == "tool_result":
                    found.append(json.dumps(part["content"]))
    return list(dict.fromkeys(found))


class Lab:
    """A place with the server in the user's own file."""

    def __init__(self, tmp_path: Path, script: list[Any], *, old: bool = True) -> None:
        self.model = ModelServer(script).__enter__()
        self.place = Place(tmp_path, self.model.url)
        self.place.clew_home.mkdir()
        command = {"command": sys.executable, "args": [str(SERVER), *(["--old"] if old else [])]}
        self.place.clew_home.joinpath("mcp.json").write_text(json.dumps({"mcpServers": {"people": command}}))

    def log(self) -> str:
        return "".join(path.read_text() for path in self.place.transcripts())


@pytest.fixture
def labs() -> Iterator[list[Lab]]:
    made: list[Lab] = []
    yield made
    for lab in made:
        lab.model.__exit__()


@pytest.mark.parametrize("old", [True, False])
def test_nobody_is_there_so_the_server_is_told_no(tmp_path: Path, labs: list[Lab], old: bool) -> None:
    labs.append(lab := Lab(tmp_path, [calls("book"), {"text": "no table today"}], old=old))
    done = lab.place.run("-p", "book", *ALLOW, "--output-format", "json")
    assert done.code == 0, done.err
    assert done.result["result"] == "no table today"
    assert results(lab.model) == [json.dumps("no table: decline")]
    assert '"elicitation.answered"' in lab.log()


def test_a_program_answers_and_its_values_are_checked_and_not_kept(tmp_path: Path, labs: list[Lab]) -> None:
    script = [calls("book"), calls("book"), calls("pay"), calls("nested"), {"text": "done"}]
    labs.append(lab := Lab(tmp_path, script))
    with Driven(lab.place, *ALLOW, *PROGRAM) as run:
        run.say("book")
        asked = run.until(is_asked("elicitation"))
        assert asked["request"]["mcp_server_name"] == "people"
        assert asked["request"]["message"] == "A table for whom?"
        assert asked["request"]["requested_schema"]["required"] == ["name", "guests"]
        run.answer(asked, {"action": "accept", "content": {"name": "Zebulon", "guests": 3, "menu": "greens"}})
        asked = run.until(is_asked("elicitation"))
        run.answer(asked, {"action": "accept", "content": {"name": "Zebulon", "guests": 99}})
        asked = run.until(is_asked("elicitation"))
        assert (asked["request"]["mode"], asked["request"]["url"]) == ("url", "https://pay.example.org/t?id=7")
        run.answer(asked, {"action": "accept"})
        assert run.result()["result"] == "done"
        assert run.end() == 0
    first, *rest = results(lab.model)
    assert "Zebulon" in first
    assert "greens" in first
    assert rest[:2] == [json.dumps("no table: decline"), json.dumps("paying: accept")]
    assert "cannot be shown" in rest[2], "nobody is bothered with what is no form"
    kept = [line for line in lab.log().splitlines() if "elicitation." in line]
    assert len(kept) == 6
    assert not any("Zebulon" in line for line in kept), "the log keeps that it was answered, not the values"


def test_an_interrupt_withdraws_the_question(tmp_path: Path, labs: list[Lab]) -> None:
    labs.append(lab := Lab(tmp_path, [calls("book"), {"text": "again"}]))
    with Driven(lab.place, *ALLOW, *PROGRAM) as run:
        run.say("book")
        asked = run.until(is_asked("elicitation"))
        run.ask("stop", "interrupt")
        wanted = {"control_cancel_request", "result"}
        while wanted:  # in either order: the server hears of it on its own way
            wanted.discard(run.until(lambda line: line["type"] in wanted)["type"])
        assert {"type": "control_cancel_request", "request_id": asked["request_id"]} in run.lines
        run.answer(asked, {"action": "accept", "content": {"name": "late", "guests": 1}})
        run.say("and now?")
        assert run.result()["result"] == "again"
        assert run.end() == 0
    answered = [json.loads(line) for line in lab.log().splitlines() if '"elicitation.answered"' in line]
    assert [entry["event"]["by"] for entry in answered] == ["interrupt"]


def test_a_person_fills_the_form_line_by_line(tmp_path: Path, labs: list[Lab]) -> None:
    labs.append(lab := Lab(tmp_path, [calls("book"), {"text": "enjoy"}]))
    env = {name: value for name, value in lab.place.env.items() if name not in ("PATH", "LANG")}
    command = [CLEW, "--plain", "--trust", *ALLOW]
    someone = Person(command, lab.place.project, columns=160, **env)
    someone.sees("> ")
    someone.type("book a table\r")
    someone.sees("The MCP server people asks you:")
    for seen, typed in (
        ("Your name (name)", "Ada"),
        ("Guests (guests)", "12"),
        ("At most 8.", "2"),
        ("Terrace (terrace)", "yes"),
        ("Menu (menu)", "2"),
        ("Send this?", "y"),
    ):
        someone.sees(seen)
        someone.sees(" > ")
        someone.type(f"{typed}\r")
    someone.sees("enjoy")
    someone.sees("2 steps")
    someone.type("/exit\r")
    assert someone.exits() == 0
    (booked,) = results(lab.model)
    assert json.loads(json.loads(booked).removeprefix("booked ")) == {
        "name": "Ada",
        "guests": 2,
        "terrace": True,
        "menu": "greens",
    }
