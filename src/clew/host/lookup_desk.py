"""What the handlers of lookups work with."""

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from clew.host.room import Room
from clew.protocol.events import SessionRow
from clew.protocol.lookup_base import Answer, Lookup

ListThem = Callable[[str, int], Awaitable[tuple[SessionRow, ...]]]
PreviewOne = Callable[[str], Awaitable[tuple[str, ...]]]


class SessionLists(Struct, kw_only=True):
    """Where the sessions of this machine are looked up; the same for every session behind one door."""

    sessions: ListThem | None = None
    preview: PreviewOne | None = None
    own: dict[str, Path] = field(default_factory=dict[str, Path])
    """The files of our own sessions that were listed."""


class Desk(Struct, kw_only=True):
    """One session, as its handlers see it."""

    room: Room
    lists: SessionLists
    restoring: Callable[[], bool]
    """Whether files are being brought back now."""


Rows = dict[type[Lookup[Any]], Callable[..., Coroutine[Any, Any, Answer]]]
"""Lookups and the functions that answer them, each called with the lookup and `desk=`. They raise OpRefused."""
