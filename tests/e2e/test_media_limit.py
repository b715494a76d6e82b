"""Pictures of a request have a limit: the oldest become words, once, and what was sent stays as it was."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Serve
from fakes.model_server import Recorded

Json = dict[str, Any]
PNG = b"\x89PNG\r\n\x1a\n"


def pictures(folder: Path, count: int, size: int = 100) -> list[str]:
    """Files that are told apart by their bytes."""
    names: list[str] = []
    for number in range(count):
        path = folder / f"shot{number:03}.png"
        path.write_bytes(PNG + number.to_bytes(4, "big") * (size // 4))
        names.append(path.name)
    return names


def reads(names: list[str]) -> Json:
    return {"calls": [{"call": "Read", "arguments": {"file_path": name}} for name in names]}


def blocks(request: Recorded) -> list[Json]:
    """All blocks of the conversation, results opened."""
    found: list[Json] = []
    for message in request.body["messages"]:
        for block in message["content"]:
            found += block["content"] if isinstance(block.get("content"), list) else [block]
    return found


def images(request: Recorded) -> list[str]:
    return [block["source"]["data"] for block in blocks(request) if block["type"] == "image"]


def messages(request: Recorded) -> list[str]:
    """The conversation without the moving marks of the cache."""
    plain = request.body["messages"]
    for message in plain:
        for block in message["content"]:
            block.pop("cache_control", None)
    return [json.dumps(message) for message in plain]


def test_the_oldest_pictures_become_words_and_what_was_sent_stays(serve: Serve) -> None:
    script = [reads([f"shot{n:03}.png" for n in range(a, b)]) for a, b in ((0, 30), (30, 60), (60, 62))]
    place, server = serve([*script, {"text": "seen"}, {"text": "again"}])
    names = pictures(place.project, 62)
    done = place.run("-p", "look at all pictures", "--trust")
    assert (done.code, done.out) == (0, "seen\n")
    first, second, third, fourth = server.requests
    assert [len(images(request)) for request in (first, second, third, fourth)] == [0, 30, 30, 32]
    data = [base64.b64encode((place.project / name).read_bytes()).decode() for name in names]
    assert images(third) == data[30:60], "the first thirty gave way to those that nobody had seen"
    assert images(fourth) == data[30:62]
    assert messages(fourth)[: len(messages(third))] == messages(third)
    assert fourth.raw.count(b"image cleared") == 30
    assert place.run("-p", "-c", "and now?", "--trust").code == 0
    assert messages(server.requests[-1])[: len(messages(fourth))] == messages(fourth)


def test_more_than_a_request_takes_in_one_reply_is_cut_before_it_is_sent(serve: Serve) -> None:
    place, server = serve([reads([f"shot{n:03}.png" for n in range(70)]), {"text": "seen"}])
    names = pictures(place.project, 70)
    assert place.run("-p", "look", "--trust").code == 0
    data = [base64.b64encode((place.project / name).read_bytes()).decode() for name in names]
    assert images(server.requests[-1]) == data[20:]


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_bytes_have_a_limit_too(serve: Serve, dialect: str) -> None:
    place, server = serve([reads([f"shot{n:03}.png" for n in range(6)]), {"text": "seen"}])
    if dialect == "openai":
        place.env |= {"CLEW_MODEL": "openai/gpt-5", "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{server.url}/v1"}
    pictures(place.project, 6, size=3_000_000)
    assert place.run("-p", "look", "--trust").code == 0
    sent = server.requests[-1]
    assert len(sent.raw) < 15_000_000
    assert sent.raw.count(b"image cleared") == 3
