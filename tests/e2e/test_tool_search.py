"""Through the real command: a call through CallTool is told, shown and counted as the call it stands for; and small
windows get few tools and a short prompt."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer

Json = dict[str, Any]
CALLS: list[Json] = [
    {"call": "Read", "arguments": {"file_path": "notes.txt"}},
    {"call": "Edit", "arguments": {"file_path": "notes.txt", "old_string": "one", "new_string": "two"}},
    {"call": "Bash", "arguments": {"command": "echo done; exit 3", "description": "fail"}},
    {"call": "WebFetch", "arguments": {"url": "https://example.invalid/x", "prompt": "what"}},
]


def proxied(call: Json, *, as_text: bool) -> Json:
    inner: Any = json.dumps(call["arguments"]) if as_text else call["arguments"]
    return {"call": "CallTool", "arguments": {"tool": call["call"], "arguments": inner}}


class Told:
    """What one run told everybody who can be told."""

    def __init__(self, folder: Path, calls: list[Json]) -> None:
        folder.mkdir()
        with ModelServer([*({"calls": [call]} for call in calls), {"text": "ok"}]) as server:
            place = Place(folder, server.url)
            (place.project / "notes.txt").write_text("one\n")
            done = place.run(
                *("-p", "go", "--output-format", "stream-json", "--verbose", "--include-partial-messages"),
                *("--permission-mode", "acceptEdits", "--allowed-tools", "Bash", "--trust"),
            )
            assert done.code == 0, done.err
            self.sent = server.requests[-1].body["messages"]
        self.lines = done.lines
        (path,) = place.transcripts()
        self.written = [
            part
            for line in place.entries()
            if line["type"] == "assistant"
            for part in line["message"]["content"]
            if part["type"] == "tool_use"
        ]
        self.show = place.run("show", path.stem).out
        self.ledger = place.run("ledger", path.stem, "--json").result
        self.text = (place.project / "notes.txt").read_text()

    def calls(self) -> list[Any]:
        """The calls in whole lines."""
        messages = [line["message"] for line in self.lines if line["type"] == "assistant"]
        return [(p["name"], p["input"]) for m in messages for p in m["content"] if p["type"] == "tool_use"]

    def grown(self) -> list[Any]:
        """The calls as they grew, put together again."""
        found: list[list[str]] = []
        for line in self.lines:
            event = line.get("event", {})
            if event.get("type") == "content_block_start" and event["content_block"]["type"] == "tool_use":
                found.append([event["content_block"]["name"], ""])
            elif event.get("type") == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
                found[-1][1] += event["delta"]["partial_json"]
        return [(name, json.loads(text)) for name, text in found]

    def results(self) -> list[Any]:
        details = [line["tool_use_result"] for line in self.lines if line.get("tool_use_result")]
        return [{key: one[key] for key in one if key != "durationMs" and key != "duration_ms"} for one in details]

    def denials(self) -> list[Any]:
        (result,) = [line for line in self.lines if line["type"] == "result"]
        return [(one["tool_name"], one["tool_input"]) for one in result["permission_denials"]]

    def facts(self) -> str:
        """The ledger without what differs from run to run."""
        keep = {
            "commands": [fact["command"] for fact in self.ledger["commands"]],
            "files": [Path(fact["path"]).name for fact in self.ledger["files"]],
            "failures": [fact.get("tool", fact.get("kind")) for fact in self.ledger.get("failures", [])],
        }
        return json.dumps(keep)


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(tmp_path_factory.mktemp("direct") / "x", CALLS)


@pytest.mark.parametrize("as_text", [False, True])
def test_a_proxied_call_is_told_as_the_call_it_stands_for(tmp_path: Path, direct: Told, as_text: bool) -> None:
    calls = [proxied(call, as_text=as_text) for call in CALLS]
    through = Told(tmp_path / "x", calls)
    assert [name for name, _ in direct.calls()] == ["Read", "Edit", "Bash", "WebFetch"]
    assert through.calls() == direct.calls() == direct.grown() == through.grown()
    assert [one["name"] for one in through.results()] == [one["name"] for one in direct.results()]
    assert through.denials() == direct.denials()
    assert direct.denials()
    assert through.text == direct.text == "two\n"
    assert through.facts() == direct.facts()
    assert [line for line in through.show.splitlines() if line.startswith("* ")] == [
        line for line in direct.show.splitlines() if line.startswith("* ")
    ]
    assert [part["input"] for part in through.written] == [call["arguments"] for call in calls]
    sent = [part for message in through.sent for part in message["content"] if part["type"] == "tool_use"]
    assert [(part["name"], part["input"]) for part in sent] == [("CallTool", call["arguments"]) for call in calls]


def small(place: Place, window: int) -> None:
    place.clew_home.mkdir(exist_ok=True)
    facts = {"window": window, "maxOutputTokens": 1_024}
    settings = {"providers": {"anthropic": {"models": {"claude-sonnet-4-5": facts}}}}
    (place.clew_home / "settings.json").write_text(json.dumps(settings))


def test_a_small_window_gets_few_tools_and_a_short_prompt_and_says_so(tmp_path: Path) -> None:
    with ModelServer([{"text": "hi"}] * 9) as server:
        place = Place(tmp_path, server.url)
        small(place, 8_192)
        done = place.run("-p", "hi", "--output-format", "stream-json", "--verbose")
        assert done.code == 0
        body = server.requests[-1].body
        assert [tool["name"] for tool in body["tools"]] == ["Bash", "Read", "Edit", "Write", "Grep"]
        assert len(json.dumps([body["system"], body["tools"]], separators=(",", ":")).encode()) <= 6_000
        (told,) = [line for line in done.lines if "window of 8,192 tokens" in line.get("text", "")]
        assert "\n" not in told["text"]
        assert place.run("-p", "hi", "--tools", "Glob").code == 0
        assert [tool["name"] for tool in server.requests[-1].body["tools"]] == ["Glob"]


def test_a_session_goes_on_with_what_fits_the_window_it_has(tmp_path: Path) -> None:
    with ModelServer([{"text": "hi"}] * 9) as server:
        place = Place(tmp_path, server.url)
        small(place, 15_999)
        assert place.run("-p", "hi").code == 0
        again = place.run("-p", "hi", "-c", "--output-format", "stream-json", "--verbose")
        first, second = (request.body for request in server.requests)
        assert (first["tools"], first["system"]) == (second["tools"], second["system"])
        assert "goes on with" not in again.out
        small(place, 16_000)
        grown = place.run("-p", "hi", "-c", "--output-format", "stream-json", "--verbose")
        assert len(server.requests[-1].body["tools"]) > 5
        assert "the model's window is large now" in grown.out
