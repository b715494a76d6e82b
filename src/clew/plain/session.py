"""The conversation at a terminal: events, keys and signals in one queue, handled one after the other."""

import asyncio
from collections import deque
from typing import Any, Literal

from msgspec.structs import replace

from clew.composing.history import History
from clew.plain.dialogs.ask_queue import NOBODY, AskQueue
from clew.plain.line.editor import Editor
from clew.plain.line.prompt_line import PROMPT, STEER, PromptLine
from clew.plain.line.screen import Screen
from clew.plain.line.terminal import Terminal
from clew.plain.line.typed_lines import Bad, End, EnteredLine, Pressed, Typed
from clew.plain.liveness import Liveness
from clew.plain.lookups import Looking
from clew.plain.options import PlainOptions
from clew.plain.presence import LinePresence
from clew.plain.render import Renderer
from clew.plain.stop_keys import EXIT_INTERRUPTED, LineStop
from clew.presentation.client_link import ClientLink
from clew.presentation.status import farewell
from clew.presentation.story.story import LATE, Story
from clew.presentation.story.telling import told
from clew.protocol.client import Client
from clew.protocol.events import (
    Envelope,
    Event,
    OpRejected,
    PromptOffered,
    PromptWithdrawn,
    SessionEnded,
    SessionStarted,
    ShellEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.ops import Op, RunShell, SubmitPrompt

Signal = Literal["interrupt", "terminate", "resumed"]
Due = Literal["guard", "slow", "escape", "pulse", "wait", "settle", "over"]
Kind = Literal["event", "answer", "bytes"] | Signal | Due

MAX_QUEUED_LINES = 1000


class PlainSession:
    """Talks to one Client through one Terminal until either of them ends it."""

    def __init__(self, client: Client, terminal: Terminal, options: PlainOptions) -> None:
        self._terminal = terminal
        self._options = options
        self._inbox: asyncio.Queue[tuple[Kind, Any]] = asyncio.Queue()
        self._link = ClientLink(
            client, on_event=lambda event: self.post("event", event), on_end=lambda: self.post("over")
        )
        history = History(options.home)
        self._editor = Editor(lambda: history.items)
        self._screen = Screen(terminal, self._editor, env=options.env, home=options.home)
        self._live = terminal.editing and not options.reduced_motion
        self._renderer = Renderer(
            self._screen,
            show_reasoning=options.show_reasoning,
            verbose=options.verbose,
            alive=self._live,
            density=options.density,
            tools=options.tools,
        )
        self._looking = Looking(
            self._link,
            self._renderer,
            post=lambda deed: self.post("answer", deed),
            story=lambda: self._story,
            put=self._put_story,
        )
        self._liveness = Liveness(self._screen, enabled=self._live)
        self._asking = AskQueue(
            terminal,
            self._screen,
            self._editor,
            self._send,
            self._looking.ask,
            guard_s=options.guard_s,
            wake=lambda: self.post("guard"),
        )
        self._line = PromptLine(
            terminal,
            self._screen,
            self._editor,
            history,
            story=lambda: self._story,
            send=self._submit,
            look_up=self._looking.ask,
            show=self._renderer.put,
            leave=lambda: self._stopping.close(0),
        )
        self._stopping = LineStop(
            self._screen,
            self._asking,
            window_s=options.quit_window_s,
            interactive=terminal.interactive,
            story=lambda: self._story,
            busy=self._busy,
            typed=lambda: self._line.begun,
            clear=self._line.clear,
            hint=self._liveness.hint,
            send=self._send,
            closed=lambda: asyncio.get_running_loop().call_later(options.close_timeout_s, self.post, "over"),
        )
        self._presence = LinePresence(
            terminal, self._screen, options, unsent=lambda: self._line.begun or self._asking.active, send=self._send
        )
        self._story = Story()
        self._queued: deque[EnteredLine | Bad] = deque()
        self._input_ended = False
        self._expecting_turn = False
        """A prompt was sent whose turn has not started yet."""
        self._timers: set[Kind] = set()
        self._heard = 0
        """Counts what arrived, so that a timer knows whether something came since."""
        self._exit: int | None = None

    def post(self, kind: Kind, payload: Any = None) -> None:
        """Add something to handle; from the loop's own thread."""
        self._inbox.put_nowait((kind, payload))

    async def run(self) -> int:
        """Until the session ended; the exit code."""
        self._link.start()
        self._terminal.begin(lambda data: self.post("bytes", data))
        try:
            while self._exit is None:
                self._handle(*await self._inbox.get())
                self._link.check()
                if self._exit is None:
                    self._settle()
                if self._inbox.empty():
                    self._screen.redraw_input()
            if self._stopping.closing and not self._stopping.abandoned:
                await self._link.finish(self._options.close_timeout_s)
        finally:
            self._screen.end()
            self._terminal.end()
            await self._link.stop()
        return self._exit

    def _handle(self, kind: Kind, payload: Any) -> None:
        match kind:
            case "event":
                self._on_event(payload)
            case "answer":
                self._looking.take(payload)
            case "bytes":
                self._on_bytes(payload)
            case "interrupt":
                self._stopping.ctrl_c()
                self._exit = EXIT_INTERRUPTED if self._stopping.abandoned else self._exit
            case "terminate":
                self._stopping.close(EXIT_INTERRUPTED)
            case "resumed":
                self._terminal.keys(raw=self._terminal.editing)
                self._screen.reset()
            case "guard":
                self._asking.check_guard()
            case "slow":
                self._renderer.still_running(payload, self._story)
            case "escape":
                self._on_escape(payload)
            case "pulse":
                self._timers.discard(kind)
                self._beat(due=True)
            case "wait":
                self._on_wait(payload)
            case "settle":
                pass
            case "over":
                self._exit = self._stopping.code

    def _on_event(self, envelope: Envelope) -> None:
        event = envelope.event
        self._heard += 1
        if isinstance(event, PromptWithdrawn) and self._line.knows_of(event):
            self._story = told(envelope, self._story)
            return
        before, first = self._story, not self._story.facts.session_id
        self._story = told(envelope, before)
        self._renderer.show(envelope, before, self._story)
        if envelope.agent == MAIN_AGENT:
            self._follow(event)
        if first:
            self._begin()
        if self._renderer.streaming:
            self._later("wait", self._options.wait_s)

    def _follow(self, event: Event) -> None:
        """What the main agent's events mean for the line that is typed."""
        self._presence.follow(event)
        match event:
            case ToolStarted():
                loop = asyncio.get_running_loop()
                loop.call_later(self._options.slow_call_s, self.post, "slow", event.call.id)
            case SessionStarted(resumed=True) if self._terminal.interactive:
                self._looking.ask_last_exchange()
            case PromptOffered() if not self._asking.active:
                self._line.offer(event.text)
            case TurnStarted() | ShellEnded():
                self._stopping.interrupted = False
                self._expecting_turn = self._expecting_turn and isinstance(event, TurnStarted)
            case TurnEnded():
                self._expecting_turn = self._stopping.interrupted = False
                self._story = replace(self._story, past=self._story.past[-LATE:])
            case OpRejected():
                self._expecting_turn = False
            case SessionEnded():
                self._renderer.finish()
                if words := farewell(event, self._story.facts):
                    self._screen.text(words)  # not broken into rows: it is there to be copied
                if event.reason != "switched":
                    self._exit = self._stopping.code
            case _:
                pass

    def _put_story(self, story: Story) -> None:
        self._story = story

    def _begin(self) -> None:
        """The session is there: what was asked on the command line is shown and sent."""
        if self._options.prompt and not self._stopping.closing:
            self._screen.text(f"{PROMPT}{self._options.prompt}")
            self._submit(SubmitPrompt(content=self._options.prompt))

    def _settle(self) -> None:
        """After everything that happened: the right thing is asked, the right line is open."""
        if self._screen.gone:
            self._stopping.close(0)
        if self._stopping.closing:
            self._screen.show_status(())
            return
        self._asking.follow(self._story)
        while self._asking.active and not self._can_answer():
            self._asking.decline("Nobody can answer here. Taken as no.", NOBODY, stop=False, by="nobody")
            self._asking.follow(self._story)
        self._beat()
        if self._asking.active:
            self._line.put_aside()
            if not self._asking.guarded:
                self._screen.open_input(self._asking.prompt)
        elif self._busy():
            self._steer_line()
        elif self._queued:
            # One line at a time: what it starts may have to end before the next one is taken.
            self._terminal.hold(paused=False)
            self._on_line(self._queued.popleft())
            self.post("settle")
        elif self._input_ended:
            self._end_of_pipe()
        else:
            self._screen.open_input(self._line.mark(PROMPT))

    def _steer_line(self) -> None:
        """While the agent works the line appears with its first key, and goes when it is empty."""
        if self._line.wanted:
            self._screen.open_input(self._line.mark(STEER))
        else:
            self._screen.hide_input()

    def _beat(self, *, due: bool = False) -> None:
        """The sign of life follows what goes on, and once in a while by itself."""
        alive = self._liveness.follow(
            self._story, stopping=self._stopping.interrupted, asking=self._asking.active, due=due
        )
        if alive:
            self._later("pulse", self._options.pulse_s)

    def _later(self, kind: Kind, delay_s: float) -> None:
        """One timer of a kind at a time."""
        if kind not in self._timers:
            self._timers.add(kind)
            asyncio.get_running_loop().call_later(delay_s, self.post, kind, self._heard)

    def _on_wait(self, heard: int) -> None:
        """Rows that are drawn anew show words at once; elsewhere they are shown when nothing comes any more."""
        self._timers.discard("wait")
        if not self._terminal.interactive or not self._renderer.streaming:
            return
        if self._live or heard == self._heard:
            self._renderer.wait_over(live=self._terminal.editing)
        else:
            self._later("wait", self._options.wait_s)

    def _end_of_pipe(self) -> None:
        if self._line.take_rest():
            self.post("settle")
            return
        reason = self._story.facts.state.last_reason
        outcome = EXIT_INTERRUPTED if reason == "interrupted" else 0 if reason in ("", "completed") else 1
        self._stopping.close(self._stopping.code or outcome)

    def _can_answer(self) -> bool:
        return not self._input_ended and len(self._queued) < MAX_QUEUED_LINES

    def _busy(self) -> bool:
        waits = self._expecting_turn or self._looking.returning or not self._story.facts.session_id
        if self._looking.waiting and not self._terminal.interactive:
            return True  # the next line of a pipe may count on what this one does
        return self._story.working or waits or bool(self._story.facts.state.typed)

    def _on_bytes(self, data: bytes) -> None:
        if data and not (data := self._presence.typed(data)):
            return
        self._heard += 1
        if self._terminal.interactive and data:
            self._liveness.hint("")
        if self._asking.guarded and self._terminal.interactive and data:
            self._line.reset()
            self._asking.key_dropped()
            return
        for typed in self._line.feed(data):
            if not self._on_typed(typed):
                return
        if self._line.in_doubt:
            asyncio.get_running_loop().call_later(self._options.escape_s, self.post, "escape", self._heard)
        if not self._terminal.interactive and len(self._queued) >= MAX_QUEUED_LINES:
            self._terminal.hold(paused=True)

    def _on_escape(self, heard: int) -> None:
        """Nothing came after an Esc: it was a key of its own."""
        if heard == self._heard or self._line.in_doubt:
            for typed in self._line.settle():
                self._on_typed(typed)

    def _on_typed(self, typed: Typed) -> bool:
        """False: the rest of what arrived with it was typed before the question that has just appeared."""
        if isinstance(typed, End):
            self._on_end(typed)
        elif isinstance(typed, Pressed):
            self._on_pressed(typed.name)
        elif self._takes_input():
            self._on_line(typed)
        else:
            self._queued.append(typed)
        if self._terminal.interactive:
            self._settle()
            return not (self._stopping.closing or self._asking.guarded)
        return True

    def _on_pressed(self, name: str) -> None:
        if name == "escape":
            self._stopping.escape()
        elif not self._asking.active:
            self._line.press(name)

    def _takes_input(self) -> bool:
        """A person may always type; a pipe's next line waits for the turn of the one before."""
        if self._asking.active:
            return not self._asking.guarded
        return self._terminal.interactive or not (self._busy() or self._queued)

    def _on_line(self, typed: EnteredLine | Bad) -> None:
        if isinstance(typed, Bad):
            self._screen.line(f"Error: {typed.note}", "error")
            self._stopping.code = 0 if self._terminal.interactive else 1
            return
        if not self._terminal.interactive and not self._asking.active:
            self._screen.open_input(self._line.mark(PROMPT))
        if self._terminal.editing and not self._screen.input_open and typed.text:
            # Typed and sent at one stroke while the agent works: the line was never drawn.
            self._screen.line(f"{STEER}{typed.text}")
        self._screen.close_input(None if self._terminal.interactive else typed.text)
        if self._asking.active:
            if self._asking.reply(typed.text):
                self._asking.follow(self._story)
            return
        self._line.take(typed.text)

    def _submit(self, op: Op) -> None:
        if isinstance(op, SubmitPrompt | RunShell):
            self._expecting_turn = self._expecting_turn or not self._story.facts.state.working
        self._send(op)

    def _send(self, op: Op) -> None:
        if not self._stopping.closing:
            self._link.send(op)

    def _on_end(self, end: End) -> None:
        """Ctrl-D quits when nothing runs. A pipe that ended still gets the answers to its lines."""
        if not end.final and (self._busy() or self._asking.active):
            asked = "answer the question, or Ctrl-C for no"
            self._screen.line(
                f"({asked if self._asking.active else 'the agent still works: Ctrl-C interrupts it'})", "dim"
            )
            return
        self._input_ended = True
        if self._terminal.interactive:
            self._stopping.close(0)
