"""Ops about commands that run in the background."""

from typing import ClassVar

from clew.protocol.event_base import EventBase
from clew.protocol.op_base import OpBase
from clew.protocol.shell_events import ShellShown, ShellsListed


class ListShells(OpBase, frozen=True, kw_only=True, tag="shells.list"):
    """Ask which commands run in the background, and which did; answered by ShellsListed."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ShellsListed,)


class ShowShell(OpBase, frozen=True, kw_only=True, tag="shell.show"):
    """Ask what a command in the background has printed; answered by ShellShown. For the model it stays unread."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ShellShown,)

    shell_id: str


class StopShell(OpBase, frozen=True, kw_only=True, tag="shell.stop"):
    """End a command in the background and everything it started; answered by ShellsListed."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ShellsListed,)

    shell_id: str


LookupOp = ListShells | ShowShell | StopShell
"""Ops that are answered by one event and leave the conversation alone."""
