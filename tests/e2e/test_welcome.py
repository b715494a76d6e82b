"""Without a model: where you were, and the ways to one; a server that already runs here comes first."""

import json
import sys
from pathlib import Path

from e2e.command import Place
from e2e.test_newcomer_agents import claude_session
from e2e.test_plain import Person
from fakes.model_server import ModelServer


def without_key(place: Place) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "", "CLEW_MODEL": ""}


def test_a_local_server_that_runs_is_offered_first(tmp_path: Path) -> None:
    with ModelServer([], models=("tiny-coder",)) as server:
        place = Place(tmp_path)
        done = place.run(env={**without_key(place), "OLLAMA_BASE_URL": f"{server.url}/v1", "OLLAMA_HOST": server.url})
    ways = done.out.partition("To talk to a model")[2].splitlines()
    assert done.code == 0
    assert "answers on" in ways[1]
    assert ways[2].strip() == "clew --model ollama/tiny-coder"
    assert any("OPENAI_API_KEY" in line for line in ways)


def test_with_nothing_at_all_the_ways_are_listed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    done = place.run(env=without_key(place))
    assert done.code == 0
    assert "ANTHROPIC_API_KEY" in done.out
    assert "No server answers on this machine" in done.out
    assert all(f"clew {name}" in done.out for name in ("tour", "recap", "sessions", "show", "doctor"))
    assert "Press Enter" not in done.out, "nobody is there to press it"
    assert not place.transcripts()


def test_a_key_that_is_set_is_told_from_one_that_is_missing(tmp_path: Path) -> None:
    """The chosen model has no key, another provider has: the command that works is there to be copied."""
    place = Place(tmp_path)
    done = place.run(env={"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "sk-" + "o" * 30})
    assert done.code == 0
    assert "no key for Anthropic" in done.out
    assert "OPENAI_API_KEY is set:  clew --model openai/" in done.out
    assert "export ANTHROPIC_API_KEY" in done.out
    assert "export OPENAI_API_KEY" not in done.out
    assert "o" * 30 not in done.out


def test_a_key_of_the_settings_is_told_too(tmp_path: Path) -> None:
    place = Place(tmp_path)
    server = {"work": {"baseUrl": "http://127.0.0.1:9/v1", "keyEnv": "WORK_KEY", "models": {"coder": {}}}}
    assert place.run("config", "set", "providers", json.dumps(server)).code == 0
    assert "WORK_KEY" in place.run(env=without_key(place)).out
    chosen = {"ANTHROPIC_API_KEY": "", "WORK_KEY": "w" * 30}
    assert "WORK_KEY is set:  clew --model work/coder" in place.run(env=chosen).out


def test_where_you_were_is_brief_and_other_agents_are_in_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    claude_session(place.home / ".claude")
    done = place.run(env=without_key(place))
    before, _, after = done.out.partition("To talk to a model")
    assert "shop  claude_code" in before
    assert "zebra" in before
    assert "zebra" not in after
    assert len(before.splitlines()) <= 8


def test_the_page_fits_a_narrow_terminal(tmp_path: Path) -> None:
    found = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}  # else the page names a path as long as it is
    person = Person([sys.executable, "-m", "clew"], tmp_path, columns=60, HOME=str(tmp_path), NO_COLOR="1", **found)
    try:
        person.sees("Press Enter for the tour")
        rows = person.seen.replace("\r", "").splitlines()
        person.type("q\r")
        assert person.exits() == 0
    finally:
        person.leave()
    assert max(map(len, rows[:-1])) <= 60, rows
