"""Events about commands beside the model's calls: those the user typed, and those in the background."""

from typing import Literal

from msgspec import Struct

from clew.protocol.display import ChangesBlock
from clew.protocol.event_base import DurableEvent, LiveEvent
from clew.protocol.ids import EntryId, OpId, RequestId


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


class ShellRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One command in the background."""

    shell_id: str
    command: str
    state: Literal["running", "exited", "stopped"]
    exit_code: int | None = None
    age_s: float = 0.0
    """Since it was started."""
    tail: tuple[str, ...] = ()
    """Its last lines, without secrets."""
    output_file: str = ""
    """Where all of its output is; empty: nowhere."""


class ShellsListed(LiveEvent, frozen=True, kw_only=True, tag="shells.listed"):
    """The commands in the background, oldest first, in answer to `ListShells` and `StopShell`."""

    op_id: OpId
    shells: tuple[ShellRow, ...]


class ShellShown(LiveEvent, frozen=True, kw_only=True, tag="shell.shown"):
    """What a command in the background has printed so far, in answer to `ShowShell`."""

    op_id: OpId
    shell: ShellRow
    output: str
    """Without secrets, and of long output both ends."""
