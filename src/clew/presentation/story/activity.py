"""The sign of life: what the agent does now, since when, and how much came so far. A pure fold; it reads no clock.

Whether the session works, asks or rests is not decided here but in its state (`protocol/state`): this tells what the
work is, in more words.
"""

from datetime import datetime
from functools import singledispatch
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.orient.deeds import subject_of
from clew.protocol.events import (
    ArgumentsDelta,
    AttemptEnded,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Envelope,
    EventBase,
    HookAwaited,
    HookRan,
    PartCompleted,
    ReasoningDelta,
    ReplyAwaited,
    ReplyBegan,
    RetryScheduled,
    SectionKept,
    ShellEnded,
    ShellStarted,
    StepStarted,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, CallId, RequestId
from clew.protocol.meant_calls import CALL_TOOL
from clew.protocol.state import SessionState

Doing = Literal[
    "idle", "waiting", "thinking", "writing", "calling", "running", "asking", "retrying", "compacting", "hook"
]
UNSEEN = ("Notification", "SessionEnd")
"""Moments whose hooks nobody waits for."""
CHARS_PER_TOKEN = 4
"""Only for the figure that runs while words arrive; the provider's own count takes its place."""


ASKED = (TurnStarted, StepStarted, ToolEnded, RetryScheduled)
"""After these a request goes out, or may."""
HEARD = (*ASKED, ReplyBegan, TextDelta, ReasoningDelta, ArgumentsDelta, PartCompleted)
"""Signs of the model, and of its requests."""


class Activity(Struct, frozen=True, kw_only=True):
    """What is going on."""

    doing: Doing = "idle"
    what: str = ""
    """The tool, the reason, the stretch: whatever tells it from others of its kind."""
    since_s: float = 0.0
    """When this began, in seconds since the epoch."""
    turn_since_s: float = 0.0
    waited_s: float = 0.0
    """How long people took to answer in this turn."""
    asked_s: float = 0.0
    """Since when somebody is asked; 0: nobody is."""
    heard_s: float = 0.0
    """When the model last gave a sign; 0: nothing is awaited of it."""
    begun: bool = False
    """It has begun to answer the request that is out."""
    until_s: float = 0.0
    """When it goes on by itself; 0: unknown."""
    tokens: int = 0
    """Written in this turn, as the provider counts."""
    chars: int = 0
    """Written since."""
    running: tuple[tuple[CallId, str], ...] = ()
    shells: tuple[tuple[RequestId, str], ...] = ()
    """Commands the person typed; told while nothing else goes on."""
    hooks: tuple[str, ...] = ()
    """Hooks that take their time."""

    @property
    def written(self) -> int:
        """Tokens so far, the newest ones estimated."""
        return self.tokens + self.chars // CHARS_PER_TOKEN

    def silent_s(self, now_s: float) -> float:
        """For how long nothing came of the model although something is awaited."""
        awaited = self.heard_s and self.doing in ("waiting", "thinking", "writing", "calling")
        return max(now_s - self.heard_s, 0.0) if awaited else 0.0

    def worked_s(self, now_s: float) -> float:
        """How long the turn takes so far, without the time people took to answer."""
        if not self.turn_since_s:
            return 0.0
        asked = max(now_s - self.asked_s, 0.0) if self.asked_s else 0.0
        return max(now_s - self.turn_since_s - self.waited_s - asked, 0.0)


def seconds(at: str) -> float:
    """An event's time as seconds since the epoch; 0 where it has none."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0


def activity_after(envelope: Envelope, activity: Activity, state: SessionState) -> Activity:
    """What goes on after this event, which brought the session into this state. Of agents beside the main one only what
    they ask is part of it."""
    asked = activity.doing == "asking"
    now = _fold(envelope.event, activity, envelope.at) if envelope.agent == MAIN_AGENT else activity
    if envelope.agent == MAIN_AGENT and isinstance(envelope.event, HEARD):
        now = replace(now, heard_s=seconds(envelope.at), begun=not isinstance(envelope.event, ASKED))
    if state.asks:
        return _asking(now, envelope.at, since_s=activity.asked_s if asked else seconds(envelope.at))
    if asked:
        now = _answered(replace(now, asked_s=activity.asked_s), envelope.at)
    if now.doing == "idle" and (state.working or state.compacting):  # whoever joins late saw no beginning
        return _now(now, "waiting" if state.working else "compacting", envelope.at)
    return now


def _asking(activity: Activity, at: str, *, since_s: float) -> Activity:
    """As long as a person is asked, that is what goes on, whatever runs or arrives beside it."""
    if activity.doing != "asking":
        activity = replace(activity, doing="asking", what="", since_s=seconds(at), until_s=0.0)
    return activity if activity.asked_s == since_s else replace(activity, asked_s=since_s)


def _answered(activity: Activity, at: str) -> Activity:
    """Nobody is asked any more; a turn that ended meanwhile has its own end already."""
    if activity.doing != "asking":
        return replace(activity, asked_s=0.0)
    waited = activity.waited_s + max(seconds(at) - activity.asked_s, 0.0)
    activity = replace(activity, doing="idle", what="", asked_s=0.0, waited_s=waited)
    if activity.running:
        return _now(activity, "running", at, activity.running[-1][1])
    return _now(activity, "waiting", at) if activity.turn_since_s else _at_rest(activity, at)


def _now(activity: Activity, doing: Doing, at: str, what: str = "", *, until_s: float = 0.0) -> Activity:
    if activity.doing == "asking":  # until everything is answered
        return activity
    if activity.doing == doing and activity.what == what and not until_s:
        return activity
    return replace(activity, doing=doing, what=what, since_s=seconds(at), until_s=until_s)


@singledispatch
def _fold(event: EventBase, activity: Activity, at: str) -> Activity:
    return activity


@_fold.register
def _(event: TurnStarted, activity: Activity, at: str) -> Activity:
    began = seconds(at)
    begun = Activity(doing="waiting", since_s=began, turn_since_s=began, shells=activity.shells, hooks=activity.hooks)
    return _now(begun, "hook", at, begun.hooks[-1]) if begun.hooks else begun


@_fold.register
def _(event: TurnEnded, activity: Activity, at: str) -> Activity:
    return _at_rest(activity, at)


def _at_rest(activity: Activity, at: str) -> Activity:
    """No turn of the main agent runs; a command that the person typed may."""
    rest = Activity(shells=activity.shells)
    return _now(rest, "running", at, rest.shells[-1][1]) if rest.shells else rest


@_fold.register
def _(event: ShellStarted, activity: Activity, at: str) -> Activity:
    activity = replace(activity, shells=(*activity.shells, (event.request_id, event.command)))
    return activity if activity.doing != "idle" else _at_rest(activity, at)


@_fold.register
def _(event: ShellEnded, activity: Activity, at: str) -> Activity:
    shells = tuple(item for item in activity.shells if item[0] != event.request_id)
    if activity.turn_since_s or activity.doing == "compacting":
        return replace(activity, shells=shells)
    return _at_rest(replace(activity, shells=shells), at)


@_fold.register
def _(event: HookAwaited, activity: Activity, at: str) -> Activity:
    """Shown where it holds something up: a turn, or the window being made smaller."""
    if event.moment in UNSEEN:
        return activity
    activity = replace(activity, hooks=(*activity.hooks, event.hook))
    held = activity.turn_since_s or activity.doing == "compacting"
    return _now(activity, "hook", at, event.hook) if held else activity


@_fold.register
def _(event: HookRan, activity: Activity, at: str) -> Activity:
    if event.hook not in activity.hooks:
        return activity
    left = list(activity.hooks)
    left.remove(event.hook)
    activity = replace(activity, hooks=tuple(left))
    if activity.doing != "hook":
        return activity
    if left:
        return _now(activity, "hook", at, left[-1])
    if not activity.turn_since_s:
        return _now(activity, "compacting", at)
    return _now(activity, "running", at, activity.running[-1][1]) if activity.running else _now(activity, "waiting", at)


@_fold.register(StepStarted)
@_fold.register(ReplyAwaited)
def _(event: StepStarted | ReplyAwaited, activity: Activity, at: str) -> Activity:
    return activity if activity.running else _now(activity, "waiting", at)


@_fold.register
def _(event: ReasoningDelta, activity: Activity, at: str) -> Activity:
    return _grown(_now(activity, "thinking", at), event.text)


@_fold.register
def _(event: TextDelta, activity: Activity, at: str) -> Activity:
    return _grown(_now(activity, "writing", at), event.text)


@_fold.register
def _(event: ArgumentsDelta, activity: Activity, at: str) -> Activity:
    return _grown(_now(activity, "calling", at, "a call" if event.tool == CALL_TOOL else event.tool), event.text)


def _grown(activity: Activity, text: str) -> Activity:
    return replace(activity, chars=activity.chars + len(text))


@_fold.register
def _(event: AttemptEnded, activity: Activity, at: str) -> Activity:
    told = event.usage.output_tokens if event.usage is not None else activity.chars // CHARS_PER_TOKEN
    return replace(activity, tokens=activity.tokens + told, chars=0)


@_fold.register
def _(event: ToolStarted, activity: Activity, at: str) -> Activity:
    subject = subject_of(event.call)
    what = f"{event.call.name} {subject}".strip()
    running = (*activity.running, (event.call.id, what))
    return _now(replace(activity, running=running), "running", at, what)


@_fold.register
def _(event: ToolEnded, activity: Activity, at: str) -> Activity:
    running = tuple(item for item in activity.running if item[0] != event.result.call_id)
    activity = replace(activity, running=running)
    if activity.doing not in ("running", "asking"):
        return activity
    return _now(activity, "running", at, running[-1][1]) if running else _now(activity, "waiting", at)


@_fold.register
def _(event: RetryScheduled, activity: Activity, at: str) -> Activity:
    what = f"attempt {event.attempt} of {event.max_attempts}: {event.reason}"
    return _now(activity, "retrying", at, what, until_s=seconds(at) + event.delay_s)


@_fold.register
def _(event: CompactionStarted, activity: Activity, at: str) -> Activity:
    return _now(activity, "compacting", at)


@_fold.register
def _(event: SectionKept, activity: Activity, at: str) -> Activity:
    return replace(activity, what=event.title) if activity.doing == "compacting" else activity


@_fold.register(CompactionEnded)
@_fold.register(CompactionFailed)
def _(event: CompactionEnded | CompactionFailed, activity: Activity, at: str) -> Activity:
    if activity.doing != "compacting":
        return activity
    return _now(activity, "waiting", at) if activity.turn_since_s else _at_rest(activity, at)
