"""Opening a session does expensive things once: the model is connected once, the log is read once."""

from pathlib import Path
from typing import Any

import pytest

from clew.assembly.opening import open_door
from clew.host import old_past as past
from clew.host.request import SessionRequest
from clew.llm.scripted import Say, ScriptedModel
from clew.protocol.events import SessionStarted, TurnEnded
from clew.protocol.ops import Close, SubmitPrompt
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
