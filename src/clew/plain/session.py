"""The conversation at a terminal: events, keys and signals in one queue, handled one after the other."""

import asyncio
from collections import deque
from typing import Any, Literal

from clew.commands.base import CommandContext
from clew.commands.registry import as_prompt, completions, is_command, run_command
from clew.composing.ctrl_c import Situation, meaning_of
from clew.composing.history import History
from clew.composing.images import ImageProblem, attach
from clew.orient.away import Away, ended, noticed
from clew.plain.asking import NOBODY, Asking
from clew.plain.compose import Composer
from clew.plain.editor import Editor
from clew.plain.keys_help import KEYS
from clew.plain.options import PlainOptions
from clew.plain.render import Renderer
from clew.plain.screen import Screen
from clew.plain.state import PlainState, fold
from clew.plain.terminal import Terminal
from clew.plain.typing import Bad, EditedInput, End, Line, LineInput
from clew.presentation.client_link import ClientLink
from clew.protocol.client import Client
from clew.protocol.events import (
    Envelope,
    Event,
    OpRejected,
    PromptAccepted,
    PromptOffered,
    RecapReady,
    SessionEnded,
    ShellEnded,
    SnapshotTaken,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.ops import Close, Interrupt, Op, Remember, RequestRecap, RunShell, SubmitPrompt

Kind = Literal["event", "bytes", "interrupt", "terminate", "resumed", "guard", "slow", "settle", "over"]

PROMPT = "> "
MORE = "... "
STEER = "to the agent > "
MAX_QUEUED_LINES = 1000
EXIT_INTERRUPTED = 130
STUCK_S = 1.0
"""How long closing may take before another Ctrl-C leaves without it."""


class PlainSession:
    """Talks to one Client through one Terminal until either of them ends it."""

    def __init__(self, client: Client, terminal: Terminal, options: PlainOptions) -> None:
        self._terminal = terminal
        self._options = options
        self._inbox: asyncio.Queue[tuple[Kind, Any]] = asyncio.Queue()
        self._link = ClientLink(
            client, on_event=lambda event: self.post("event", event), on_end=lambda: self.post("over")
        )
        self._history = History(options.home)
        self._editor = Editor(lambda: self._history.items, completions)
        self._screen = Screen(terminal, self._editor)
        self._renderer = Renderer(self._screen, show_reasoning=options.show_reasoning, verbose=options.verbose)
        self._asking = Asking(
            terminal, self._screen, self._editor, guard_s=options.guard_s, wake=lambda: self.post("guard")
        )
        self._input = (
            EditedInput(self._editor, self._screen) if terminal.editing else LineInput(interactive=terminal.interactive)
        )
        self._composer = Composer()
        self._state = PlainState()
        self._away = Away()
        self._queued: deque[Line | Bad] = deque()
        self._input_ended = False
        self._expecting_turn = False
        """A prompt or a command was sent that has not started yet."""
        self._last_interrupt = float("-inf")
        self._last_input = ""
        self._closing = False
        self._closed_at = 0.0
        self._abandoned = False
        """The person did not want to wait for the end."""
        self._code = 0
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
            if self._closing and not self._abandoned:
                await self._link.finish(self._options.close_timeout_s)
        finally:
            self._screen.hide_input()
            self._screen.finish()
            self._terminal.end()
            await self._link.stop()
        return self._exit

    def _handle(self, kind: Kind, payload: Any) -> None:
        match kind:
            case "event":
                self._on_event(payload)
            case "bytes":
                self._on_bytes(payload)
            case "interrupt":
                self._on_interrupt()
            case "terminate":
                self._close(EXIT_INTERRUPTED)
            case "resumed":
                self._terminal.keys(raw=self._terminal.editing)
                self._screen.reset()
            case "guard":
                self._asking.check_guard()
            case "slow":
                self._renderer.still_running(payload, self._state)
            case "settle":
                pass
            case "over":
                self._exit = self._code

    def _on_event(self, envelope: Envelope) -> None:
        self._renderer.show(envelope, self._state)
        first = not self._state.facts.session_id
        self._state = fold(envelope, self._state)
        if envelope.agent == MAIN_AGENT:
            self._follow(envelope.event)
        if first:
            self._begin()

    def _follow(self, event: Event) -> None:
        """What the main agent's events mean for the line that is typed."""
        match event:
            case ToolStarted():
                loop = asyncio.get_running_loop()
                loop.call_later(self._options.slow_call_s, self.post, "slow", event.call.id)
            case SnapshotTaken():
                self._away = self._away.opened(event.state.turns)
            case PromptAccepted(hidden=False, queued=False):
                self._away = self._away.prompted()
            case PromptOffered() if not self._unsent():
                self._editor.set(event.text)
            case TurnStarted():
                self._away = self._away.began()
            case RecapReady():
                self._away = self._away.shown()
            case TurnEnded() | OpRejected() | ShellEnded():
                self._expecting_turn = False
                if isinstance(event, TurnEnded):
                    self._reveal(*ended(self._away, unsent=self._unsent()))
            case SessionEnded():
                facts = self._state.facts
                if facts.state.turns and facts.kept:
                    # Not broken into rows: it is there to be copied.
                    self._screen.text(f"Continue with: clew --resume {facts.session_id}")
                if event.reason != "switched":
                    self._exit = self._code
            case _:
                pass

    def _begin(self) -> None:
        """The session is there: what was asked on the command line is shown and sent."""
        if self._options.prompt and not self._closing:
            self._screen.text(f"{PROMPT}{self._options.prompt}")
            self._submit(self._options.prompt)

    def _settle(self) -> None:
        """After everything that happened: the right thing is asked, the right line is open."""
        if self._screen.gone:
            self._close(0)
        if self._closing:
            return
        self._asking.follow(self._state)
        while self._asking.active and not self._can_answer():
            self._send(self._asking.decline("Nobody can answer here. Taken as no.", NOBODY, stop=False, by="nobody"))
            self._asking.follow(self._state)
        if self._asking.active:
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
            self._screen.open_input(MORE if self._composer.pending else PROMPT)

    def _steer_line(self) -> None:
        """While the agent works the line appears with its first key, and goes when it is empty."""
        if self._editor.cells or self._composer.pending:
            self._screen.open_input(MORE if self._composer.pending else STEER)
        else:
            self._screen.hide_input()

    def _end_of_pipe(self) -> None:
        rest = self._composer.rest()
        if rest and rest.strip():
            self._on_input(rest)
            self.post("settle")
            return
        reason = self._state.facts.state.last_reason
        outcome = EXIT_INTERRUPTED if reason == "interrupted" else 0 if reason in ("", "completed") else 1
        self._close(self._code or outcome)

    def _can_answer(self) -> bool:
        return not self._input_ended and len(self._queued) < MAX_QUEUED_LINES

    def _busy(self) -> bool:
        state = self._state.facts.state
        return (
            state.working
            or state.compacting
            or bool(state.typed)
            or self._expecting_turn
            or not self._state.facts.session_id
        )

    def _unsent(self) -> bool:
        return bool(self._editor.cells) or self._composer.pending or self._asking.active

    def _reveal(self, away: Away, show: bool) -> None:
        """Somebody is back after a while: tell where things stand."""
        self._away = away
        if show:
            self._send(RequestRecap())

    def _on_bytes(self, data: bytes) -> None:
        if self._terminal.interactive and data and self._options.away_s:
            now_s = asyncio.get_running_loop().time()
            here = noticed(self._away, "typed", now_s, unsent=self._unsent(), away_s=self._options.away_s)
            self._reveal(*here)
        if self._asking.guarded and self._terminal.interactive and data:
            self._input.reset()
            self._asking.key_dropped()
            return
        for typed in self._input.feed(data):
            if isinstance(typed, End):
                self._on_end(typed)
            elif self._takes_input():
                self._on_line(typed)
            else:
                self._queued.append(typed)
            if self._terminal.interactive:
                self._settle()
                if self._closing or self._asking.guarded:
                    # The rest of this chunk was typed before the question that has just appeared.
                    return
        if not self._terminal.interactive and len(self._queued) >= MAX_QUEUED_LINES:
            self._terminal.hold(paused=True)

    def _takes_input(self) -> bool:
        """A person may always type; a pipe's next line waits for the turn of the one before."""
        if self._asking.active:
            return not self._asking.guarded
        return self._terminal.interactive or not (self._busy() or self._queued)

    def _on_line(self, typed: Line | Bad) -> None:
        if isinstance(typed, Bad):
            self._screen.line(f"Error: {typed.note}", "error")
            self._code = 0 if self._terminal.interactive else 1
            return
        if not self._terminal.interactive and not self._asking.active:
            self._screen.open_input(MORE if self._composer.pending else PROMPT)
        if self._terminal.editing and not self._screen.input_open and typed.text:
            # Typed and sent at one stroke while the agent works: the line was never drawn.
            self._screen.line(f"{STEER}{typed.text}")
        self._screen.close_input(None if self._terminal.interactive else typed.text)
        if self._asking.active:
            op = self._asking.reply(typed.text)
            if op is not None:
                self._send(op)
                self._asking.follow(self._state)
            return
        whole = self._composer.add(typed.text)
        if whole is not None and whole.strip():
            self._on_input(whole)

    def _on_input(self, text: str) -> None:
        self._history.add(text)
        again, self._last_input = self._last_input == text, text
        if not is_command(text):
            self._say(text)
            return
        result = run_command(text, CommandContext(facts=self._state.facts, again=again, keys=KEYS))
        for line in result.lines:
            self._screen.line(line, "error" if result.is_error else "", hang="      ")
        for op in result.ops:
            self._send(op)
        if result.copy and not self._screen.copy(result.copy):
            self._screen.line("The clipboard cannot be reached from here; the text:", "warning")
            self._screen.text(result.copy)
        if result.leave:
            self._close(0)

    def _say(self, text: str) -> None:
        """A command of one's own, a line to remember, or words for the agent."""
        if text.startswith("!") and text[1:].strip():
            self._expecting_turn = self._expecting_turn or not self._state.working
            self._send(RunShell(command=text[1:].strip()))
        elif text.startswith("#") and text[1:].strip() and "\n" not in text.strip():
            self._send(Remember(line=text[1:].strip()))
        else:
            self._submit(as_prompt(text))

    def _submit(self, text: str) -> None:
        try:
            sent = attach(text, self._state.facts.cwd)
        except ImageProblem as problem:
            self._screen.line(f"{problem} Nothing was sent.", "error")
            return
        for note in sent.notes:
            self._screen.line(note, "dim")
        self._expecting_turn = self._expecting_turn or not self._state.working
        self._send(SubmitPrompt(content=sent.content))

    def _send(self, op: Op) -> None:
        if not self._closing:
            self._link.send(op)

    def _on_end(self, end: End) -> None:
        """Ctrl-D quits when nothing runs. A pipe that ended still gets the answers to its lines."""
        if not end.final and self._busy() and not self._asking.active:
            self._screen.line("(the agent still works: Ctrl-C interrupts it)", "dim")
            return
        if not end.final and self._asking.active:
            self._screen.line("(answer the question, or Ctrl-C for no)", "dim")
            return
        self._input_ended = True
        if self._terminal.interactive:
            self._close(0)

    def _on_interrupt(self) -> None:
        now = asyncio.get_running_loop().time()
        situation = Situation(
            closing=self._closing,
            stuck=self._closing and now - self._closed_at >= STUCK_S,
            again=now - self._last_interrupt <= self._options.quit_window_s,
            asking=self._asking.active,
            busy=self._busy(),
            interactive=self._terminal.interactive,
            typed=bool(self._editor.cells) or self._composer.pending,
        )
        self._last_interrupt = now
        match meaning_of(situation):
            case "wait":
                pass
            case "abandon":
                self._abandoned = True
                self._exit = EXIT_INTERRUPTED
            case "quit":
                self._close(EXIT_INTERRUPTED)
            case "deny":
                self._send(self._asking.decline("Denied, and interrupted.", "", stop=True))
                self._asking.give_up(self._state)
                self._send(Interrupt())
            case "interrupt":
                self._screen.line("Interrupting. Ctrl-C again quits.", "warning")
                self._send(Interrupt())
            case "clear":
                self._screen.close_input()
                self._editor.set("")
                self._composer.clear()
                self._last_interrupt = float("-inf")
            case "warn":
                self._screen.line("(Ctrl-C again quits; so does Ctrl-D)", "dim")

    def _close(self, code: int) -> None:
        """Ask the session to end; SessionEnded, the timeout or another Ctrl-C ends the loop."""
        if self._closing:
            return
        self._send(Close())
        self._closing = True
        self._closed_at = asyncio.get_running_loop().time()
        self._code = code
        self._screen.hide_input()
        asyncio.get_running_loop().call_later(self._options.close_timeout_s, self.post, "over")
