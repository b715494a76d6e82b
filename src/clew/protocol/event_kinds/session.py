"""Events about the session as a whole: its start and end, and what is in force."""

from typing import Literal

from msgspec import Struct

from clew.protocol.base import DurableEvent, LiveEvent
from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.ids import EntryId, OpId, SessionId
from clew.protocol.invocables import InvocableRow
from clew.protocol.state import SessionState

PROTOCOL_VERSION = 1


class SessionStarted(LiveEvent, frozen=True, kw_only=True, tag="session.started"):
    """First event of every listener, before anything else. Comes again when the session behind the door is switched."""

    session_id: SessionId
    cwd: str
    model: str
    permission_mode: str
    tools: tuple[str, ...]
    version: str
    resumed: bool = False
    """True when earlier history was loaded."""
    kept: bool = True
    """The session is on disk, so it can be continued."""
    attached: bool = False
    """It lives in another process: leaving it ends nothing."""
    branch: str = ""
    effort: str = ""
    output_style: str = ""
    """The name of the style that the model was told to write in; empty: none."""
    may_bypass: bool = False
    """It was started in the mode that asks for nothing, so that mode may be one of those to cycle through."""
    key_source: str = ""
    """The variable that holds the key in use; empty: none is needed."""
    servers: tuple[McpServerRow, ...] = ()
    """The MCP servers, as they stand now."""
    invocables: tuple[InvocableRow, ...] = ()
    """Slash names that the user brought and can type."""
    agents: tuple[str, ...] = ()
    """The kinds of agents that the model can start."""
    protocol: int = PROTOCOL_VERSION


class SnapshotTaken(LiveEvent, frozen=True, kw_only=True, tag="snapshot.taken"):
    """The state of the fold where this listener joined; follows SessionStarted. Of a turn under way the durable events
    so far come next, then what happens. Older history is asked for with `LoadHistory`."""

    state: SessionState
    last_entry_id: EntryId | None = None
    """What `LoadHistory(before=None)` ends with."""


class OpAccepted(LiveEvent, frozen=True, kw_only=True, tag="op.accepted"):
    """The op with this id was understood and is done or under way."""

    op_id: OpId


class OpRejected(LiveEvent, frozen=True, kw_only=True, tag="op.rejected"):
    """Nothing was done; why."""

    op_id: OpId
    op: str
    """The tag of the op."""
    reason: str


class ModelChanged(DurableEvent, frozen=True, kw_only=True, tag="model.changed"):
    """Later requests go to another model."""

    model: str
    reason: str = ""


class EffortChanged(LiveEvent, frozen=True, kw_only=True, tag="effort.changed"):
    """Later requests ask for this much thinking; empty: the model's own default."""

    effort: str
    saved: str = ""
    """What later sessions begin with, where that was changed; empty: the model's own default."""
    saved_in: str = ""
    """The settings file that keeps it; empty: it holds for this session only."""
    note: str = ""
    """What else a person should know: what counts more, or what the model is really sent."""


class SandboxChanged(LiveEvent, frozen=True, kw_only=True, tag="sandbox.changed"):
    """What confines commands from now on."""

    kind: str
    enforced: bool
    detail: str = ""


class PlaceChanged(LiveEvent, frozen=True, kw_only=True, tag="place.changed"):
    """The session moved: where the next command starts, and what is checked out there."""

    cwd: str
    branch: str = ""


class ThemeChanged(LiveEvent, frozen=True, kw_only=True, tag="theme.changed"):
    """Colours are to be these from now on."""

    theme: str
    saved_in: str = ""
    """The settings file that keeps it; empty: it holds for this session only."""


class ScreenChanged(LiveEvent, frozen=True, kw_only=True, tag="screen.changed"):
    """A setting of the screen has another value from now on."""

    name: str
    """As in the section `screen` of the settings."""
    value: str
    """As one would write it in the settings."""
    saved_in: str = ""
    """The settings file that keeps it; empty: it holds for this session only."""


class GuestsChanged(LiveEvent, frozen=True, kw_only=True, tag="guests.changed"):
    """A front end of another process came to the session, or left it: these are there now."""

    guests: tuple[str, ...]
    """Who they are, for people."""


class SessionEnded(LiveEvent, frozen=True, kw_only=True, tag="session.ended"):
    """Last event; the stream ends after it."""

    reason: Literal["", "closed", "taken_over", "switched"] = ""
    unsaved: int = 0
    """Entries that could not be written: whoever goes on with the session does so without them."""
    left: str = ""
    """What it left on the machine besides its log, and how to get at it, for people; empty: nothing."""


class SessionRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session in a list."""

    session_id: str
    agent: str
    title: str
    project: str = ""
    path: str = ""
    age_s: float = 0.0
    state: str = ""
    recap: str = ""


class SessionsFit(LiveEvent, frozen=True, kw_only=True, tag="sessions.fit"):
    """Several sessions are meant by a `SwitchSession`: the one who sent it is to choose."""

    op_id: OpId
    sessions: tuple[SessionRow, ...]
