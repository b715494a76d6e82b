"""A command that needed a credential file: told with its name, allowed for the project by a person, closed again."""

from pathlib import Path

import pytest

from clew.system.sandbox.status import probe_now
from e2e.command import Place
from fakes.model_server import ModelServer

CANARY = "CANARY-4f9a-value"


def asked(place: Place, *args: str, prepare: tuple[str, ...] = ()) -> tuple[str, str]:
    """One `cat .env` by the model; what the model was told, and what the person read."""
    if prepare:
        done = place.run("permissions", *prepare)
        assert done.code == 0, done.err
    call = {"call": "Bash", "arguments": {"command": "cat .env"}}
    with ModelServer([{"calls": [call]}, {"text": "ok"}]) as server:
        done = place.run("-p", "go", "--trust", *args, env={"ANTHROPIC_BASE_URL": server.url})
        return str(server.requests[1].body["messages"][-1]), done.err


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    (made.project / ".env").write_text(f"TOKEN={CANARY}\n")
    return made


@pytest.fixture
def sandbox() -> None:
    if not probe_now().enforced:
        pytest.skip("this machine enforces no sandbox, so nothing is withheld from commands")


def test_the_way_from_withheld_to_allowed_and_back(place: Place, sandbox: None) -> None:
    told, read = asked(place)
    assert CANARY not in told
    assert ".env" in told
    assert "/permissions allow Read(.env)" in read
    assert "clew permissions allow 'Read(.env)'" in read
    told, read = asked(place, prepare=("allow", "Read(.env)"))
    assert CANARY in told
    assert "withheld" not in read
    told, _ = asked(place, prepare=("remove", "Read(.env)"))
    assert CANARY not in told


def test_without_a_sandbox_the_rule_opens_it_too(place: Place) -> None:
    off = ("--settings", '{"sandbox": {"mode": "off"}}')
    assert CANARY not in asked(place, *off)[0]
    assert CANARY in asked(place, *off, prepare=("allow", "Read(.env)"))[0]
    assert CANARY not in asked(place, *off, prepare=("remove", "Read(.env)"))[0]


def test_a_rule_that_is_none_is_refused(place: Place) -> None:
    done = place.run("permissions", "allow", "Read(")
    assert done.code == 1
    assert "permission rule" in done.err
    listed = place.run("permissions", "list").out
    assert "Read(" not in listed
    assert place.run("permissions", "allow", "Bash(make *)").code == 0
    assert "Bash(make *)  (holds in this project until it is removed)" in place.run("permissions", "list").out
