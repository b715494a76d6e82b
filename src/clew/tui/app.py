"""The screen: composes its parts and hands events, keys and inputs to whom they concern. It decides nothing itself."""

import time
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from clew.commands.base import CommandContext, CommandResult
from clew.commands.registry import run_command
from clew.composing.keymap import Keymap, KeymapError, load_keymap
from clew.presentation.rows import Row
from clew.presentation.status import activity_row, footer_row, header_row
from clew.protocol.client import Client
from clew.protocol.events import (
    Envelope,
    FilesFound,
    PromptOffered,
    SessionEnded,
    SessionStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import OpId
from clew.protocol.messages import text_of
from clew.protocol.ops import FindFiles, RequestRecap, SetPermissionMode, SubmitPrompt, WithdrawPrompt
from clew.system.terminal_text import sanitize
from clew.tui.commanding import Commanding
from clew.tui.conversation import Conversation
from clew.tui.dialogs.registry import STYLES
from clew.tui.dock import Dock
from clew.tui.find_line import FindLine
from clew.tui.options import ScreenOptions
from clew.tui.presence import Presence
from clew.tui.prompt import Prompt
from clew.tui.prompt_panel import PromptPanel
from clew.tui.reading import Reading
from clew.tui.row_line import RowLine
from clew.tui.stopping import Stopping
from clew.tui.terminal_input import TerminalDriver
from clew.tui.themes import animation, register, theme_for, without_colour
from clew.tui.transcript import Transcript

FLUSH_S = 1 / 20
"""The least time between two drawings of words that stream in."""
HINT_S = 4.0
PULSE_S, SLOW_PULSE_S = 0.25, 1.0
DENSITY_WORDS = {"labels": "a label for each batch", "calls": "each call", "full": "everything"}
SHEETS = [*(Path(__file__).with_name(name) for name in ("app.tcss", "prompt.tcss")), STYLES]


class ClewApp(App[int], inherit_bindings=False):
    """Holds a Client, through the conversation, and nothing else of the machine."""

    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, client: Client, options: ScreenOptions) -> None:
        env = options.env
        super().__init__(driver_class=TerminalDriver, css_path=SHEETS, ansi_color=True if without_colour(env) else None)
        self.options = options
        register(self, theme_for(options.screen.theme, env))
        self.animation_level = animation(env, reduced=options.screen.reduced_motion)
        self.keymap, self._keys_problem = _keymap(options.home)
        self.conversation = Conversation(client, on_change=self._changed, on_end=self._over)
        self.transcript = Transcript()
        self.find = FindLine()
        self._hint = ""
        self._frame = 0
        self.header = RowLine(lambda columns: header_row(self.conversation.story.facts, columns), id="header")
        self.activity = RowLine(self._activity_row, id="activity")
        self.footer = RowLine(
            lambda columns: footer_row(self.conversation.story.facts, columns, hint=self._hint), id="footer"
        )
        self.dock_ = Dock(PromptPanel(home=options.home, keymap=self.keymap), send=self.conversation.send)
        self.stopping = Stopping(
            self.conversation,
            self.dock_,
            window_s=options.quit_window_s,
            now_s=time.monotonic,
            hint=self.hint,
            leave=self.leave,
        )
        self.presence = Presence(
            away_s=options.away_s,
            notifications=options.screen.notifications,
            env=env,
            write=self.write_raw,
            want_recap=lambda: self.conversation.send(RequestRecap()),
            unsent=lambda: not self.prompt.is_blank or self.dock_.asking,
        )
        self.commanding = Commanding(
            self.conversation, context=self._command_context, effect=self._carry_out, open_help=self.open_help
        )
        self.reading = Reading(self.transcript, self.find, self.keymap, leave=self._to_prompt, hint=self.hint)
        self._pulse: Timer | None = None
        self._next_draw: Timer | None = None
        self._flushed_at = 0.0
        self._hint_timer: Timer | None = None
        self._begun = False
        self.session_id = ""
        """What to continue with, when it is over."""
        self.fault: Exception | None = None

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.dock_.panel.prompt

    def compose(self) -> ComposeResult:
        """From the top."""
        yield self.header
        yield self.transcript
        yield self.activity
        yield self.find
        yield self.dock_
        yield self.footer

    def on_mount(self) -> None:
        """Listen, and be ready to type."""
        screen = self.options.screen
        self.transcript.viewport.density = screen.density
        self.transcript.viewport.tools = dict(screen.tools)
        self.transcript.viewport.reasoning = screen.reasoning
        self.theme_changed_signal.subscribe(self, lambda _: self._recolour())
        self.prompt.focus()
        self.conversation.link.start()
        if self._keys_problem:
            self.conversation.remark((self._keys_problem,), is_error=True)

    # The session.

    def _changed(self, envelope: Envelope, asked: bool) -> None:
        """An event came; the story has it already."""
        event = envelope.event
        story = self.conversation.story
        match event:
            case SessionStarted():
                self.prompt.project = event.cwd
                if self.options.prompt and not self._begun:
                    self.conversation.send(SubmitPrompt(content=self.options.prompt))
                self._begun = True
            case PromptOffered():
                self._offer(event.text)
            case FilesFound():
                self.prompt.show_files(event.query, event.rows)
            case TurnStarted() | TurnEnded():
                self.stopping.interrupted = False
            case SessionEnded() if event.reason != "switched":
                self.session_id = story.facts.session_id if story.facts.state.turns and story.facts.kept else ""
                self.leave(self.stopping.code)
            case _:
                pass
        self.dock_.follow(event, story, asked=asked)
        self.presence.follow(envelope, story)
        self.prompt.queued = bool(story.facts.state.queued)
        self._beat()
        self._draw_soon()

    def _over(self) -> None:
        """The events are over, or a direction failed."""
        try:
            self.conversation.link.check()
        except Exception as fault:  # the boundary of the link's tasks: told when the screen is gone
            self.fault = fault
            self.leave(1)
            return
        self.leave(self.stopping.code)

    def leave(self, code: int) -> None:
        """End the screen."""
        self.presence.restore()
        self.exit(code)

    # Drawing.

    def _draw_soon(self) -> None:
        """At once after a pause, then at most so often."""
        if self._next_draw is not None:
            return
        wait = self._flushed_at + FLUSH_S - time.monotonic()
        if wait <= 0:
            self._draw()
        else:
            self._next_draw = self.set_timer(wait, self._draw)

    def _draw(self) -> None:
        self._next_draw = None
        self._flushed_at = time.monotonic()
        if self.transcript.viewport.following:
            self.conversation.trim()
        story = self.conversation.story
        self.transcript.show(story.past, story.now)
        for line in (self.header, self.activity, self.footer):
            line.changed()

    def _activity_row(self, columns: int) -> Row:
        return activity_row(
            self.conversation.story.activity,
            columns,
            now_s=time.time(),
            frame=self._frame,
            stopping=self.stopping.interrupted,
        )

    def _footer_row(self, columns: int) -> Row:
        return footer_row(self.conversation.story.facts, columns, hint=self._hint)

    def _beat(self) -> None:
        """A pulse while something goes on, slower when nobody looks; none at rest."""
        alive = self.conversation.story.activity.doing != "idle"
        if alive and self._pulse is None:
            moving = self.presence.focused and self.animation_level != "none"
            self._pulse = self.set_timer(PULSE_S if moving else SLOW_PULSE_S, self._pulsed)
        elif not alive and self._pulse is not None:
            self._pulse.stop()
            self._pulse = None

    def _pulsed(self) -> None:
        self._pulse = None
        self._frame += self.animation_level != "none"
        self.activity.changed()
        self._beat()

    def hint(self, words: str) -> None:
        """A word in the footer to what was just done; it goes by itself."""
        self._hint = words
        if self._hint_timer is not None:
            self._hint_timer.stop()
        self._hint_timer = self.set_timer(HINT_S, lambda: self.hint("")) if words else None
        self.footer.changed()

    def _recolour(self) -> None:
        self.transcript.recolour()
        for line in (self.header, self.activity, self.footer):
            line.recolour()

    def write_raw(self, codes: str) -> None:
        """Codes for the terminal's frame; our own words only."""
        if self._driver is not None:
            self._driver.write(codes)

    # Keys.

    def on_key(self, event: events.Key) -> None:
        """What no widget took."""
        self.presence.sign("typed", time.monotonic())
        if self.transcript.has_focus and self.reading.press(event.key, event.character):
            event.stop()
            event.prevent_default()
            return
        action = self.keymap.action(("everywhere",), (event.key,))
        if action is not None:
            event.stop()
            event.prevent_default()
            self._do(action)
        elif self.transcript.has_focus and not self.transcript.reading:
            self._to_prompt()

    def _do(self, action: str) -> None:
        match action:
            case "interrupt":
                self.stopping.escape()
            case "quit":
                self.stopping.ctrl_c()
            case "leave":
                self.stopping.ctrl_d()
            case "cycle_mode":
                self.conversation.send(SetPermissionMode(mode=next_mode(self.conversation.story.facts.permission_mode)))
            case "suspend":
                self.action_suspend_process()
            case "redraw":
                self.write_raw("\x1b[2J")
                self.refresh(layout=True)
            case "help":
                self.open_help()
            case "density":
                self.hint(f"showing {DENSITY_WORDS[self.transcript.cycle_density()]}")
            case "reasoning":
                shown = not self.transcript.viewport.reasoning
                self.transcript.show_reasoning(shown=shown)
                self.hint("reasoning shown" if shown else "reasoning folded")
            case "read":
                self.reading.begin()
            case "find":
                self.reading.find()
            case _:
                pass

    def _offer(self, text: str) -> None:
        """Words to be sent as they are, unless something is typed already."""
        if self.prompt.is_blank:
            self.prompt.set_text(text)
            self.prompt.completing.close()

    def _to_prompt(self) -> None:
        if not self.dock_.asking:
            self.prompt.focus()

    def on_find_line_given(self, event: FindLine.Given) -> None:
        """Words to search for."""
        self.reading.found(event.words)

    def on_app_focus(self) -> None:
        """The terminal has the focus."""
        self.presence.sign("back", time.monotonic())

    def on_app_blur(self) -> None:
        """It lost it."""
        self.presence.sign("left", time.monotonic())

    # Inputs.

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        """Something was sent off."""
        self.transcript.to_end()
        self.commanding.take(event.entry)
        self._draw_soon()

    def on_prompt_refused(self, event: Prompt.Refused) -> None:
        """It could not be sent."""
        self.hint(event.reason)

    def on_prompt_completion_wanted(self, event: Prompt.CompletionWanted) -> None:
        """Files that fit."""
        self.conversation.send(FindFiles(op_id=OpId("files"), query=event.query))

    def on_prompt_queued_wanted(self, event: Prompt.QueuedWanted) -> None:
        """Take the last queued prompt back."""
        queued = self.conversation.story.facts.state.queued
        if queued:
            self.conversation.send(WithdrawPrompt(prompt_id=queued[-1].prompt_id))
            self.prompt.bring_back(text_of(queued[-1].content))

    def on_transcript_older_wanted(self, event: Transcript.OlderWanted) -> None:
        """Older history."""
        self.conversation.load_older()

    def on_transcript_copied(self, event: Transcript.Copied) -> None:
        """To the clipboard."""
        self.copy_words(event.text)

    def copy_words(self, text: str) -> None:
        """By OSC 52, which also works over ssh."""
        self.copy_to_clipboard(sanitize(text))
        lines = text.count("\n") + 1
        self.hint(f"copied {lines:,} lines" if lines > 1 else "copied")

    def _command_context(self) -> CommandContext:
        return CommandContext(facts=self.conversation.story.facts)

    def _carry_out(self, result: CommandResult) -> None:
        """What a command asks of the front end itself."""
        if result.leave:
            self.stopping.close(0)

    def open_help(self) -> None:
        """Keys and commands."""
        self.conversation.remark(run_command("/help", self._command_context()).lines, command="/help")
        self._draw_soon()


def next_mode(mode: str) -> str:
    """The permission mode after this one."""
    return {"default": "acceptEdits", "acceptEdits": "plan"}.get(mode, "default")


def _keymap(home: Path | None) -> tuple[Keymap, str]:
    """The user's keys; the defaults and the reason where they cannot be used."""
    try:
        return (load_keymap(home) if home is not None else Keymap()), ""
    except KeymapError as error:
        return Keymap(), str(error)
