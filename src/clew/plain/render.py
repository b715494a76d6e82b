"""Events into lines on the screen: streamed words, one label per tool call, notices, one line per turn."""

from collections.abc import Callable
from typing import Any, get_args

import msgspec

from clew.commands.answers import AboutThePlace, answer_lines
from clew.commands.deeds import lined, running, turn_line
from clew.commands.figures import count, duration, money
from clew.plain.screen import Screen
from clew.plain.state import PlainState
from clew.presentation.call_deeds import call_deeds
from clew.protocol.events import (
    ApprovalResolved,
    AttemptEnded,
    BatchLabelled,
    ColdReturn,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    CompactionUndone,
    ContextMeasured,
    CostThresholdReached,
    EffortChanged,
    Envelope,
    Event,
    ItemPinned,
    ItemsRecalled,
    ModelChanged,
    ModelsListed,
    Notice,
    OpRejected,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    PromptWithdrawn,
    RangeSnipped,
    ReasoningDelta,
    RecapReady,
    ReceiptShown,
    ReplyAwaited,
    ReplyWithdrawn,
    RetryScheduled,
    RewindPreviewed,
    Rewound,
    RulesListed,
    SectionKept,
    SessionsListed,
    SessionStarted,
    ShellEnded,
    ShellProgress,
    TextDelta,
    TitleChanged,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    ViewTrimmed,
)
from clew.protocol.ids import MAIN_AGENT, CallId
from clew.protocol.messages import TextPart, text_of
from clew.system.terminal_text import StreamSanitizer, clip, sanitize

ABOUT_THE_WINDOW = (
    CompactionEnded,
    CompactionUndone,
    ContextMeasured,
    ItemPinned,
    ItemsRecalled,
    RangeSnipped,
    ReceiptShown,
    ViewTrimmed,
)
LONG_GROUP = 4
ENDINGS = {
    "interrupted": "Interrupted",
    "max_turns": "Stopped: the step limit is reached",
    "max_budget": "Stopped: the budget is spent",
    "prompt_too_long": "Stopped: the conversation no longer fits the model",
    "output_limit": "Stopped: the answer is longer than the model may write",
    "model_error": "Stopped by an error",
    "stopped_by_denial": "Stopped by your no",
    "max_tokens": "Stopped: the token limit is reached",
    "max_minutes": "Stopped: the time limit is reached",
    "window_exceeded": "Stopped: the model's window is full",
    "refusal": "The model refused",
    "content_filter": "Stopped by the provider's filter",
    "empty_answer": "No answer",
    "text_call": "No answer",
    "repeating": "Stopped",
}


