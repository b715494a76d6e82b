"""`--setting-sources` names whose files are read, and with that whose hooks run."""

import json
from pathlib import Path

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer


def hooks(mark: Path) -> str:
    handler = {"type": "command", "command": f"echo ran >> {mark}", "sandbox": False}
    return json.dumps({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [handler]}]}})


@pytest.mark.parametrize(
    ("args", "ran"),
    [
        ([], True),
        (["--setting-sources=user"], True),
        (["--setting-sources="], False),
        (["--setting-sources=project,local"], False),
    ],
)
def test_hooks_of_files_that_are_not_read_do_not_run(tmp_path: Path, args: list[str], *, ran: bool) -> None:
    read = {"call": "Read", "arguments": {"file_path": "a.txt"}}
    mark = tmp_path / "mark"
    with ModelServer([{"calls": [read]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        place.clew_home.mkdir(mode=0o700)
        (place.clew_home / "settings.json").write_text(hooks(mark))
        (place.clew_home / "settings.json").chmod(0o600)
        assert place.run("-p", "read it", *args).code == 0
        assert len(server.requests) == 2
    assert mark.exists() == ran


@pytest.mark.parametrize(("args", "ran"), [([], True), (["--setting-sources="], False)])
def test_nor_do_those_of_another_agents_files(tmp_path: Path, args: list[str], *, ran: bool) -> None:
    read = {"call": "Read", "arguments": {"file_path": "a.txt"}}
    mark = tmp_path / "mark"
    with ModelServer([{"calls": [read]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        (place.home / ".claude").mkdir()
        (place.home / ".claude" / "settings.json").write_text(hooks(mark))
        assert place.run("hooks", "approve", "--yes").code == 0
        assert place.run("-p", "read it", *args).code == 0
    assert mark.exists() == ran


def test_hooks_that_are_given_run_whoever_else_is_read(tmp_path: Path) -> None:
    read = {"call": "Read", "arguments": {"file_path": "a.txt"}}
    mark = tmp_path / "mark"
    with ModelServer([{"calls": [read]}, {"text": "ok"}]) as server:
        place = Place(tmp_path, server.url)
        assert place.run("-p", "read it", "--setting-sources=", "--settings", hooks(mark)).code == 0
    assert mark.exists()
