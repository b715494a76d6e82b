"""How long prompt-cache entries live can be set for one model, in the settings."""

import json
from typing import Any

import pytest

from e2e.command import Place, Serve

MODEL = "claude-sonnet-4-5"


def marks(body: Any) -> set[str]:
    """The lifetimes of all marks in a request."""
    found: set[str] = set()
    if isinstance(body, dict):
        if "cache_control" in body:
            found.add(body["cache_control"].get("ttl", "5m"))
        body = list(body.values())
    for value in body if isinstance(body, list) else ():
        found |= marks(value)
    return found


def say(place: Place, cache: str, model: str = MODEL) -> None:
    place.clew_home.mkdir(exist_ok=True)
    settings = {"providers": {"anthropic": {"models": {model: {"cache": cache}}}}}
    (place.clew_home / "settings.json").write_text(json.dumps(settings))


@pytest.mark.parametrize(
    ("setting", "variable", "sent"),
    [("off", "", set()), ("5m", "", {"5m"}), ("1h", "", {"1h"}), ("1h", "off", set()), ("off", "5m", {"5m"})],
)
def test_the_setting_of_a_model_is_what_is_sent(serve: Serve, setting: str, variable: str, sent: set[str]) -> None:
    place, server = serve([{"text": "hi"}])
    say(place, setting)
    done = place.run("-p", "hello", env={"CLEW_PROMPT_CACHE": variable} if variable else None)
    assert done.code == 0, done.err
    assert marks(server.requests[0].body) == sent


def test_a_model_that_nobody_knows_is_marked_once_the_settings_say_so(serve: Serve) -> None:
    place, server = serve([{"text": "hi"}, {"text": "hi"}])
    place.env["CLEW_MODEL"] = "anthropic/own-model"
    assert place.run("-p", "hello").code == 0
    say(place, "1h", "own-model")
    assert place.run("-p", "hello").code == 0
    assert [marks(request.body) for request in server.requests] == [set(), {"1h"}]


def test_an_unknown_lifetime_is_refused_with_the_known_ones(serve: Serve) -> None:
    place, _ = serve([])
    say(place, "2h")
    done = place.run("-p", "hello")
    assert done.code != 0
    assert "cache" in done.err
    assert "2h" in done.err
