"""Without a model: where you were, and the ways to one; a server that already runs here comes first."""

from pathlib import Path

from e2e.command import Place
from fakes.model_server import ModelServer


def without_key(place: Place) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "", "CLEW_MODEL": ""}


def test_a_local_server_that_runs_is_offered_first(tmp_path: Path) -> None:
    with ModelServer([], models=("tiny-coder",)) as server:
        place = Place(tmp_path)
        done = place.run(env={**without_key(place), "OLLAMA_BASE_URL": f"{server.url}/v1", "OLLAMA_HOST": server.url})
    ways = done.out.partition("To talk to a model")[2].splitlines()
    assert done.code == 0
    assert "tiny-coder" in ways[1]
    assert any("OPENAI_API_KEY" in line for line in ways)


def test_with_nothing_at_all_the_ways_are_listed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    done = place.run(env=without_key(place))
    assert done.code == 0
    assert "ANTHROPIC_API_KEY" in done.out
    assert "clew recap" in done.out
    assert not place.transcripts()
