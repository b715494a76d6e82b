"""`clew auth` as people and scripts use it: the real command, a loopback server, a terminal for the menu."""

import json
import shlex
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.system.sandbox.status import probe_now
from e2e.command import Done, Place
from e2e.test_plain import Person
from fakes.model_server import ModelServer

KEY = "k-secret-0123456789abcdef"


def alone(tmp_path: Path) -> Place:
    """A machine without any key."""
    place = Place(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLEW_MODEL"):
        del place.env[name]
    return place


def settings(place: Place) -> dict[str, Any]:
    return json.loads((place.clew_home / "settings.json").read_text())


def said(done: Done) -> str:
    assert KEY not in done.out + done.err
    return done.out + done.err


def test_without_anything_the_status_says_what_to_do_and_fails(tmp_path: Path) -> None:
    place = alone(tmp_path)
    done = place.run("auth")
    assert done.code == 1
    assert "PROBLEM" in done.out
    assert "clew auth" in said(done)
    assert not place.clew_home.exists() or not list(place.clew_home.iterdir())


def test_a_key_is_saved_checked_used_and_never_shown(tmp_path: Path) -> None:
    place = alone(tmp_path)
    with ModelServer([{"text": "ok"}, {"text": "hello"}]) as server:
        place.env["ANTHROPIC_BASE_URL"] = server.url
        done = place.run("auth", "set", "anthropic", "--key-stdin", "--check", stdin=f"{KEY}\n")
        assert done.code == 0, done.err
        assert "answered" in said(done)
        answer = place.run("-p", "hi")
    assert answer.out.strip() == "hello"
    assert [one.headers["x-api-key"] for one in server.requests] == [KEY, KEY]
    assert server.requests[0].body["max_tokens"] == 16
    kept = place.clew_home / "credentials.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert KEY not in (place.clew_home / "settings.json").read_text()
    assert KEY not in "".join(path.read_text() for path in place.transcripts())
    status = place.run("auth", "status", "--json")
    assert status.code == 0
    assert json.loads(said(status)) | {"address": ""} == {
        "model": "anthropic/claude-opus-5-5",
        "chosen_by": str(place.clew_home / "settings.json"),
        "provider": "anthropic",
        "label": "Anthropic",
        "method": "saved",
        "key": "the key that `clew auth` saved",
        "address": "",
        "ready": True,
        "problems": [],
        "notes": [],
        "saved": ["anthropic"],
    }
    assert "the key that `clew auth` saved" in said(place.run("doctor"))
    assert KEY not in said(place.run("config", "list"))


def test_a_key_that_is_refused_is_not_kept(tmp_path: Path) -> None:
    place = alone(tmp_path)
    with ModelServer([{"fault": "unauthorized"}]) as server:
        place.env["OPENAI_BASE_URL"] = f"{server.url}/v1"
        done = place.run("auth", "set", "openai", "--key-stdin", "--check", stdin=f"{KEY}\n")
    assert done.code == 1
    assert "refused the saved key" in said(done)
    assert not (place.clew_home / "credentials.json").exists()
    assert not (place.clew_home / "settings.json").exists()


def test_an_address_of_ones_own_and_back(tmp_path: Path) -> None:
    place = alone(tmp_path)
    with ModelServer([{"text": "from corp"}], models=("big-coder",)) as server:
        url = f"{server.url}/v1"
        done = place.run("auth", "set", "corp", "--url", url, "--key-stdin", stdin=f"{KEY}\n")
        assert done.code == 0, done.err
        assert settings(place) == {"model": "corp/big-coder", "providers": {"corp": {"baseUrl": url}}}
        assert place.run("-p", "hi").out.strip() == "from corp"
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    done = place.run("auth", "set", "ollama", "--model", "tiny")
    assert done.code == 0
    assert "removed the saved key of corp" in said(done)
    assert settings(place) == {"model": "ollama/tiny"}
    assert "needs none" in said(place.run("auth", "status"))


def test_several_models_are_named_and_one_must_be_chosen(tmp_path: Path) -> None:
    place = alone(tmp_path)
    with ModelServer([], models=("a-model", "b-model")) as server:
        done = place.run("auth", "set", "corp", "--url", f"{server.url}/v1", "--no-key")
    assert done.code == 2
    assert "--model NAME: a-model, b-model" in said(done)
    assert not (place.clew_home / "settings.json").exists()


def test_a_command_that_prints_the_key(tmp_path: Path) -> None:
    place = alone(tmp_path)
    with ModelServer([{"text": "hello"}, {"text": "ok"}]) as server:
        place.env["ANTHROPIC_BASE_URL"] = server.url
        done = place.run("auth", "set", "anthropic", "--command", "printf", "%s", KEY)
        assert done.code == 0
        assert settings(place)["providers"]["anthropic"]["auth"]["command"] == ["printf", "%s", KEY]
        assert place.run("-p", "hi").out.strip() == "hello"
        assert place.run("auth", "check").code == 0
    assert {one.headers["x-api-key"] for one in server.requests} == {KEY}
    assert "the key that printf prints" in place.run("auth", "status").out


def test_removing(tmp_path: Path) -> None:
    place = alone(tmp_path)
    assert place.run("auth", "set", "openai", "--key-stdin", stdin=KEY).code == 0
    done = place.run("auth", "remove", "openai")
    assert done.code == 0
    assert "removed the saved key of openai" in said(done)
    assert not (place.clew_home / "credentials.json").exists()
    assert settings(place) == {}
    assert place.run("auth", "remove", "openai").code == 1


def test_what_makes_no_sense_is_one_line(tmp_path: Path) -> None:
    place = alone(tmp_path)
    for argv, stdin, words in (
        (("set", "anthropc"), "", "did you mean anthropic"),
        (("set", "anthropic"), None, "--key-stdin"),
        (("set", "anthropic", "--key-stdin"), "", "no key was given"),
        (("set", "anthropic", "--key-stdin"), "two words", "no key"),
        (("set", "../x", "--url", "http://h", "--no-key", "--model", "m"), None, "cannot name a provider"),
        (("set", "openai", "--command"), None, "--command takes"),
        (("set", "bedrock", "--key-stdin"), KEY, "AWS_REGION"),
        (("frobnicate",), None, "invalid choice"),
    ):
        done = place.run("auth", *argv, stdin=stdin)
        assert done.code in (1, 2), argv
        assert words in said(done), argv
        assert len(done.err.splitlines()) == 1
        assert not (place.clew_home / "credentials.json").exists()


def results_of(place: Place, *calls: dict[str, Any]) -> list[str]:
    """What tools answer while a saved key is in use, with every permission given."""
    script: list[Any] = [{"calls": [call]} for call in calls]
    with ModelServer([*script, {"text": "done"}]) as server:
        place.env["ANTHROPIC_BASE_URL"] = server.url
        assert place.run("auth", "set", "anthropic", "--key-stdin", stdin=KEY).code == 0
        done = place.run("-p", "look", "--permission-mode", "bypassPermissions")
    assert done.out.strip() == "done"
    assert KEY not in "".join(path.read_text() for path in place.transcripts())
    messages = server.requests[-1].body["messages"]
    found = [block for message in messages for block in message["content"] if block["type"] == "tool_result"]
    return [str(block["content"]) for block in found]


def test_no_tool_reads_the_saved_keys(tmp_path: Path) -> None:
    place = alone(tmp_path)
    path = str(place.clew_home / "credentials.json")
    read, shell, listed = results_of(
        place,
        {"call": "Read", "arguments": {"file_path": path}},
        {"call": "Bash", "arguments": {"command": f"cat {path}"}},
        {"call": "Bash", "arguments": {"command": "cat /proc/self/environ"}},
    )
    assert "Not allowed" in read
    assert "Not allowed" in shell
    assert "PATH=" in listed
    assert "k-secret" not in listed


def test_a_confined_command_does_not_even_find_them(tmp_path: Path) -> None:
    if not probe_now().enforced:
        pytest.skip("looks out of the sandbox, which this machine does not have")
    place = alone(tmp_path)
    code = "import os; print(open(os.path.expanduser('~/.cl' + 'ew/creden' + 'tials.json')).read())"
    (told,) = results_of(place, {"call": "Bash", "arguments": {"command": f"python3 -c {shlex.quote(code)}"}})
    assert "Error" in told
    assert '"keys"' not in told


def test_the_menu_takes_a_key_without_showing_it(tmp_path: Path) -> None:
    with ModelServer([{"text": "ok"}]) as server:
        person = Person(
            [sys.executable, "-m", "clew", "auth"],
            tmp_path,
            columns=90,
            HOME=str(tmp_path),
            ANTHROPIC_BASE_URL=server.url,
        )
        try:
            person.sees("How do you want to reach a model?")
            person.type("1\r")
            person.sees("Which provider?")
            person.sees("Number", times=2)
            person.type("1\r")
            person.sees("it is not shown")
            person.type(f"{KEY}\r")
            person.sees("Model [claude-opus-5-5]:")
            person.type("\r")
            person.sees("Try it now")
            person.type("y\r")
            person.sees("the model is anthropic/claude-opus-5-5")
            assert person.exits() == 0
        finally:
            person.leave()
    assert KEY not in person.seen
    assert server.requests[0].headers["x-api-key"] == KEY
    assert (tmp_path / "home" / "credentials.json").exists()


def test_the_menu_finds_a_server_on_this_machine(tmp_path: Path) -> None:
    with ModelServer([], models=("tiny", "small")) as server:
        url = f"{server.url}/v1"
        person = Person(
            [sys.executable, "-m", "clew", "auth"], tmp_path, columns=90, HOME=str(tmp_path), OLLAMA_BASE_URL=url
        )
        try:
            person.sees("How do you want to reach a model?")
            person.type("2\r")
            person.sees("ollama/small")
            person.type("9\r")
            person.sees("Type a number from 1 to 2")
            person.type("2\r")
            person.sees("Try it now")
            person.type("n\r")
            person.sees("the model is ollama/small")
            assert person.exits() == 0
        finally:
            person.leave()


def test_the_menu_takes_an_address_and_lists_its_models(tmp_path: Path) -> None:
    with ModelServer([], models=("one", "two")) as server:
        person = Person([sys.executable, "-m", "clew", "auth"], tmp_path, columns=90, HOME=str(tmp_path))
        try:
            person.sees("Number")
            person.type("3\r")
            person.sees("Address")
            person.type(f"{server.url}/v1\r")
            person.sees("Name for it [server]:")
            person.type("lab\r")
            person.sees("Enter: none")
            person.type("\r")
            person.sees("2. two")
            person.type("2\r")
            person.sees("Try it now")
            person.type("n\r")
            person.sees("the model is lab/two")
            assert person.exits() == 0
        finally:
            person.leave()
    assert json.loads((tmp_path / "home" / "settings.json").read_text())["model"] == "lab/two"


def test_leaving_the_menu_changes_nothing(tmp_path: Path) -> None:
    person = Person([sys.executable, "-m", "clew", "auth"], tmp_path, columns=90, HOME=str(tmp_path))
    try:
        person.sees("Number")
        person.type("\r")
        person.sees("Nothing was changed.")
        assert person.exits() == 0
    finally:
        person.leave()
    assert not (tmp_path / "home" / "settings.json").exists()
