"""An edit that cannot happen is answered before anybody is asked about it."""

import pytest

from e2e.command import Serve

READ = {"call": "Read", "arguments": {"file_path": "a.txt"}}


def edit(old: str, path: str = "a.txt") -> dict[str, object]:
    return {"call": "Edit", "arguments": {"file_path": path, "old_string": old, "new_string": "new"}}


def results(body: dict[str, list[dict[str, list[dict[str, str]]]]]) -> list[str]:
    parts = [part for message in body["messages"] for part in message["content"]]
    return [part["content"] for part in parts if part["type"] == "tool_result"]


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([edit("old")], "has not been read in this session"),
        ([{"call": "Write", "arguments": {"file_path": "a.txt", "content": "x"}}], "has not been read"),
        ([READ, edit("nowhere")], "old_string was not found"),
        ([READ, edit("o")], "matches 2 places"),
    ],
    ids=["an edit of a file that was not read", "a write over one", "a text that is not there", "one that is twice"],
)
def test_nobody_is_asked(serve: Serve, calls: list[dict[str, object]], words: str) -> None:
    place, server = serve([*({"calls": [call]} for call in calls), {"text": "sorry"}])
    (place.project / "a.txt").write_text("old and so\n")
    done = place.run("-p", "edit it", "--output-format", "stream-json", "--verbose")
    assert words in results(server.requests[-1].body)[-1]
    assert done.lines[-1]["permission_denials"] == []
    assert not [entry for entry in place.entries() if entry["type"] == "approval"]


def test_an_edit_that_can_happen_is_asked_about(serve: Serve) -> None:
    place, _ = serve([{"calls": [READ]}, {"calls": [edit("old")]}, {"text": "sorry"}])
    (place.project / "a.txt").write_text("old and so\n")
    done = place.run("-p", "edit it", "--output-format", "stream-json", "--verbose")
    assert [denial["tool_name"] for denial in done.lines[-1]["permission_denials"]] == ["Edit"]


def test_nothing_is_told_of_a_file_elsewhere(serve: Serve) -> None:
    place, server = serve([{"calls": [edit("old", "../home/secret.txt")]}, {"text": "sorry"}])
    (place.home / "secret.txt").write_text("old\n")
    done = place.run("-p", "edit it", "--output-format", "stream-json", "--verbose")
    assert "has not been read" not in results(server.requests[-1].body)[-1]
    assert len(done.lines[-1]["permission_denials"]) == 1
