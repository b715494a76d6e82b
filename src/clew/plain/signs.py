"""Events that leave nothing in the story, told as they pass: a start, a retry, a wait, what was taken back."""

from collections.abc import Iterator
from functools import singledispatch

import msgspec
from msgspec import Struct

from clew.commands.plan import opened_line
from clew.plain.dialogs.dialog import Shown
from clew.plain.phrasing import Look, clipped_line, one_line
from clew.presentation.story.story import Story
from clew.protocol.events import (
    ApprovalResolved,
    AttemptEnded,
    BatchLabelled,
    CompactionStarted,
    EventBase,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    ReplyAwaited,
    RetryScheduled,
    SectionKept,
    SessionStarted,
    ToolStarted,
)
from clew.protocol.ids import PromptId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.session import PlanOpened
from clew.protocol.messages import text_of
from clew.text.figures import count, duration

LONG_GROUP = 4


class Telling(Struct, frozen=True, kw_only=True):
    """What a sign is told from, and how."""

    story: Story
    """Before the event."""
    look: Look
    verbose: bool = False
    alive: bool = False
    """A line under the output says what goes on: what it says is not said again."""
    steering: frozenset[PromptId | None] = frozenset()
    """Prompts that were typed while the agent worked."""


def signs(event: EventBase | Answer, telling: Telling) -> list[Shown]:
    """The lines of an event of the main agent; nearly always none."""
    return list(_signs(event, telling))


@singledispatch
def _signs(event: EventBase | Answer, telling: Telling) -> Iterator[Shown]:
    yield from ()


@_signs.register
def _(event: SessionStarted, telling: Telling) -> Iterator[Shown]:
    if telling.story.facts.session_id == event.session_id:
        return
    yield Shown(f"clew {event.version} · {event.model or 'no model'} · {event.permission_mode}", "bold", hang="  ")
    yield Shown(f"{event.cwd}{' · resumed' if event.resumed else ''} · /help lists commands", "dim", hang="  ")


@_signs.register
def _(event: RetryScheduled, telling: Telling) -> Iterator[Shown]:
    when = f"in {duration(round(event.delay_s * 1000))}" if event.delay_s >= 0.05 else "at once"
    attempt = f"attempt {event.attempt} of {event.max_attempts}"
    yield Shown(f"Trying again {when} ({attempt}): {one_line(event.reason)}", "warning", hang="  ")


@_signs.register
def _(event: ReplyAwaited, telling: Telling) -> Iterator[Shown]:
    if not telling.alive:
        yield Shown(f"  no answer yet after {duration(round(event.seconds * 1000))}; still waiting", "dim")


@_signs.register
def _(event: BatchLabelled, telling: Telling) -> Iterator[Shown]:
    """Under a group of calls, where it says more than their lines: a model's words, or a long group."""
    if event.source == "model" or len(event.call_ids) > LONG_GROUP:
        words = f"{event.label} · {count(len(event.call_ids), 'tool')}"
        yield Shown(f"  = {clipped_line(words, telling.look, 4)}", "dim")


@_signs.register
def _(event: PromptQueued, telling: Telling) -> Iterator[Shown]:
    """Only where the line under the output does not tell it."""
    if not telling.alive and telling.story.working and event.origin == "user":
        yield Shown("(waits for the agent's next step)", "dim")


@_signs.register
def _(event: PromptAccepted, telling: Telling) -> Iterator[Shown]:
    """One that waited and came too late for the turn it was typed in: it begins the next."""
    if event.prompt_id in telling.steering and not event.queued and not event.hidden:
        yield Shown(f"> {clipped_line(text_of(event.content), telling.look, 2)}")


@_signs.register
def _(event: PromptWithdrawn, telling: Telling) -> Iterator[Shown]:
    queued = telling.story.facts.state.queued
    words = next((item.content for item in queued if item.prompt_id == event.prompt_id), "")
    yield Shown(f"Not sent: {clipped_line(text_of(words), telling.look, 10)}", "warning")


@_signs.register
def _(event: PlanOpened, telling: Telling) -> Iterator[Shown]:
    yield Shown(one_line(opened_line(event)), hang="  ")


@_signs.register
def _(event: CompactionStarted, telling: Telling) -> Iterator[Shown]:
    yield Shown("Compacting the conversation. Ctrl-C leaves it as it is.", "dim", hang="  ")


@_signs.register
def _(event: SectionKept, telling: Telling) -> Iterator[Shown]:
    """What is written ahead of need is not told."""
    if telling.story.facts.state.compacting and not telling.alive:
        yield Shown(f"  summarised: {clipped_line(event.title, telling.look, 14)}", "dim")


@_signs.register
def _(event: ApprovalResolved, telling: Telling) -> Iterator[Shown]:
    """Where a rule is kept now, and what a change of the rules settled by itself."""
    if event.saved_in:
        yield Shown(f"Saved in {one_line(event.saved_in)}; /permissions remove takes it back.", "dim", hang="  ")
    elif event.by == "rule" and any(
        asked.ask.request_id == event.request_id for asked in telling.story.facts.state.asks
    ):
        yield Shown(f"No longer asked: {event.decision} ({one_line(event.reason)})", "dim", hang="  ")


@_signs.register
def _(event: ToolStarted, telling: Telling) -> Iterator[Shown]:
    if telling.verbose:
        given = msgspec.json.encode(event.call.arguments).decode()
        name = one_line(event.call.name)
        yield Shown(f"  {name} {clipped_line(given, telling.look, 4 + len(name))}", "dim")


@_signs.register
def _(event: AttemptEnded, telling: Telling) -> Iterator[Shown]:
    if telling.verbose:
        used = event.usage
        tokens = f"{used.prompt_tokens:,} in, {used.output_tokens:,} out" if used is not None else "usage unknown"
        yield Shown(f"  {one_line(event.model)} {event.outcome}: {tokens}, {duration(event.api_ms)}", "dim")
