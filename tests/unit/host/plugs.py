"""Parts in tests: what they are made of and the session they belong to, where not all of it is there."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from clew.agents.definitions.kinds import Kinds
from clew.agents.permits import Permits
from clew.agents.runner import MAIN
from clew.config.schema import Settings
from clew.engine.middleware.reminders import Reminders
from clew.host.door import Door
from clew.host.old_past import OldPast
from clew.host.part import Part, PartSession, PartSetup
from clew.host.request import SessionRequest
from clew.host.session import Session
from clew.host.workspace import Workspace
from clew.llm.model import Model
from clew.llm.scripted import Say, ScriptedModel
from clew.protocol.entries import Entry
from clew.protocol.ids import SessionId
from clew.tools.session import ToolSession
from clew.transcript.log.writer import NullWriter, TranscriptSink
from engine.harness import SESSION

P = TypeVar("P", bound=Part)


def setup_of(
    *,
    path: Path | None = None,
    sink: TranscriptSink | None = None,
    past: Sequence[Entry] = (),
    settings: Settings | None = None,
    workspace: Workspace | None = None,
    connect: Callable[[str], Model] | None = None,
    log: Callable[[str], None] = lambda text: None,
    headless: bool = False,
) -> PartSetup:
    """What parts are made of; a workspace only where one is given."""
    home = path.parents[2] if path is not None and len(path.parents) > 2 else Path("/proc/nonexistent")
    bare = SimpleNamespace(settings=settings or Settings(), env={}, home=home, cwd=Path("/project"))
    return PartSetup(
        request=SessionRequest(cwd=Path("/project"), env={}, headless=headless),
        workspace=workspace or cast(Any, bare),
        past=OldPast(session_id=SessionId(SESSION), sink=sink or NullWriter(), path=path, entries=tuple(past)),
        model=ScriptedModel([]),
        connect=connect or (lambda name: ScriptedModel([Say("new")], name=name)),
        main=MAIN,
        kinds=lambda: Kinds(workspace or cast(Any, bare)),
        log=log,
        offered=set(),
    )


class NoAgents:
    """A factory that made no child."""

    def closing(self) -> None:
        """Nobody is there to hear of it."""

    def sent_to_background(self, agent: str = "") -> int:
        """Nobody is waited for."""
        return 0

    async def close(self) -> None:
        """Nobody is waited for."""


def plug(
    session: Session,
    parts: Sequence[Part],
    *,
    permits: Permits | None = None,
    toolbox: Any = None,
    agents: Any = None,
    reminders: Reminders | None = None,
) -> None:
    """Start parts in a session that has them already; where no toolbox is given, one with a memory and rules only."""
    held = SimpleNamespace(permits=permits, session=ToolSession(cwd="/project"), undo=None)
    own = PartSession(
        session=session,
        toolbox=toolbox or cast(Any, held),
        agent=session.main.agent,
        agents=agents or cast(Any, NoAgents()),
        reminders=reminders or Reminders(),
        names_changed=lambda: None,
    )
    for part in parts:
        part.start(own)


def part_of(door: Door, kind: type[P]) -> P:
    """The part of this kind in the session behind a door, those that only answer included."""
    door.add_parts()
    return next(part for part in door.opened.parts if isinstance(part, kind))
