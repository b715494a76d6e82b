"""Going over to another session: what of the first request still holds, and what happens when several are meant."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew.host.part import SeveralFit
from clew.host.request import SessionRequest
from clew.host.workspace import workspace_of
from clew.parts.sessions.rows import candidate_rows
from clew.protocol.ops import SwitchSession

if TYPE_CHECKING:
    from clew.catalog.found_session import FoundSession


def another(request: SessionRequest, op: SwitchSession) -> SessionRequest:
    """The same way of working with another session. What was said about the first one (whose it was, that it may be
    taken from another process) was not said about this one."""
    return replace(
        request,
        newest=False,
        resume=op.resume or None,
        source_agent="",
        source_session="",
        choose=partial(several_fit, request),
        resume_at="",
        drops_turn=None,
        fork=op.fork,
        branched=op.fork,
        session_id="",
        worktree=None,
        take_over=False,
        wait=False,
    )


def several_fit(request: SessionRequest, query: str, candidates: Sequence["FoundSession"]) -> None:
    """A front end lets a person choose."""
    raise SeveralFit(candidate_rows(workspace_of(request), candidates))
