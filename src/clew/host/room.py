"""What lies behind a door: a session and what ops need besides."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from clew.agents.permits import Permits
from clew.agents.undo_hook import UndoHook
from clew.engine.middleware.reminders import Reminders
from clew.engine.turn import Prompt
from clew.parts.notifications.attention import Attention
from clew.parts.hooks.session_hooks import Hooking
from clew.host.session import Session
from clew.parts.shells.part import TypedShells
from clew.host.workspace import Workspace
from clew.llm.model import Model
from clew.protocol.events import ColdReturn, HooksOffered, Notice
from clew.tools.session import ToolSession
from clew.transcript.scrollback import Scrollback

if TYPE_CHECKING:
    from clew.host.part import Brought
    from clew.parts.files.index import FileIndex
    from clew.host.slash_names import Invocables
    from clew.parts.window.window import Window
    from clew.protocol.lookups.rules_and_models import ModelRow

Effect = Callable[[], Awaitable[None] | None]
"""What an op does once it was understood and accepted."""


class Room(Struct, kw_only=True):
    """Exchanged as a whole when another session comes behind the door."""

    session: Session
    permits: Permits
    connect: Callable[[str], Model]
    models: "Callable[[], Awaitable[tuple[ModelRow, ...]]]"
    scrollback: Scrollback | None = None
    undo: UndoHook | None = None
    """What keeps files; None where nothing is kept."""
    window: "Callable[[], Window] | None" = None
    """What is behind the ops about the window; loaded by the first of them."""
    notes: tuple[Notice | ColdReturn | HooksOffered, ...] = ()
    """What the first front end should be told."""
    go_on: Prompt | None = None
    """What lets a turn that was cut off go on."""
    greet: bool = False
    """Tell the first front end where things stand."""
    workspace: Workspace | None = None
    tools: ToolSession | None = None
    typed: TypedShells | None = None
    """What runs commands a person typed."""
    reminders: Reminders | None = None
    transcript: Path | None = None
    """The file of the session; None when it is not kept."""
    hooking: Hooking | None = None
    """The user's hooks."""
    brought: "tuple[Brought, ...]" = ()
    """What the user brought: skills, servers and the like, each with ops of its own."""
    invocables: "Invocables | None" = None
    """The slash names among what was brought."""
    attention: Attention = field(default_factory=Attention)
    """Whether somebody looks."""
    files: "FileIndex | None" = None
    """The names of the project's files; made by the first question for them."""
