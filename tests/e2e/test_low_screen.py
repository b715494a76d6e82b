"""A low screen: an approval shows what is decided."""

from pathlib import Path

import pytest

import e2e.screen_person as screen
from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

EDIT = {"file_path": "a.py", "old_string": "return 1", "new_string": "return 2"}
SCRIPT = [
    {"calls": [{"call": "Read", "arguments": {"file_path": "a.py"}}]},
    {"calls": [{"call": "Edit", "arguments": EDIT}]},
]


def test_at_60_by_20_the_changed_lines_of_an_edit_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "COLUMNS", 60)
    monkeypatch.setattr(screen, "ROWS", 20)
    with ModelServer({"replies": SCRIPT, "last": {"text": "fine"}}) as server:
        place = Place(tmp_path, server.url)
        (place.project / "a.py").write_text("import os\n\n\ndef f():\n    # one\n    return 1\n\n\n# end\n# more\n")
        person = ScreenPerson(place)
        try:
            person.sees("ask for something")
            person.type("edit it\r")
            person.sees("Esc denies")
            person.sees("−     return 1")
            person.sees("+     return 2")
        finally:
            person.leave()
