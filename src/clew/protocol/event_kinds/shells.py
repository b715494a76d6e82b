"""Events about commands that the user typed."""

from clew.protocol.display import ChangesBlock
from clew.protocol.event_kinds.base import DurableEvent, LiveEvent
from clew.protocol.ids import EntryId, RequestId


class ShellStarted(LiveEvent, frozen=True, kw_only=True, tag="shell.started"):
    """A command the user typed runs now. Exactly one ShellEnded with this id follows."""

    request_id: RequestId
    command: str
    cwd: str = ""


class ShellProgress(LiveEvent, frozen=True, kw_only=True, tag="shell.progress"):
    """More of what it prints: whole lines, secrets taken out, and of a flood only the newest part."""

    request_id: RequestId
    text: str


class ShellEnded(DurableEvent, frozen=True, kw_only=True, tag="shell.ended"):
    """The user's own command has ended; what it printed joined the conversation at `entry_id`."""

    request_id: RequestId
    entry_id: EntryId
    parent_id: EntryId | None
    command: str
    output: str
    """Without secrets, and of long output both ends."""
    exit_code: int | None
    """None: it was stopped, or could not be started and `output` says why."""
    changes: ChangesBlock | None = None
    """What it did to the files of the workspace, where that is kept."""
