"""A session as it is really opened, with a scripted model, a project and a home."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clew.assembly.opening import open_door
from clew.host.request import SessionRequest
from clew.host.workspace import remember_trust
from clew.llm.scripted import ScriptedModel
from clew.protocol.ops import Close
from unit.agents.house import StartAgent
from unit.host.room import Front


class Place:
    """A project and a home."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project = base / "project"
        self.home = base / "home" / ".clew"
        self.project.mkdir()
        self.home.mkdir(parents=True)
        remember_trust(self.home, self.project)

    def request(self, model: ScriptedModel, **more: Any) -> SessionRequest:
        flags: dict[str, Any] = {"sandbox.mode": "off", "permissionMode": "bypassPermissions", "model": "ollama/x"}
        env = {"HOME": str(self.base / "home"), "CLEW_HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        return SessionRequest(cwd=self.project, env=env, flags=flags, headless=True, connect=lambda name: model, **more)

    @property
    def transcript(self) -> Path:
        (path,) = self.home.glob("projects/*/*.jsonl")
        return path


@asynccontextmanager
async def opened(request: SessionRequest) -> AsyncIterator[Front]:
    door = open_door(request)
    door.session.main.agent.tools.add(StartAgent())
    front = Front(door)
    try:
        yield front
    finally:
        await front.submit(Close())
        await front.task
