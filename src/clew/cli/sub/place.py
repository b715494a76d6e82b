"""The place that a sub-command is about, and what the hub answers about it."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from clew.assembly.place import answer_at
from clew.host.hub import Hub
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace, open_workspace
from clew.protocol.lookups.base import Answer, Lookup

if TYPE_CHECKING:
    from clew.host.door import Door

A = TypeVar("A", bound=Answer)
REMOVED = Path("/proc/nonexistent")
"""Stands for a current directory that was removed: no machine has it."""


def this_place(*, lenient: bool = False) -> Workspace:
    """The current directory, its project and settings; keys that `clew auth` saved are not read. Raises SettingsError;
    with `lenient` a file that cannot be understood is left out."""
    return open_workspace(Path.cwd(), os.environ, lenient=lenient, keys=False)


def this_place_if_any() -> Workspace:
    """As `this_place`, lenient, also where the current directory was removed under us."""
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        cwd = REMOVED
    return open_workspace(cwd, os.environ, lenient=True, keys=False)


def ask(place: Workspace, lookup: Lookup[A]) -> A:
    """The hub's answer to a lookup that needs no session. Raises LookupRefused, SettingsError or OSError."""
    return asyncio.run(make_hub().look_up(place, lookup))


def make_hub() -> Hub:
    """The hub of this process. What opens a session is loaded by the first one."""
    return Hub(_open, answer_at)


def _open(request: SessionRequest) -> "Door":
    from clew.assembly.opening import open_door  # sub-commands that only ask open no session

    return open_door(request)