class Renderer:
    """Shows each event once."""

    def __init__(self, screen: Screen, *, show_reasoning: bool = False, verbose: bool = False) -> None:
        self._screen = screen
        self._show_reasoning = show_reasoning
        self._verbose = verbose
        self._stream: StreamSanitizer | None = None
        self._part_shown: tuple[str, int] | None = None
        """The part whose words were streamed last."""
        self._begun = False
        self._thinking: StreamSanitizer | None = None
        self._handlers: dict[type[Any], Callable[[Any, PlainState], None]] = {
            SessionStarted: self._started,
            PromptAccepted: self._accepted,
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            PartCompleted: self._part,
            ReplyWithdrawn: self._withdrawn,
            ToolEnded: self._tool,
            BatchLabelled: self._batch,
            RetryScheduled: self._retry,
            Notice: self._notice,
            TurnEnded: self._turn,
            TitleChanged: self._title,
            RecapReady: self._recap,
            ModelChanged: self._model,
            PermissionModeChanged: self._mode,
            EffortChanged: self._effort,
            OpRejected: self._rejected,
            ApprovalResolved: self._resolved,
            CostThresholdReached: self._threshold,
            ReplyAwaited: self._awaited,
            PromptWithdrawn: self._taken_back,
            ModelsListed: self._listed,
            RulesListed: self._listed,
            SessionsListed: self._listed,
            RewindPreviewed: self._rewound,
            Rewound: self._rewound,
            CompactionStarted: self._compacting,
            SectionKept: self._section,
            CompactionFailed: self._not_compacted,
            ColdReturn: self._not_compacted,
            **dict.fromkeys(ABOUT_THE_WINDOW, self._listed),
            **dict.fromkeys(get_args(AboutThePlace), self._listed),
            ShellProgress: self._shell_output,
            ShellEnded: self._shell_ended,
            ToolStarted: self._call,
            AttemptEnded: self._attempt,
        }

    def show(self, envelope: Envelope, state: PlainState) -> None:
        """`state` is the one before the event was folded in. What child agents say stays with them; what they do is
        told with their name."""
        event = envelope.event
        if envelope.agent != MAIN_AGENT:
            if isinstance(event, ToolEnded):
                self._tool(event, state, who=f"[{one_line(envelope.agent)}] ")
            return
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event, state)

    def still_running(self, call_id: CallId, state: PlainState) -> None:
        """Tell that a slow call goes on."""
        call = state.call(call_id)
        if call is not None:
            self._end_streams()
            self._screen.line("  " + running(call, state.facts.cwd).line(self._room(2)), "dim")

    def _room(self, used: int) -> int:
        columns = self._screen.columns
        return max(columns - 1 - used, 20) if columns else 0

    def _started(self, event: SessionStarted, state: PlainState) -> None:
        if state.facts.session_id == event.session_id:
            return
        self._screen.line(f"clew {event.version} · {event.model or 'no model'} · {event.permission_mode}", "bold")
        self._screen.line(f"{event.cwd}{' · resumed' if event.resumed else ''} · /help lists commands", "dim")

    def _accepted(self, event: PromptAccepted, state: PlainState) -> None:
        if event.queued and not event.hidden:
            words = sanitize(" ".join(text_of(event.content).split()), one_line=True)
            self._end_streams()
            self._screen.line(f"> joined: {clip(words, self._room(10) or 200)}", "dim")

    def _text(self, event: TextDelta, state: PlainState) -> None:
        if self._thinking is not None:
            self._end_streams()
        if self._stream is None:
            self._stream = StreamSanitizer()
        if self._part_shown != (event.reply_id, event.part):
            self._part_shown, self._begun = (event.reply_id, event.part), False
        text = self._stream.feed(event.text)
        if not self._begun:
            # Some models begin with blank lines.
            text = text.lstrip("\n")
            self._begun = bool(text)
        self._screen.stream(text)

    def _reasoning(self, event: ReasoningDelta, state: PlainState) -> None:
        if not self._show_reasoning:
            return
        if self._thinking is None:
            self._end_streams()
            self._screen.line("Thinking:", "dim")
            self._thinking = StreamSanitizer()
        self._screen.stream(self._thinking.feed(event.text))

    def _part(self, event: PartCompleted, state: PlainState) -> None:
        if not isinstance(event.part, TextPart):
            return
        self._end_streams()
        text = event.part.text.strip("\n")
        if text and self._part_shown != (event.reply_id, event.part_number):
            self._screen.text(text)  # it came in one piece

    def _end_streams(self) -> None:
        for stream in (self._stream, self._thinking):
            if stream is not None:
                self._screen.stream(stream.flush())
        self._stream = self._thinking = None
        self._screen.finish()

    def _withdrawn(self, event: ReplyWithdrawn, state: PlainState) -> None:
        self._end_streams()
        self._part_shown = None
        self._screen.line(f"[the reply above does not count: {one_line(event.reason)}]", "warning")

    def _tool(self, event: ToolEnded, state: PlainState, *, who: str = "") -> None:
        self._end_streams()
        call = state.call(event.result.call_id)
        denied = state.denied.get(event.result.call_id)
        label = lined(call_deeds(event, call, state.facts.cwd, denied=denied), self._room(2 + len(who)))
        self._screen.line(f"* {who}{label}", "error" if event.result.is_error else "dim")

    def _batch(self, event: BatchLabelled, state: PlainState) -> None:
        """Under a group of calls, where it says more than their lines: a model's words, or a long group."""
        if event.source == "model" or len(event.call_ids) > LONG_GROUP:
            self._end_streams()
            words = f"{one_line(event.label)} · {count(len(event.call_ids), 'tool')}"
            self._screen.line(f"  = {clip(words, self._room(4) or 200)}", "dim")

    def _retry(self, event: RetryScheduled, state: PlainState) -> None:
        self._end_streams()
        when = f"in {duration(round(event.delay_s * 1000))}" if event.delay_s >= 0.05 else "at once"
        attempt = f"attempt {event.attempt} of {event.max_attempts}"
        self._screen.line(f"Trying again {when} ({attempt}): {one_line(event.reason)}", "warning")

    def _notice(self, event: Notice, state: PlainState) -> None:
        if event.code == "recap-why":
            return  # what a model said and nothing bears out is told by /recap why, to who asks
        self._end_streams()
        mark = {"info": "Note", "warning": "Warning", "error": "Error"}[event.level]
        self._screen.line(f"{mark}: {event.text}", {"info": "dim"}.get(event.level, event.level))

    def _turn(self, event: TurnEnded, state: PlainState) -> None:
        self._end_streams()
        if event.reason != "completed":
            error = f": {event.error}" if event.error else ""
            self._screen.line(f"{ENDINGS[event.reason]}{error}", "error" if event.error else "warning")
        self._screen.line(f"-- {roll_up(event, state)}", "dim")

    def _title(self, event: TitleChanged, state: PlainState) -> None:
        if event.source == "user":
            self._end_streams()
            self._screen.line(f"Title: {one_line(event.title)}", "dim")

    def _recap(self, event: RecapReady, state: PlainState) -> None:
        self._end_streams()
        if event.away:
            self._screen.line(f"While you were away: {one_line(event.away)}")
        self._screen.line(f"Recap: {one_line(event.text)}")

    def _model(self, event: ModelChanged, state: PlainState) -> None:
        self._end_streams()
        why = f" ({one_line(event.reason)})" if event.reason and event.reason != "user" else ""
        self._screen.line(f"Model: {one_line(event.model)}{why}", "dim")

    def _mode(self, event: PermissionModeChanged, state: PlainState) -> None:
        self._end_streams()
        self._screen.line(f"Permission mode: {one_line(event.mode)}", "dim")

    def _effort(self, event: EffortChanged, state: PlainState) -> None:
        self._end_streams()
        self._screen.line(f"Effort: {one_line(event.effort) or 'as the model likes'}", "dim")

    def _rejected(self, event: OpRejected, state: PlainState) -> None:
        self._end_streams()
        self._screen.line(f"Error: {event.reason}", "error")

    def _resolved(self, event: ApprovalResolved, state: PlainState) -> None:
        """Where a rule is kept now, and what a change of the rules settled by itself."""
        if event.saved_in:
            self._end_streams()
            self._screen.line(f"Saved in {one_line(event.saved_in)}; /permissions remove takes it back.", "dim")
        elif event.by == "rule" and any(asked.request_id == event.request_id for asked in state.waiting):
            self._end_streams()
            self._screen.line(f"No longer asked: {event.decision} ({one_line(event.reason)})", "dim")

    def _threshold(self, event: CostThresholdReached, state: PlainState) -> None:
        self._end_streams()
        self._screen.line(
            f"Warning: {money(event.spent_usd)} of the budget of {money(event.budget_usd)} is spent", "warning"
        )

    def _awaited(self, event: ReplyAwaited, state: PlainState) -> None:
        self._end_streams()
        self._screen.line(f"  no answer yet after {duration(round(event.seconds * 1000))}; still waiting", "dim")

    def _taken_back(self, event: PromptWithdrawn, state: PlainState) -> None:
        words = next((item.content for item in state.facts.state.queued if item.prompt_id == event.prompt_id), "")
        self._end_streams()
        self._screen.line(f"Not sent: {clip(one_line(text_of(words)), self._room(10) or 200)}", "warning")

    def _listed(self, event: Event, state: PlainState) -> None:
        for line in answer_lines(event, state.facts, (self._screen.columns or 81) - 1):
            self._end_streams()
            self._screen.line(line, hang="      ")

    def _rewound(self, event: RewindPreviewed | Rewound, state: PlainState) -> None:
        self._end_streams()
        for line in answer_lines(event, state.facts):
            self._screen.line(clip(one_line(line), self._room(0) or 400), "dim" if line.startswith("    ") else "")

    def _compacting(self, event: CompactionStarted, state: PlainState) -> None:
        self._end_streams()
        self._screen.line("Compacting the conversation. Ctrl-C leaves it as it is.", "dim")

    def _section(self, event: SectionKept, state: PlainState) -> None:
        """A sign of life; what is written ahead of need is not told."""
        if state.facts.state.compacting:
            self._end_streams()
            self._screen.line(f"  summarised: {clip(one_line(event.title), self._room(14) or 200)}", "dim")

    def _not_compacted(self, event: CompactionFailed | ColdReturn, state: PlainState) -> None:
        self._end_streams()
        for line in answer_lines(event, state.facts):
            self._screen.line(line, "warning")

    def _shell_output(self, event: ShellProgress, state: PlainState) -> None:
        self._end_streams()
        for line in event.text.splitlines():
            self._screen.line(f"  {one_line(line)}")

    def _shell_ended(self, event: ShellEnded, state: PlainState) -> None:
        """Its output was shown as it came."""
        self._end_streams()
        ended = "stopped" if event.exit_code is None else f"exit code {event.exit_code}"
        self._screen.line(f"! {clip(one_line(event.command), self._room(20) or 200)} · {ended}", "dim")

    def _call(self, event: ToolStarted, state: PlainState) -> None:
        if self._verbose:
            self._end_streams()
            given = msgspec.json.encode(event.call.arguments).decode()
            self._screen.line(f"  {event.call.name} {clip(one_line(given), self._room(4) or 400)}", "dim")

    def _attempt(self, event: AttemptEnded, state: PlainState) -> None:
        if self._verbose:
            used = event.usage
            tokens = f"{used.prompt_tokens:,} in, {used.output_tokens:,} out" if used is not None else "usage unknown"
            self._end_streams()
            words = f"  {event.model} {event.outcome}: {tokens}, {duration(event.api_ms)}"
            self._screen.line(words, "dim")


def one_line(text: str) -> str:
    """Untrusted text for the middle of a line."""
    return sanitize(text, one_line=True)


def roll_up(event: TurnEnded, state: PlainState) -> str:
    """What a turn did, its time, cost and steps, in one line. How it ended is told on a line of its own."""
    told = turn_line(state.turn_deeds, reason="completed", duration_ms=event.duration_ms, cost_usd=event.cost_usd)
    return f"{told} · {count(event.steps, 'step')}" if event.steps > 1 else told
