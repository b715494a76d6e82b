"""How a session, an agent or a task stands: one set of words, one decision, and one table of the words of each wire.

Two readers collect what `standing_of` decides on: `protocol/state` from events, as they happen, and
`transcript/chain/standing` from the lines of a log, for lists, recaps and a resume. Neither decides by itself.
"""

import re
from enum import StrEnum
from typing import Literal, NamedTuple


class Standing(StrEnum):
    """After its last event. All but the endings need a live owner; without one such work was interrupted.

    Sessions are never `starting` or `completed`: a session that rests is idle, and people read "finished" where nothing
    is open.
    """

    STARTING = "starting"
    WORKING = "working"
    WAITING = "waiting"
    """For an approval."""
    ASKING = "asking"
    """For the answer to a question, a plan or a form."""
    SUSPENDED = "suspended"
    """A limit was reached: of money, steps, tokens, or the provider's."""
    IDLE = "idle"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    """Somebody ended it, who is named beside."""
    INTERRUPTED = "interrupted"
    """The process that ran it died in the middle of it."""

    @property
    def open(self) -> bool:
        """Whether it goes on by itself or with an answer."""
        return self in (Standing.STARTING, Standing.WORKING, Standing.WAITING, Standing.ASKING)


Actor = Literal["itself", "user", "agent", "session", "hook"]
"""Who brought a change about: the work by its own end, a person by a front end, an agent by a tool, the session when it
was closed, or a hook."""

SessionActivity = Literal["running", "requires_action", "idle"]
"""The state of a session in stream-json."""
TaskWord = Literal["completed", "failed", "stopped"]
"""How a task ended, in stream-json and in the SDK that reads it."""
NoticeKind = Literal["done", "needs_approval", "asks", "failed", "limit"]
"""What a notice is about; hooks and the webhook read it."""


class WireWords(NamedTuple):
    """What other programs call a standing."""

    stream: SessionActivity
    notice: NoticeKind | Literal[""]
    """Empty: nobody is told."""
    task: TaskWord | Literal[""] = ""
    """How a task ended, in stream-json; empty: it has not."""


WIRE_WORDS: dict[Standing, WireWords] = {
    Standing.STARTING: WireWords("running", ""),
    Standing.WORKING: WireWords("running", ""),
    Standing.WAITING: WireWords("requires_action", "needs_approval"),
    Standing.ASKING: WireWords("requires_action", "asks"),
    Standing.SUSPENDED: WireWords("idle", "limit", "failed"),
    Standing.IDLE: WireWords("idle", "done", "completed"),
    Standing.COMPLETED: WireWords("idle", "done", "completed"),
    Standing.FAILED: WireWords("idle", "failed", "failed"),
    Standing.STOPPED: WireWords("idle", "failed", "stopped"),
    Standing.INTERRUPTED: WireWords("idle", "", "stopped"),
}

STOPPED_BY: dict[str, Actor] = {"interrupted": "user", "stopped_by_denial": "user", "stopped_by_hook": "hook"}
"""Reasons of a turn that somebody ended, with who did, unless its end names somebody else."""
LIMITS = frozenset(
    {"max_turns", "max_budget", "max_tokens", "max_minutes", "output_limit", "prompt_too_long", "window_exceeded"}
)
_QUOTA = (
    r"usage limit|rate.?limit|hit your \w*\s?limit|quota|limit (?:reached|exceeded)|too many requests|\b429\b|"
    r"credit balance|insufficient (?:credit|balance|funds|quota)|out of credits"
)
"""Compiled when it is first needed: every start loads this module."""


def standing_after(reason: str, error: str = "") -> Standing:
    """How an agent rests after a turn that ended for this reason (`TurnEndReason`) with this error. Whatever is neither
    an answer, a stop nor a limit is a failure."""
    if reason in ("", "completed"):
        return Standing.IDLE
    if reason in STOPPED_BY:
        return Standing.STOPPED
    if reason in LIMITS or (reason == "model_error" and is_quota(error)):
        return Standing.SUSPENDED
    return Standing.FAILED


def is_quota(error: str) -> bool:
    """Whether a provider's words tell that its limit is reached."""
    return re.search(_QUOTA, error, re.IGNORECASE) is not None


def standing_of(*, asked: Standing | None, at_work: bool, rest: Standing, held: bool = True) -> Standing:
    """How it stands. `asked`: what a person must answer first, if anything: nothing goes on without. `rest`: how it
    stands when nothing is open. `held`: the process that does the work is alive."""
    if asked is None and not at_work:
        return rest
    if not held:
        return Standing.INTERRUPTED
    return asked or Standing.WORKING


def as_read(standing: Standing, question: str) -> Standing:
    """What people read in lists and recaps: who rests after a question in plain words is asking, too."""
    return Standing.ASKING if standing is Standing.IDLE and question else standing
