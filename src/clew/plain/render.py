"""The story on its way to the screen: every passage once, when it is settled, and the model's words as they grow.

Events that leave nothing in the story, told as they pass: a start, a retry, a wait, what was taken back.
"""

from collections.abc import Iterator, Sequence
from functools import singledispatch

import msgspec
from msgspec import Struct

from clew.commands.plan import opened_line
from clew.config.schema import Density
from clew.orient.deeds import running
from clew.plain.agent_progress import AgentProgress
from clew.plain.agent_story import story_of_agent
from clew.plain.dialogs.dialog import Shown
from clew.plain.line.screen import Screen
from clew.plain.phrases import Look, Piece, clipped_line, one_line, phrased, phrased_call, retold_prompt
from clew.plain.words_flow import WordsFlow
from clew.presentation.edit_preview import changes_of
from clew.presentation.story.passages import (
    BatchPassage,
    Passage,
    PromptPassage,
    ReasoningPassage,
    ShellPassage,
    TurnPassage,
    WordsPassage,
)
from clew.presentation.story.story import Story
from clew.presentation.story.telling import retold
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    Ask,
    AttemptEnded,
    BatchLabelled,
    CompactionStarted,
    Envelope,
    EventBase,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    ReplyAwaited,
    ReplyWithdrawn,
    RetryScheduled,
    SectionKept,
    SessionStarted,
    SnapshotTaken,
    ToolStarted,
)
from clew.protocol.ids import MAIN_AGENT, CallId, PromptId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.session import HistoryLoaded, PlanOpened
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
def _(event: SnapshotTaken, telling: Telling) -> Iterator[Shown]:
    """What an earlier process left in the queue."""
    for item in event.state.queued:
        if item.held:
            yield Shown(f"queued {clipped_line(text_of(item.content), telling.look, 7)}", "dim")


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
    item = next((item for item in queued if item.prompt_id == event.prompt_id), None)
    if item is not None and item.origin == "clew":
        return
    words = item.content if item is not None else ""
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


RETOLD_PROMPT_ROWS = 8
RETOLD_CHARS = 4_000
"""Of the last answer, when a session is taken up again."""


