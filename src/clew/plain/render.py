"""Events into lines on the screen: streamed words, one label per tool call, notices, one line per turn."""

from collections.abc import Callable
from typing import Any

from clew.commands.figures import change, count, duration, money, shown_path
from clew.plain.labels import call_line, denied_label, running_label
from clew.plain.screen import Screen
from clew.plain.state import PlainState
from clew.protocol.events import (
    Event,
    ModelChanged,
    Notice,
    PartCompleted,
    PermissionModeChanged,
    PromptAccepted,
    ReasoningDelta,
    RecapReady,
    ReplyWithdrawn,
    RetryScheduled,
    SessionStarted,
    TextDelta,
    TitleChanged,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId
from clew.protocol.messages import TextPart, text_of
from clew.system.terminal_text import StreamSanitizer, clip, sanitize

ENDINGS = {
    "interrupted": "Interrupted",
    "max_turns": "Stopped: the step limit is reached",
    "max_budget": "Stopped: the budget is spent",
    "prompt_too_long": "Stopped: the conversation no longer fits the model",
    "output_limit": "Stopped: the answer is longer than the model may write",
    "model_error": "Stopped by an error",
    "stopped_by_denial": "Stopped by your no",
}


class Renderer:
    """Shows each event once. What sub-agents say stays with them; what they do is told with their name."""

    def __init__(self, screen: Screen, *, show_reasoning: bool = False) -> None:
        self._screen = screen
        self._show_reasoning = show_reasoning
        self._stream: StreamSanitizer | None = None
        self._message = ""
        self._begun = False
        self._words: list[str] = []
        """What was streamed of this message and is in no completed part yet."""
        self._thinking: StreamSanitizer | None = None
        self._handlers: dict[type[Any], Callable[[Any, PlainState], None]] = {
            SessionStarted: self._started,
            PromptAccepted: self._accepted,
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            PartCompleted: self._part,
            ReplyWithdrawn: self._withdrawn,
            ToolEnded: self._tool,
            RetryScheduled: self._retry,
            Notice: self._notice,
            TurnEnded: self._turn,
            TitleChanged: self._title,
            RecapReady: self._recap,
            ModelChanged: self._model,
            PermissionModeChanged: self._mode,
        }

    def show(self, event: Event, state: PlainState) -> None:
        """`state` is the one before the event was folded in."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event, state)

    def still_running(self, call_id: CallId, state: PlainState) -> None:
        """Tell that a slow call goes on."""
        call = state.call(call_id)
        if call is not None:
            self._end_streams()
            self._screen.line("  " + running_label(call, state.facts.cwd).text(self._room(2)), "dim")

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
        if event.agent != MAIN_AGENT:
            return
        if self._thinking is not None:
            self._end_streams()
        if self._stream is None:
            self._stream = StreamSanitizer()
        if self._message != event.message_id:
            self._message, self._words, self._begun = event.message_id, [], False
        self._words.append(event.text)
        text = self._stream.feed(event.text)
        if not self._begun:
            # Some models begin with blank lines.
            text = text.lstrip("\n")
            self._begun = bool(text)
        self._screen.stream(text)

    def _reasoning(self, event: ReasoningDelta, state: PlainState) -> None:
        if event.agent != MAIN_AGENT or not self._show_reasoning:
            return
        if self._thinking is None:
            self._end_streams()
            self._screen.line("Thinking:", "dim")
            self._thinking = StreamSanitizer()
        self._screen.stream(self._thinking.feed(event.text))

    def _part(self, event: PartCompleted, state: PlainState) -> None:
        if event.agent != MAIN_AGENT or not isinstance(event.part, TextPart):
            return
        self._end_streams()
        text = event.part.text.strip("\n")
        streamed = "".join(self._words) if self._message == event.message_id else ""
        if text and text in streamed:
            # Words of the next part may have been streamed before this one was told to be complete.
            self._words = [streamed.replace(text, "", 1)]
        elif text:
            self._screen.text(text)

    def _end_streams(self) -> None:
        for stream in (self._stream, self._thinking):
            if stream is not None:
                self._screen.stream(stream.flush())
        self._stream = self._thinking = None
        self._screen.finish()

    def _withdrawn(self, event: ReplyWithdrawn, state: PlainState) -> None:
        self._end_streams()
        self._message = ""
        self._screen.line(f"[the reply above does not count: {one_line(event.reason)}]", "warning")

    def _tool(self, event: ToolEnded, state: PlainState) -> None:
        self._end_streams()
        who = agent_mark(event.agent)
        call = state.call(event.result.call_id)
        denied = state.denied.get(event.result.call_id)
        room = self._room(2 + len(who))
        if denied is None:
            label = call_line(event, call, state.facts.cwd, room)
        else:
            label = denied_label(event.name, call, denied, state.facts.cwd).text(room)
        self._screen.line(f"* {who}{label}", "error" if event.result.is_error else "dim")

    def _retry(self, event: RetryScheduled, state: PlainState) -> None:
        self._end_streams()
        when = f"in {duration(round(event.delay_s * 1000))}" if event.delay_s >= 0.05 else "at once"
        attempt = f"attempt {event.attempt} of {event.max_attempts}"
        self._screen.line(f"Trying again {when} ({attempt}): {one_line(event.reason)}", "warning")

    def _notice(self, event: Notice, state: PlainState) -> None:
        self._end_streams()
        mark = {"info": "Note", "warning": "Warning", "error": "Error"}[event.level]
        self._screen.line(f"{mark}: {event.text}", {"info": "dim"}.get(event.level, event.level))

    def _turn(self, event: TurnEnded, state: PlainState) -> None:
        if event.agent != MAIN_AGENT:
            return
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


def one_line(text: str) -> str:
    """Untrusted text for the middle of a line."""
    return sanitize(text, one_line=True)


def agent_mark(agent: AgentId) -> str:
    """Who did it, unless it was the main agent."""
    return "" if agent == MAIN_AGENT else f"[{one_line(agent)}] "


def roll_up(event: TurnEnded, state: PlainState) -> str:
    """Time, cost, files and commands of a turn, in one line."""
    parts = [duration(event.duration_ms)]
    if event.cost_usd is not None:
        parts.append(money(event.cost_usd))
    files = state.turn_files
    if files:
        lines = change(sum(item.added for item in files), sum(item.removed for item in files))
        name = shown_path(files[0].path, state.facts.cwd) if len(files) == 1 else count(len(files), "file")
        parts.append(f"{one_line(name)} {lines}")
    if state.turn_commands:
        parts.append(count(state.turn_commands, "command"))
    if event.steps > 1:
        parts.append(count(event.steps, "step"))
    return " · ".join(parts)
