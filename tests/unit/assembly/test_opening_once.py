"""Opening a session does expensive things once: the model is connected once, the log is read once."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.assembly.opening import open_door
from clew.host import old_past as past
from clew.host.request import SessionRequest
from clew.llm.scripted import Say, ScriptedModel
from clew.protocol.events import SessionStarted, TurnEnded
from clew.protocol.ops import Close, SubmitPrompt
from e2e.command import Place
from unit.host.room import Front


async def test_a_start_and_a_resume_connect_once_and_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, read, connected = tmp_path / "project", list[Path](), list[str]()
    project.mkdir()
    real = past.load

    def counted(path: Path, **more: Any) -> Any:
        read.append(path)
        return real(path, **more)

    def connect(name: str) -> ScriptedModel:
        connected.append(name)
        return ScriptedModel([Say("yes")], name=name)

    monkeypatch.setattr(past, "load", counted)
    env = {"HOME": str(tmp_path), "CLEW_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}

    async def run(**more: Any) -> None:
        read.clear()
        connected.clear()
        flags = {"sandbox.mode": "off", "model": "local/test"}
        request = SessionRequest(cwd=project, env=env, flags=flags, headless=True, connect=connect, **more)
        front = Front(open_door(request))
        await front.until(SessionStarted)
        assert connected == ["local/test"]
        await front.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        await front.submit(Close())
        await front.task

    await run()
    assert read == []
    (path,) = (tmp_path / "home").glob("projects/*/*.jsonl")
    await run(newest=True)
    assert read == [path]
    await run(resume=path.stem)
    assert read == [path]


COUNTED = """
import sys
from clew.cli.main import run
from clew.llm.models import connect as connecting

made = []
real = connecting.RemoteModel.__init__

def counted(self, *args, **more):
    made.append(args[0].name)
    real(self, *args, **more)

connecting.RemoteModel.__init__ = counted
code = run(sys.argv[1:])
print("MADE", *made)
raise SystemExit(code)
"""


def test_the_command_with_a_person_connects_its_model_once(tmp_path: Path) -> None:
    place = Place(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, "--plain"],
        input="",
        capture_output=True,
        text=True,
        cwd=place.project,
        env={**place.env, "CLEW_FAST_MODEL": "none"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rpartition("MADE ")[2].split() == ["anthropic/claude-sonnet-4-5"]
