"""`clew doctor --probe` through the real command: told before, kept after, shown where models are listed."""

import json
import sys
from pathlib import Path

from clew.commands.model import about_model
from clew.parts.models.at_place import model_rows
from clew.protocol.lookups.rules_and_models import ModelRow
from e2e.command import Place
from e2e.test_plain import Person
from fakes.model_server import ModelServer
from fakes.quirky_model import QuirkyModel

PROBE = ("doctor", "--probe", "ollama/quirky", "--probe-tokens", "4000")


def place_of(tmp_path: Path, server: ModelServer) -> Place:
    place = Place(tmp_path)
    place.env["OLLAMA_BASE_URL"] = f"{server.url}/v1"
    return place


def test_without_a_person_nothing_is_sent_before_yes(tmp_path: Path) -> None:
    with QuirkyModel() as server:
        done = place_of(tmp_path, server).run(*PROBE)
        assert done.code == 2
        assert "tokens read and" in done.err
        assert "--yes" in done.err
        assert not server.requests


async def test_a_card_is_told_kept_and_shown(tmp_path: Path) -> None:
    with QuirkyModel(cut_chars=6_000, usage=False) as server:
        place = place_of(tmp_path, server)
        done = place.run(*PROBE, "--yes")
        assert done.code == 0, done.err
        assert "PROBLEM window" in done.out
        assert "weak    usage" in done.out
        rows = await model_rows({"CLEW_HOME": str(place.clew_home), "OLLAMA_BASE_URL": f"{server.url}/v1"}, {})
    doctor = place.run("doctor")
    assert "with problems: ollama/quirky" in doctor.out
    assert "cuts prompts silently above 1,000 tokens" in doctor.out
    (row,) = [row for row in rows if row.name == "ollama/quirky"]
    assert "cuts prompts silently" in row.probed
    assert "cuts prompts silently" in about_model(row)
    assert about_model(ModelRow(name="a/b", provider="a")) == ""
    asked = len(server.requests)
    report = json.loads(place.run("doctor", "--json").out)
    assert len(server.requests) == asked, "doctor itself asks no model"
    (check,) = [check for check in report["checks"] if check["name"] == "models"]
    assert check["data"]["cards"][0]["model"] == "ollama/quirky"


def test_as_json_it_is_one_document(tmp_path: Path) -> None:
    with QuirkyModel() as server:
        done = place_of(tmp_path, server).run(*PROBE, "--yes", "--json")
    card = json.loads(done.out)
    assert [finding["name"] for finding in card["findings"]][:3] == ["answer", "usage", "window"]
    assert card["input_tokens"] > 4_000


def test_a_person_is_asked_and_may_say_no(tmp_path: Path) -> None:
    with QuirkyModel() as server:
        command = [sys.executable, "-m", "clew", *PROBE]
        person = Person(command, tmp_path, columns=100, HOME=str(tmp_path), OLLAMA_BASE_URL=f"{server.url}/v1")
        try:
            person.sees("tokens read and")
            person.sees("Make it?")
            person.type("n\r")
            assert person.exits() == 0
        finally:
            person.leave()
        assert not server.requests
    assert not (tmp_path / "home" / "model-cards.json").exists()


def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    unknown = place.run("doctor", "--probe", "nowhere/x", "--yes")
    assert (unknown.code, "no provider" in unknown.err) == (2, True)
    silent = place.run("doctor", "--probe", "ollama/x", "--yes", env={"OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"})
    assert (silent.code, "refused the connection" in silent.err) == (1, True)
    assert not (place.clew_home / "model-cards.json").exists()
