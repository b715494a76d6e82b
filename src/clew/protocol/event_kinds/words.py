"""Events that put a session into words: labels, titles, recaps, and the model calls behind them."""

from typing import Literal

from clew.protocol.base import DurableEvent, LiveEvent
from clew.protocol.ids import CallId, EntryId
from clew.protocol.standing import NoticeKind
from clew.protocol.usage import Usage

WordSource = Literal["facts", "model"]


class BatchLabelled(DurableEvent, frozen=True, kw_only=True, tag="batch.labelled"):
    """A label for the tool calls of one step. May be sent again with a better one."""

    call_ids: tuple[CallId, ...]
    label: str
    source: WordSource = "facts"


class TitleChanged(DurableEvent, frozen=True, kw_only=True, tag="title.changed"):
    """The session has a (new) title. A user's own always wins."""

    title: str
    source: Literal["user", "facts", "model"]


Occasion = Literal["asked", "resumed", "returned"]


class RecapReady(DurableEvent, frozen=True, kw_only=True, tag="recap.ready"):
    """Where you are, in one or two sentences."""

    text: str
    entry_id: EntryId = EntryId("")
    """Empty when the log already ends with this recap: it is shown, not written again."""
    parent_id: EntryId | None = None
    away: str = ""
    """What happened since you left."""
    last_entry_id: EntryId = EntryId("")
    source: WordSource = "facts"
    why: str = ""
    """Where its words came from: what a model said that was left out, or why none was asked."""
    occasion: Occasion = "asked"
    """Why it is shown: somebody wants it, the session was opened again, or a person came back to it."""


class SideQueryBooked(DurableEvent, frozen=True, kw_only=True, tag="side_query.booked"):
    """A model call that was not the conversation has ended; at any time, also between turns."""

    purpose: str
    model: str
    usage: Usage | None = None
    cost_usd: float | None = None
    outcome: str = "ok"


class Notified(LiveEvent, frozen=True, kw_only=True, tag="notified"):
    """What a person who looks elsewhere should know, told once. It grants nothing: no id in it answers anything."""

    kind: NoticeKind
    text: str
    """One safe line without secrets."""
    title: str = ""
    """What the session is about; as safe."""
    notice_id: str = ""
    """Tells two notices apart, and the second sending of one."""


class CostThresholdReached(LiveEvent, frozen=True, kw_only=True, tag="cost_threshold.reached"):
    """The session has spent this much of its budget; it goes on."""

    spent_usd: float
    budget_usd: float


class Notice(LiveEvent, frozen=True, kw_only=True, tag="notice"):
    """A line for the user that is not part of the conversation."""

    level: Literal["info", "warning", "error"]
    text: str
    code: str = ""


class WorktreeChanged(DurableEvent, frozen=True, kw_only=True, tag="worktree.changed"):
    """The conversation works in a checkout of its own from here on; with an empty path: in the project's again."""

    name: str
    path: str = ""
    branch: str = ""
    ref: str = ""
    """Where in the project's repository its work is, or will be once it has any."""


class PermissionModeChanged(DurableEvent, frozen=True, kw_only=True, tag="permission_mode.changed"):
    """The permission mode is now this one."""

    mode: str
