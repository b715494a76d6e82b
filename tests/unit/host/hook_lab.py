"""A whole session with hooks that are real commands: they write down what they were asked and answer from a file."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clew.assembly.opening import open_door
from clew.assembly.parts import PartMaker
from clew.hooks.approvals import HookApprovals
from clew.hooks.settings import find_hooks
from clew.host.request import SessionRequest
from clew.host.workspace import remember_trust
from clew.llm.scripted import Call, ScriptedModel, ScriptItem
from clew.protocol.events import SessionStarted, TurnEnded
from clew.protocol.ids import OpId
from clew.protocol.ops import Close, SubmitPrompt
from unit.host.room import Front

Hooks = dict[str, list[dict[str, Any]]]


def hook(command: str, matcher: str = "", **more: Any) -> dict[str, Any]:
    """One hook of a moment, as settings write it."""
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command, "sandbox": False, **more}]}


class HookLab:
    """A home, a project, and a front end at a session that was opened as the command line opens it."""

    def __init__(self, base: Path, *, trusted: bool = True) -> None:
        self.base = base
        self.project = base / "project"
        self.home = base / ".clew"
        for folder in (self.project, self.home):
            folder.mkdir(exist_ok=True)
        self.env = {"HOME": str(base), "CLEW_HOME": str(self.home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
        if trusted:
            remember_trust(self.home, self.project)
        self.model = ScriptedModel([])
        self.front: Front

    def user(self, hooks: Hooks, **settings: Any) -> None:
        """Hooks of the user."""
        (self.home / "settings.json").write_text(json.dumps({"hooks": hooks, **settings}))

    def claude(self, hooks: Hooks) -> None:
        """Hooks of the project, as Claude Code's users write them."""
        (self.project / ".claude").mkdir(exist_ok=True)
        (self.project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))

    def says(self, name: str, answer: Any = None, *, code: int = 0, err: str = "", more: str = "") -> str:
        """A command that appends what it is asked to `NAME.log` and gives this answer."""
        (self.base / f"{name}.answer").write_text(answer if isinstance(answer, str) else json.dumps(answer or {}))
        script = self.base / f"{name}.sh"
        lines = (
            f"cat >> {self.base}/{name}.log",
            more,
            f"cat {self.base}/{name}.answer",
            f"printf '%s' '{err}' >&2",
            f"exit {code}",
        )
        script.write_text("\n".join(lines) + "\n")
        return f"sh {script}"

    def seen(self, name: str) -> list[dict[str, Any]]:
        """What a command was asked, in order."""
        log = self.base / f"{name}.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    async def open(
        self, *script: ScriptItem, headless: bool = False, parts: Sequence[PartMaker] = (), **more: Any
    ) -> None:
        self.model = ScriptedModel(script)
        request = SessionRequest(
            cwd=self.project,
            env=self.env,
            flags={"sandbox.mode": "off", "model": "local/test"} | more.pop("flags", {}),
            headless=headless,
            connect=lambda name: self.model,
            **more,
        )
        self.front = Front(open_door(request, parts))
        await self.front.until(SessionStarted)

    async def close(self) -> None:
        await self.front.submit(Close())
        await self.front.task

    async def say(self, text: str = "go") -> TurnEnded:
        """A whole turn."""
        before = len(self.front.of(TurnEnded))
        await self.front.submit(SubmitPrompt(content=text, op_id=OpId(f"op{before}")))
        return await self.front.until(TurnEnded, before + 1)

    @property
    def sent(self) -> str:
        """The last request."""
        return str(self.model.requests[-1].messages)


@asynccontextmanager
async def session(place: HookLab, script: Sequence[ScriptItem], **more: Any) -> AsyncIterator[HookLab]:
    """Closed in the end."""
    await place.open(*script, **more)
    try:
        yield place
    finally:
        await place.close()
        await asyncio.sleep(0)


def approve_all(place: HookLab) -> None:
    found = find_hooks(home=place.home, root=place.project, trusted=True, env=place.env)
    HookApprovals(place.home).approve(found.hooks, place.project)


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "test"})


def decision(word: str, reason: str = "because", **more: Any) -> dict[str, Any]:
    inner = {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason, **more}
    return {"hookSpecificOutput": inner}
