"""Which handler answers which lookup at a session. Parts bring rows of their own."""

from functools import partial
from typing import Any

from clew.host.part import Answerer, Answerers
from clew.host.hook_lookups import HOOKS
from clew.host.lookup_desk import Desk
from clew.host.place_lookups import PLACE
from clew.host.session_lookups import SESSION
from clew.protocol.lookup_base import Lookup

ROWS = {**SESSION, **PLACE, **HOOKS}


def answerers(desk: Desk) -> Answerers:
    """What answers each lookup at this session."""
    found: dict[type[Lookup[Any]], Answerer] = {kind: partial(handler, desk=desk) for kind, handler in ROWS.items()}
    for part in desk.room.brought:
        found.update(part.lookups())
    return found
