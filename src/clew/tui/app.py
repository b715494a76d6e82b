"""The screen: composes its parts and hands events, keys and inputs to whom they concern. It decides nothing itself."""

import asyncio
import time
from typing import Any, cast

from textual import events
from textual.app import ComposeResult

from clew.commands.base import CommandContext, CommandResult
from clew.composing.draft import DraftFile
from clew.presentation.status import farewell
from clew.protocol.client import Client
from clew.protocol.events import (
    CompactionStarted,
    Envelope,
    PromptOffered,
    PromptQueued,
    ScreenChanged,
    SessionEnded,
    SessionStarted,
    ShellEnded,
    ShellStarted,
    ThemeChanged,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import PromptId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.place import FindFiles
from clew.protocol.ops import SendQueued, SubmitPrompt
from clew.text.terminal_text import sanitize
from clew.tui.agents.steering import AgentSteering
from clew.tui.conversation import ScreenConversation
from clew.tui.dialogs.registry import dialog_named
from clew.tui.dock import Dock
from clew.tui.first_line import show_first_line
from clew.tui.inputs import Commanding
from clew.tui.options import ScreenOptions, key_help, keymap_or_problem
from clew.tui.prompt.prompt import Prompt, void
from clew.tui.prompt.prompt_panel import PromptPanel
from clew.tui.prompt.queue_list import QueueList
from clew.tui.reading.copier import Copier
from clew.tui.reading.drawing import Drawing
from clew.tui.reading.find_line import FindLine
from clew.tui.reading.mode import ReadingMode
from clew.tui.reading.strips import speaks_unicode
from clew.tui.reading.transcript import Transcript
from clew.tui.screen_actions import ScreenActions
from clew.tui.screen_settings import LiveScreen
from clew.tui.stop_keys import EXIT_INTERRUPTED, ScreenStop
from clew.tui.terminal.presence import ScreenPresence
from clew.tui.terminal_app import TerminalApp
from clew.tui.themes import SHEETS, animation, register, theme_for, without_colour


class ClewApp(TerminalApp, inherit_bindings=False):
    """Holds a Client, through the conversation, and nothing else of the machine."""

    def __init__(self, client: Client, options: ScreenOptions) -> None:
        env = options.env
        super().__init__(css_path=SHEETS, ansi_color=True if without_colour(env) else None)
        self.options = options
        register(self, theme_for(options.screen.theme, env))
        self.animation_level = animation(env, reduced=options.screen.reduced_motion)
        self.keymap, self._keys_problem = keymap_or_problem(options.home)
        self.conversation = ScreenConversation(
            client, on_change=self._changed, on_answer=self._answered, on_end=lambda: self.leave(self.stopping.code)
        )
        ascii_only = not speaks_unicode(env)
        self.transcript = Transcript(
            ascii_only=ascii_only,
            keys=lambda key, character: self.reading.press(key, character) or self.actions.press(key),
        )
        self.find = FindLine()
        self.queue = QueueList(keymap=self.keymap)
        self.drawing = Drawing(
            self,
            self.conversation,
            self.transcript,
            stopping=lambda: self.stopping.interrupted,
            lagging=self.lagging,
            vim_mode=lambda: self.prompt.vim_mode,
            ascii_only=ascii_only,
        )
        self.bottom = Dock(
            PromptPanel(
                home=options.home,
                keymap=self.keymap,
                commands=self.conversation.commands,
                vim=options.screen.vim,
                elsewhere=lambda key: self.agents.press(key) or self.actions.press(key),
            ),
            send=self.conversation.send,
            look_up=self.conversation.look_up,
            keymap=self.keymap,
        )
        self.agents = AgentSteering(self.conversation, self.drawing, self.transcript, self.bottom, self.keymap)
        self.stopping = ScreenStop(
            self.conversation,
            self.bottom,
            window_s=options.quit_window_s,
            close_timeout_s=options.close_timeout_s,
            now_s=time.monotonic,
            hint=self.drawing.hint,
            to_newest=self._to_newest,
            to_main=self.agents.back_to_main,
            leave=self.leave,
        )
        self.presence = ScreenPresence(
            away_s=options.away_s,
            notifications=options.notifications,
            env=env,
            write=self.write_raw,
            send=self.conversation.send,
            unsent=lambda: not self.prompt.is_blank or self.bottom.asking,
        )
        self.commanding = Commanding(
            self.conversation,
            context=self._command_context,
            effect=self._carry_out,
            offer=self.bottom.offer,
            open_dialog=self.bottom.open,
            open_help=self.open_help,
            addressed=self.agents.addressed,
        )
        self.reading = ReadingMode(
            self.transcript,
            self.find,
            self.keymap,
            leave=self._to_prompt,
            hint=self.drawing.hint,
            whole=lambda: self.conversation.story.whole,
        )
        self.settings = LiveScreen(
            options.screen, self, self.transcript, self.prompt, env=env, take_mouse=self.take_mouse
        )
        self.actions = ScreenActions(
            self.conversation,
            self.transcript,
            self.drawing,
            self.keymap,
            others={
                "interrupt": self.stopping.escape,
                "quit": self.stopping.ctrl_c,
                "leave": self.stopping.ctrl_d,
                "suspend": self.action_suspend_process,
                "redraw": self.draw_anew,
                "help": self.open_help,
                "read": self.reading.begin,
                "find": self.reading.find,
                "tasks": lambda: self.commanding.run("/tasks"),
            },
        )
        self.copying = Copier(self.conversation, self.drawing, env=env, home=options.home, send=self.write_raw)
        self._begun = False
        self.last_words = ""  # for the shell, when the screen is gone
        self.over = False
        """The session has ended; nothing is to be closed."""

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.bottom.panel.prompt

    def compose(self) -> ComposeResult:
        """From the top."""
        yield self.drawing.header
        yield self.transcript
        yield self.drawing.activity
        yield self.queue
        yield self.find
        yield self.bottom
        yield self.agents.selector
        yield self.drawing.footer

    def on_mount(self) -> None:
        """Listen, and be ready to type."""
        self.settings.begin()
        if self.terminal is not None:
            loop = asyncio.get_running_loop()
            self.terminal.on_gone = lambda: void(loop.call_soon_threadsafe(self.stopping.close, EXIT_INTERRUPTED))
        self.theme_changed_signal.subscribe(self, lambda _: self.drawing.recolour())
        cast(Any, self).app_resume_signal.subscribe(self, self.draw_anew)  # Textual leaves its type open
        self.screen.set_focus(self.prompt)  # at once: keys typed before are behind us already
        self.conversation.link.start()

    # The session.

    def _changed(self, envelope: Envelope) -> None:
        """An event came; the story has it already."""
        event = envelope.event
        story = self.conversation.story
        match event:
            case SessionStarted():
                self.prompt.project = self.transcript.viewport.cwd = event.cwd
                self._keep_draft(event)
                if not event.resumed:
                    show_first_line(self.conversation, self.transcript)
                if self.options.prompt and not self._begun:
                    self.conversation.send(SubmitPrompt(content=self.options.prompt))
                if self._keys_problem and not self._begun:
                    self.conversation.remark((self._keys_problem,), is_error=True)
                self._begun = True
            case PromptQueued() if story.working and event.origin == "user":
                self.drawing.hint("queued; Enter sends it now, Up takes it back")
            case PromptOffered():
                self._offer(event.text)
            case ThemeChanged():
                self.theme = event.theme
            case ScreenChanged():
                self.settings.change(event)
            case TurnStarted() | TurnEnded() | ShellStarted() | ShellEnded() | CompactionStarted():
                self.stopping.interrupted = False
            case SessionEnded() if event.reason != "switched":
                self.over = True
                self.last_words = farewell(event, story.facts)
                self.leave(self.stopping.code)
            case _:
                pass
        self.bottom.follow(event, story)
        self.presence.follow(envelope, story)
        self.drawing.background.follow(story)
        self.agents.follow()
        self.queue.show(story.facts.state.queued)
        self.prompt.queued, self.prompt.held = self.queue.last is not None, self.queue.held
        self.drawing.soon()

    def _answered(self, answer: Answer | None) -> None:
        if answer is not None:
            self.bottom.answered(answer, self.conversation.story)
        self.drawing.soon()

    def _keep_draft(self, event: SessionStarted) -> None:
        """What is typed and not sent survives a crash; what was left is there again."""
        home = self.options.home
        if home is not None and self.prompt.keep_draft(DraftFile(home, event.cwd, event.session_id), now_s=time.time()):
            self.drawing.hint("what you had typed and not sent is back")

    def failure(self) -> BaseException | None:
        """What broke, of the session's two directions or of the screen."""
        return self._exception or self.conversation.link.failure()

    def leave(self, code: int) -> None:
        """End the screen."""
        self.presence.restore()
        self.exit(code)

    # Keys.

    async def on_event(self, event: events.Event) -> None:
        """Every key shows that somebody is there, whichever widget takes it."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self.presence.sign("typed", time.monotonic())
            if not self.drawing.seen:  # the terminal said that nobody looks
                self.drawing.look(seen=True)
            if self.focused is None or (self.focused is self.transcript and not self.transcript.reading):
                self.bottom.take_focus()  # no key is without an owner
        if isinstance(event, events.Resize) and self.terminal is not None:
            event = self.terminal.resized(event)
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """What no widget took."""
        if self.actions.press(event.key):
            event.stop()
            event.prevent_default()

    def _to_newest(self) -> bool:
        if self.transcript.viewport.following:
            return False
        self.transcript.to_end()
        return True

    def _offer(self, text: str) -> None:
        """Words to be sent as they are, unless something is typed already."""
        if self.prompt.is_blank:
            self.prompt.set_text(text)
            self.prompt.completing.close()

    def _to_prompt(self) -> None:
        self.bottom.take_focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Whoever types or answers no longer reads."""
        if self.transcript.reading and event.widget not in (self.transcript, self.find.field):
            self.reading.left()

    def on_find_line_given(self, event: FindLine.Given) -> None:
        """Words to search for."""
        self.reading.found(event.words)

    def on_app_focus(self) -> None:
        """The terminal has the focus."""
        self.drawing.look(seen=True)
        self.presence.sign("back", time.monotonic())

    def on_app_blur(self) -> None:
        """It lost it."""
        self.drawing.look(seen=False)
        self.presence.sign("left", time.monotonic())

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        self.transcript.to_end()
        self.commanding.take(event.typed)
        self.drawing.soon()

    def on_prompt_vim_mode_changed(self, event: Prompt.VimModeChanged) -> None:
        """The footer has its sign."""
        self.drawing.footer.changed()

    def on_prompt_help_wanted(self, event: Prompt.HelpWanted) -> None:
        """A question mark, and nothing else typed."""
        self.open_help()

    def on_prompt_send_queued_wanted(self, event: Prompt.SendQueuedWanted) -> None:
        """Enter, and nothing typed: the next queued prompt goes now."""
        if self.queue.first is not None:
            self.actions.send_now(self.queue.first.prompt_id)

    def on_queue_list_send_wanted(self, event: QueueList.SendWanted) -> None:
        """Now, not after what runs."""
        self.actions.send_now(event.prompt_id)
        self._to_prompt()

    def on_prompt_refused(self, event: Prompt.Refused) -> None:
        """It could not be sent."""
        self.drawing.hint(event.reason)

    def on_prompt_completion_wanted(self, event: Prompt.CompletionWanted) -> None:
        """Files that fit."""
        self.conversation.look_up(
            FindFiles(query=event.query), lambda found: self.prompt.show_files(found.query, found.rows)
        )

    def on_prompt_queued_wanted(self, event: Prompt.QueuedWanted) -> None:
        """Take the last queued prompt back, or send those that an earlier process left."""
        if event.send:
            self.conversation.send(SendQueued())
        elif self.queue.last is not None:
            self._take_back(self.queue.last.prompt_id, edit=True)

    def on_queue_list_edit_wanted(self, event: QueueList.EditWanted) -> None:
        """Take this one back."""
        self._take_back(event.prompt_id, edit=True)

    def on_queue_list_drop_wanted(self, event: QueueList.DropWanted) -> None:
        """It is not wanted any more."""
        self._take_back(event.prompt_id, edit=False)

    def on_queue_list_left(self, event: QueueList.Left) -> None:
        """Back to typing."""
        self._to_prompt()

    def _take_back(self, prompt_id: PromptId, *, edit: bool) -> None:
        self.actions.take_back(prompt_id, self.prompt, edit=edit)
        self._to_prompt()

    def on_transcript_older_wanted(self, event: Transcript.OlderWanted) -> None:
        """Older history."""
        self.conversation.load_older()

    def on_transcript_found(self, event: Transcript.Found) -> None:
        """More came while words are looked for."""
        self.reading.counted()

    def on_transcript_moved(self, event: Transcript.Moved) -> None:
        """The footer tells whether there is more below."""
        self.drawing.footer.changed()

    def on_transcript_copied(self, event: Transcript.Copied) -> None:
        """To the clipboard."""
        self.copy_words(event.text)

    def copy_words(self, text: str) -> None:
        """To whoever takes it here."""
        self.copy_to_clipboard(sanitize(text))

    def copy_to_clipboard(self, text: str) -> None:
        """In place of Textual's way, which knows only OSC 52."""
        self._clipboard = text
        self.run_worker(self.copying.copy(text))

    def _command_context(self) -> CommandContext:
        facts, screen = self.conversation.story.facts, self.settings.values()
        return CommandContext(facts=facts, keys=key_help(self.keymap), theme=self.theme, screen=screen)

    def _carry_out(self, result: CommandResult) -> None:
        """What a command asks of the front end itself."""
        if result.copy:
            self.copy_words(result.copy)
        if result.ends:
            self.stopping.ask_to_quit(result.ends)
        if result.leave:
            self.stopping.close(0)

    def open_help(self) -> None:
        """Keys and commands."""
        self.bottom.open(dialog_named("help", key_help(self.keymap), self.conversation.commands()))