class Renderer:
    """Prints what the story tells. It remembers what it printed, nothing else."""

    def __init__(
        self,
        screen: Screen,
        *,
        show_reasoning: bool = False,
        verbose: bool = False,
        alive: bool = False,
        density: Density = "labels",
        tools: dict[str, Density] | None = None,
    ) -> None:
        self._screen = screen
        self._show_reasoning = show_reasoning
        self._verbose = verbose
        self._alive = alive
        """A line under the output says what goes on."""
        self._density: Density = density
        self._tools = tools or {}
        self._flow = WordsFlow(screen, self._look)
        self._progress = AgentProgress()
        self._known: dict[str, Passage] = {}
        self._told: dict[str, set[str]] = {}
        """Calls that were told, by their batch."""
        self._looked_at: set[CallId] = set()
        """Calls whose change a person was shown before they were allowed."""
        self._steering: frozenset[PromptId | None] = frozenset()
        """Prompts that were typed while the agent worked and wait."""

    def show(self, envelope: Envelope, before: Story, after: Story) -> None:
        """One event, with the story before and after it."""
        event = envelope.event
        if isinstance(event, ApprovalRequested):
            call = after.call(event.call_id, envelope.agent)
            if call is not None and changes_of(call):
                self._looked_at.add(event.call_id)
        if isinstance(event, Ask):
            self._flow.finish()
        if envelope.agent == MAIN_AGENT:
            if isinstance(event, ReplyWithdrawn) and self._flow.withdraw(event.reply_id):
                self.put([Shown(f"[the reply above does not count: {one_line(event.reason)}]", "warning", hang="  ")])
            if isinstance(event, PromptQueued) and before.working:
                self._steering |= {event.prompt_id}
            self.put(signs(event, self._telling(before)))
            if isinstance(event, PromptAccepted | PromptWithdrawn):
                self._steering -= {event.prompt_id}
        else:
            self.put(self._progress.lines(envelope, after, self._look()))
        self._follow(before, after)

    def show_answer(self, answer: Answer | None, before: Story, after: Story) -> None:
        """What was looked up, or why not, with the story before and after it."""
        if answer is not None:
            self.put(signs(answer, self._telling(before)))
        self._follow(before, after)

    def put(self, pieces: Sequence[Piece]) -> None:
        """Lines and rows between the words."""
        for piece in pieces:
            self._flow.broken()
            if isinstance(piece, Shown):
                self._screen.line(piece.text, piece.style, hang=piece.hang)
            else:
                self._screen.rows([piece])

    def still_running(self, call_id: CallId, story: Story) -> None:
        """Tell that a slow call goes on, where nothing else does."""
        call = story.call(call_id)
        if call is not None and not self._alive and any(item[0] == call_id for item in story.activity.running):
            line = running(call, story.facts.cwd).line(self._look().room(2))
            self.put([Shown(f"  {line}", "dim")])

    @property
    def streaming(self) -> bool:
        """Words are being written."""
        return self._flow.active

    def wait_over(self, *, live: bool) -> None:
        """Words keep waiting for the end of their row."""
        self._flow.wait_over(live=live)

    def finish(self) -> None:
        """Nothing more comes."""
        self._flow.finish()

    def last_exchange(self, event: HistoryLoaded, cwd: str) -> None:
        """Where a session was left: what was said last, and the answer."""
        passages = retold(event.events, cwd)
        starts = [at for at, item in enumerate(passages) if isinstance(item, PromptPassage) and not item.queued]
        if not starts:
            return
        prompt = passages[starts[-1]]
        assert isinstance(prompt, PromptPassage)
        self.put(retold_prompt(prompt, self._look(), RETOLD_PROMPT_ROWS))
        answers = [item for item in passages[starts[-1] :] if isinstance(item, WordsPassage)]
        if not answers:
            self.put([Shown("(no answer yet)", "dim")])
            return
        text = answers[-1].text
        cut = text.find("\n\n", len(text) - RETOLD_CHARS) + 2 if len(text) > RETOLD_CHARS else 0
        left_out = ", the end of it" if cut > 1 else ""
        self.put([Shown(f"The answer{left_out}:", "bold")])
        self._flow.grow(WordsPassage(key=f"retold:{answers[-1].key}", text=text[cut if cut > 1 else 0 :]))

    def agent_story(self, event: HistoryLoaded, cwd: str, *, working: bool) -> None:
        """What an agent did so far, bounded."""
        self._flow.finish()
        self.put(story_of_agent(event, cwd, self._look(), working=working))

    def _look(self) -> Look:
        return Look(columns=self._screen.columns, density=self._density, tools=self._tools)

    def _telling(self, story: Story) -> Telling:
        return Telling(
            story=story, look=self._look(), verbose=self._verbose, alive=self._alive, steering=self._steering
        )

    def _follow(self, before: Story, after: Story) -> None:
        """What is new or has changed, whether it still goes on or has just become past."""
        for passage in (*after.past[len(before.past) :], *after.now):
            if self._known.get(passage.key) is not passage:
                self._known[passage.key] = passage
                self._tell(passage)
        if not after.now:
            self._known.clear()
            self._told.clear()

    def _tell(self, passage: Passage) -> None:
        match passage:
            case WordsPassage():
                if passage.text.strip() and not passage.withdrawn:
                    self._flow.grow(passage)
            case ReasoningPassage():
                if self._show_reasoning and not passage.growing:
                    self._flow.finish()
                    self.put(phrased(passage, self._look()))
            case BatchPassage():
                self._calls(passage)
            case ShellPassage(running=True):
                pass
            case PromptPassage() | TurnPassage():
                self._flow.finish()
                self.put(phrased(passage, self._look()))
            case _:
                self.put(phrased(passage, self._look()))

    def _calls(self, batch: BatchPassage) -> None:
        told = self._told.setdefault(batch.key, set())
        for shown in batch.calls:
            name = f"{shown.call.id}:{shown.entry_id}"
            if shown.state == "ended" and shown.deeds and name not in told:
                told.add(name)
                self._flow.finish()
                self.put(phrased_call(shown, self._look(), seen=shown.call.id in self._looked_at))
