"""A session with everything a door can ask for: a project on disk, real tools, real shells, kept files, a log."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from clew.agents.runner import LookAtEnd
from clew.agents.toolbox import SessionTools, open_tools
from clew.engine.middleware.reminders import Reminders
from clew.engine.ports import Ask
from clew.host.workspace import open_workspace, remember_trust
from clew.llm.scripted import ScriptedModel, ScriptItem
from clew.parts.agents.part import AgentPart
from clew.parts.doctor.part import DoctorPart
from clew.parts.files.part import FilePart
from clew.parts.memory.part import MemoryPart
from clew.parts.preferences.part import PreferencePart
from clew.parts.sessions.part import SessionListPart
from clew.parts.shells.part import ShellPart
from clew.parts.undo.part import UndoPart
from clew.protocol.events import OpRejected, SessionStarted, TurnEnded
from clew.protocol.ids import CallId, OpId
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.ops import Close, Op, SubmitPrompt
from clew.tools.base import ToolContext
from clew.tools.registry import builtin_tools
from clew.transcript.chain.view import view
from clew.transcript.past.reader import load
from engine.harness import SESSION, TestHost
from unit.host.plugs import setup_of
from unit.host.room import Front, furnished

A = TypeVar("A", bound=Answer)


async def no_words(path: Path) -> str:
    """No model writes about other sessions here."""
    return ""


class FreeHost(TestHost):
    """Allows everything, in the directory of the session."""

    def __init__(self, lab: "Lab", **more: Any) -> None:
        super().__init__(hooks=lab.toolbox.host.hooks, **more)
        self._lab = lab

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        return ToolContext(call_id=call_id, cwd=self._lab.toolbox.session.cwd, progress=progress, ask=ask)


class Lab:
    """A project, a home, and a front end at a session in it."""

    def __init__(
        self,
        base: Path,
        script: Sequence[ScriptItem] = (),
        *,
        env: dict[str, str] | None = None,
        trusted: bool = True,
        judged: bool = False,
    ) -> None:
        """`judged`: calls are judged as in a real session; else everything is allowed."""
        self.project = base / "project"
        self.project.mkdir(exist_ok=True)
        self.home = base / "home"
        self.home.mkdir(exist_ok=True)
        self.env = {"HOME": str(base), "CLEW_HOME": str(self.home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
        self.env |= env or {}
        if trusted:
            remember_trust(self.home, self.project)
        self.workspace = open_workspace(self.project, self.env, flags={"sandbox.mode": "off"})
        self.path = self.home / "projects" / "p" / f"{SESSION}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.toolbox = open_tools(SessionTools(self.workspace, None, self.path))
        assert self.toolbox.undo is not None
        self.model = ScriptedModel(script)
        self.reminders = Reminders()
        setup = setup_of(path=self.path, workspace=self.workspace)
        parts = [MemoryPart(setup), UndoPart(), ShellPart(), AgentPart(), FilePart(setup), DoctorPart(setup)]
        parts += [PreferencePart(setup), SessionListPart(setup, no_words)]
        self.door = furnished(
            self.model,
            path=self.path,
            past=load(self.path, session_id=SESSION).entries if self.path.exists() else (),
            tools=builtin_tools(self.toolbox.session),
            host=self.toolbox.host if judged else FreeHost(self),
            middlewares=[self.reminders, LookAtEnd(self.toolbox.undo.look_at_end)],
            parts=parts,
            permits=self.toolbox.permits,
            toolbox=self.toolbox,
            reminders=self.reminders,
        )
        self.toolbox.shared.open_ports(self.door.session)
        self.front = Front(self.door)
        self._asked = 0

    async def say(self, text: str) -> TurnEnded:
        """A whole turn."""
        before = len(self.front.of(TurnEnded))
        await self.front.submit(SubmitPrompt(content=text))
        return await self.front.until(TurnEnded, before + 1)

    async def look_up(self, lookup: Lookup[A]) -> A:
        """The answer."""
        return await self.front.client.look_up(lookup)

    async def ask(self, op: Op, kind: type[Any]) -> Any:
        """Send an op; its answer of this kind."""
        before = len(self.front.of(kind))
        await self.front.submit(op)
        return await self.front.until(kind, before + 1)

    async def refused(self, op: Op | Lookup[Any]) -> str:
        """Send an op or a lookup that is not carried out; why."""
        if isinstance(op, Lookup):
            with pytest.raises(LookupRefused) as refusal:
                await self.look_up(op)
            return str(refusal.value)
        told: OpRejected = await self.ask(op, OpRejected)
        return told.reason

    def spoken(self) -> str:
        """What the next request holds; the file says the same to whoever opens it."""
        held = self.door.session.journal.main.conversation.messages()
        assert view(load(self.path, session_id=SESSION).entries, session_id=SESSION) == held
        return str(held)

    def op_id(self) -> OpId:
        self._asked += 1
        return OpId(f"op{self._asked}")


@asynccontextmanager
async def lab(base: Path, *script: ScriptItem, **more: Any) -> AsyncIterator[Lab]:
    """Closed in the end, with everything that still runs."""
    place = Lab(base, script, **more)
    await place.front.until(SessionStarted)
    try:
        yield place
    finally:
        await place.front.submit(Close())
        await place.front.task
        await place.toolbox.shared.close()
        await asyncio.sleep(0)
