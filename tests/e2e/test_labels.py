"""Labels of tool batches through the real command: cleaned, late but not too late, on the screen, after a resume."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import CLEW, Place
from e2e.screen_person import ScreenPerson
from e2e.test_plain import Person
from fakes.effort import not_hanging
from fakes.model_server import ModelServer

FAST = "claude-haiku"
FACTS = "Read a.py, b.py, __init__.py · Searched def, *.py"
SAID = "All of it was read."


def batch(place: Place) -> list[dict[str, Any]]:
    """Five calls of two kinds: large enough for a model."""
    for name in ("a.py", "b.py", "__init__.py"):
        (place.project / name).write_text("def f(): pass\n")
    here = str(place.project)
    reads = [{"call": "Read", "arguments": {"file_path": f"{here}/{name}"}} for name in ("a.py", "b.py", "__init__.py")]
    looks = [("Grep", "def"), ("Glob", "*.py")]
    return [*reads, *({"call": name, "arguments": {"pattern": text, "path": here}} for name, text in looks)]


def labels(place: Place, server: ModelServer, setting: str) -> list[tuple[str, str]]:
    """What a program reads, with the label written when the turn is nearly over."""
    place.env |= {"ANTHROPIC_BASE_URL": server.url, "CLEW_TOOL_BATCH_SUMMARIES": setting}
    running = place.start("-p", "look at the code", "--output-format", "stream-json", "--verbose", "--trust")
    with not_hanging():
        while not any(SAID in path.read_text() for path in place.transcripts()):
            assert running.poll() is None, running.stderr
        server.release("label")
        out, err = running.communicate()
    assert running.returncode == 0, err.decode()
    lines = [json.loads(line) for line in out.decode().splitlines()]
    told = [line for line in lines if line["type"] == "tool_use_summary"]
    assert all(len(line["preceding_tool_use_ids"]) == 5 for line in told)
    return [(line["summary"], line["source"]) for line in told]


def served(place: Place, label: str) -> ModelServer:
    late = {"match": FAST, "repeat": 5, "parts": [{"wait": "label"}, {"text": label}]}
    return ModelServer([late, {"calls": batch(place)}, {"text": SAID}])


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Label: **Read the parcel code**", "Read the parcel code"),
        ('- "Result: Looked at `__init__.py`"', "Looked at `__init__.py`"),
        ("Output: Found def in a.py\nand more", "Found def in a.py"),
        ("Error handling added to parser.py", "Error handling added to parser.py"),
        ("Error: overloaded", ""),
        ("API error: 500", ""),
        ("I can't say", ""),
        ("Unable to label", ""),
        ("\x1b]0;own\x07Read \x1b[31mall", "Read all"),
    ],
)
def test_a_models_label_is_cleaned_and_counts_though_the_turn_went_on(tmp_path: Path, reply: str, label: str) -> None:
    place = Place(tmp_path)
    with served(place, reply) as server:
        told = labels(place, server, "model")
    assert told == [(FACTS, "facts"), *([(label, "model")] if label else [])]


@pytest.mark.parametrize(("setting", "told"), [("facts", [(FACTS, "facts")]), ("off", [])])
def test_the_variable_switches_it(tmp_path: Path, setting: str, told: list[tuple[str, str]]) -> None:
    place = Place(tmp_path)
    with served(place, "A label") as server:
        assert labels(place, server, setting) == told
        assert FAST not in str([sent.body["model"] for sent in server.requests])


def test_a_label_is_shown_when_the_session_is_resumed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with served(place, "Read the parcel code") as server:
        labels(place, server, "model")
        (path,) = place.transcripts()
        person = ScreenPerson(place, "--resume", path.stem)
        person.sees("● Read the parcel code · 5 tools")
        person.leave()
        env = {name: value for name, value in place.env.items() if name not in ("PATH", "LANG")}
        someone = Person([CLEW, "--plain", "--trust", "--resume", path.stem], place.project, columns=120, **env)
        someone.sees(SAID)
        someone.type("/exit\r")
        assert someone.exits() == 0
