"""The prompt: keys become edits, history, completion or an input that is sent. It asks the app by messages only."""

from collections.abc import Callable
from pathlib import Path

from textual import events
from textual.message import Message

from clew.commands.base import CommandHelp
from clew.composing.draft import DraftFile
from clew.composing.history import MAX_ITEM_CHARS
from clew.composing.images import ImageProblem, pasted_path
from clew.composing.keymap import Keymap
from clew.composing.meaning import Mode, mode_of
from clew.composing.outside import EditorProblem
from clew.composing.pasted import as_pasted, is_long
from clew.composing.typed_input import TypedInput, understood
from clew.composing.vim import Vim, VimMode
from clew.tui.owning_app import app_of
from clew.tui.prompt.clipboard_paste import copied_outside
from clew.tui.prompt.completion import PromptCompletion
from clew.tui.prompt.completion_list import CompletionList
from clew.tui.prompt.draft_keeper import DraftKeeping
from clew.tui.prompt.edit_area import EditArea
from clew.tui.prompt.editing_actions import CUTTING, EDITING
from clew.tui.prompt.history_search import SearchLine
from clew.tui.prompt.outside_editor import edited_outside
from clew.tui.prompt.recall import Recalling
from clew.tui.prompt.search import PromptSearch
from clew.tui.prompt.vim import vim_for

PLACEHOLDER = "ask for something; @ file  / command  ! shell"

OWN_BAR = "›"
"""Beside what is no word for the model. Which it is says its own first character, once."""


class Prompt(EditArea):
    """Where the person types. Escape, Ctrl-C and everything else that is not about the text go on to the app."""

    class Entered(Message):
        """Something was sent off."""

        def __init__(self, typed: TypedInput) -> None:
            super().__init__()
            self.typed = typed

    class Refused(Message):
        """It could not be sent; the text is still there."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    class CompletionWanted(Message):
        """Files that fit the query are wanted; answered with `show_files`."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

    class QueuedWanted(Message):
        """The last queued prompt is to come back into the prompt; `send`: those that are held are to be sent."""

        def __init__(self, *, send: bool = False) -> None:
            super().__init__()
            self.send = send

    class SendQueuedWanted(Message):
        """The next queued prompt is to be sent now."""

    class HelpWanted(Message):
        """The shortcuts are to be shown."""

    class VimModeChanged(Message):
        """Another mode of vi's keys."""

        def __init__(self, mode: VimMode | None) -> None:
            super().__init__()
            self.mode = mode

    def __init__(
        self,
        completions: CompletionList,
        search_line: SearchLine,
        *,
        home: Path | None,
        keymap: Keymap | None = None,
        commands: Callable[[], tuple[CommandHelp, ...]],
        vim: bool = False,
        elsewhere: Callable[[str], bool] = lambda _: False,
        placeholder: str = PLACEHOLDER,
        id: str | None = None,
    ) -> None:
        """`elsewhere`: does what a key means outside of the prompt, before the next key is looked at: that one may be
        meant for whoever has the focus then."""
        self._elsewhere = elsewhere
        self._home = home
        self.recalling = Recalling(self, home)
        self._keymap = keymap or Keymap()
        self._strokes: tuple[str, ...] = ()
        self.project = ""
        """Where pictures are looked for; the session's directory."""
        self.queued = False
        """Prompts wait to join: Up in an empty prompt takes the last one back."""
        self.held = False
        """Some of them were left by an earlier process: Enter in an empty prompt sends them."""
        self.completing = PromptCompletion(
            self, completions, commands, lambda query: void(self.post_message(self.CompletionWanted(query)))
        )
        self.searching = PromptSearch(self, search_line, self.recalling.items, self.recalling.form)
        self._vim: Vim | None = vim_for(self) if vim else None
        self._draft = DraftKeeping(self, lambda: self.unsent)
        super().__init__(id=id, placeholder=placeholder)
        self._own_actions: dict[str, Callable[[], bool]] = {
            "send": self._send,
            "up": self._up,
            "down": self._down,
            "older": lambda: self._browse(older=True),
            "newer": lambda: self._browse(older=False),
            "search_history": self._begin_search,
            "complete": self._complete,
            "edit_queued": lambda: self.post_message(self.QueuedWanted()),
            "edit_outside": self._edit_outside,
            "paste": self._paste_copied,
        }

    @property
    def own_actions(self) -> set[str]:
        """The actions that are more than editing."""
        return set(self._own_actions)

    @property
    def is_searching(self) -> bool:
        """Whether the history is being searched."""
        return self.searching.before is not None

    @property
    def unsent(self) -> str:
        """What was typed and not sent; during a search that is not what the search shows."""
        before = self.searching.before
        return self.text if before is None else before

    def use_vim(self, *, wanted: bool) -> None:
        """Take up the keys of vi, or lay them down; what is typed stays."""
        if wanted is (self._vim is not None):
            return
        self._vim = vim_for(self) if wanted else None
        self.post_message(self.VimModeChanged(self.vim_mode))

    @property
    def vim_mode(self) -> VimMode | None:
        """The mode of vi's keys; None without them."""
        return None if self._vim is None else self._vim.mode

    @property
    def mode(self) -> Mode:
        """What the text would be if it were sent now."""
        return mode_of(self.document.get_line(0), one_line=self.document.line_count == 1)

    def update_suggestion(self) -> None:
        """Textual calls this after every change of the text, before the next key is looked at."""
        self.set_bar("" if self.mode == "prompt" else OWN_BAR)
        if not self.is_searching:
            self.completing.changed()
            self._draft.changed()

    def watch_selection(self) -> None:
        """The caret moved."""
        if not self.is_searching:
            self.completing.moved()

    def keep_draft(self, file: DraftFile, *, now_s: float) -> bool:
        """Keep the text in this file from now on. True when something that was left unsent came back."""
        left = self._draft.begin(file, now_s=now_s)
        if left is not None:
            self.bring_back(self.pastes.adopt(left.text, left.pastes))
        return left is not None

    def on_unmount(self) -> None:
        """What is still there is for the next time."""
        self._draft.finish()

    def show_files(self, query: str, paths: tuple[str, ...]) -> None:
        """The answer to `CompletionWanted`."""
        self.completing.files(query, paths)

    async def _on_key(self, event: events.Key) -> None:
        joiner = event.character or "" if self.joins(event.character) else ""
        used = self.press(event.key, event.character if event.is_printable else joiner or None)
        if joiner and not used:  # Textual would take it for a key without text
            self.put(joiner)
        if joiner or used or self._elsewhere(event.key):
            event.stop()
            event.prevent_default()

    def press(self, key: str, character: str | None = None) -> bool:
        """Do what a key means here. False: nothing, the key may mean something to the app, or is text."""
        if character == "?" and not self.text and not self.is_searching:
            return bool(self.post_message(self.HelpWanted()))
        if self._vim is not None and not self.is_searching and self._vim_key(self._vim, key, character):
            self.end_cutting()
            return True
        contexts = self._contexts()
        strokes = (*self._strokes, key)
        action = self._keymap.action(contexts, strokes)
        if action is None and self._keymap.begins(contexts, strokes):
            self._strokes = strokes
            return True
        if action is None and self._strokes:
            self._strokes = ()
            return self.press(key, character)
        self._strokes = ()
        if action not in CUTTING:
            self.end_cutting()
        if self.is_searching:
            return self.searching.press(action, character) or self.press(key, character)
        if action is None:
            return False
        if self.completing.is_open and self._completion_key(action, strokes):
            return True
        action = self._keymap.action(("prompt",), strokes)
        return action is not None and self._do(action)

    def _vim_key(self, vim: Vim, key: str, character: str | None) -> bool:
        before = vim.mode
        if key == "escape":
            done = not self.completing.is_open and vim.escape()
        elif vim.mode == "normal" and key == "ctrl+r":
            vim.redo()
            done = True
        elif vim.mode == "normal" and key in ("j", "k") and not vim.pending and self._at_edge(up=key == "k"):
            done = self._browse(older=key == "k")
        else:
            done = character is not None and vim.press(character)
        if vim.mode != before:
            self.history.checkpoint()
            self.post_message(self.VimModeChanged(vim.mode))
        return done

    def _at_edge(self, *, up: bool) -> bool:
        navigator = self.navigator
        edge = navigator.is_first_wrapped_line if up else navigator.is_last_wrapped_line
        return edge(self.cursor_location)

    def _contexts(self) -> tuple[str, ...]:
        if self.is_searching:
            return ("search",)
        return ("completion", "prompt") if self.completing.is_open else ("prompt",)

    def _do(self, action: str) -> bool:
        own = self._own_actions.get(action)
        if own is not None:
            return own()
        if (action == "erase_right" and self.is_blank) or (action in ("select_down", "left") and not self.text):
            return False  # it may mean something to the app
        EDITING[action](self)
        return True

    def _completion_key(self, action: str, strokes: tuple[str, ...]) -> bool:
        if self._keymap.action(("completion",), strokes) is None:
            return False
        match action:
            case "accept":
                return self.completing.accept()
            case "accept_or_send":
                return not self.completing.is_answered() and self.completing.accept()
            case "next" | "previous":
                self.completing.step(1 if action == "next" else -1)
            case "page_down" | "page_up":
                self.completing.step(8 if action == "page_down" else -8, around=False)
            case _:
                self.completing.close()
        return True

    def _complete(self) -> bool:
        self.completing.open()
        return True

    def _send(self) -> bool:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 1:
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            return True
        text = self.text
        if self.is_blank and self.held:
            return self.post_message(self.QueuedWanted(send=True))
        try:
            typed = understood(text, self.pastes, self.project)
        except ImageProblem as problem:
            self.post_message(self.Refused(str(problem)))
            return True
        if typed is None and self.queued and not text.strip():
            self.post_message(self.SendQueuedWanted())
        if typed is not None:
            self.completing.close()
            self.post_message(self.Entered(typed))
            self.recalling.remember(text)
            self.load_text("")
            self._draft.sent()
            if self._vim is not None:
                self._vim.reset()
        return True

    def clear_draft(self) -> bool:
        """Empty the prompt. Nothing is lost: the history has it, undo and yank bring it back. False: it was empty."""
        if self.is_blank:
            return False
        text = self.text
        self.recalling.remember(text)
        self.set_text("")
        self.keep_cut(text)
        return True

    def bring_back(self, text: str) -> None:
        """Put text back that was sent or queued, above what is typed now."""
        form = self.shown_form(self.recalling.form(text))
        self.set_text(form if self.is_blank else f"{form}\n{self.text}")

    def _up(self) -> bool:
        if self.is_blank and self.queued:
            return self.post_message(self.QueuedWanted())
        if self._at_edge(up=True):
            return self._browse(older=True)
        self.action_cursor_up()
        return True

    def _down(self) -> bool:
        if self._at_edge(up=False):
            return bool(self.text) and self._browse(older=False)  # below an empty one may be a list of agents
        self.action_cursor_down()
        return True

    def _browse(self, *, older: bool) -> bool:
        self.recalling.step(older=older)
        self.completing.close()
        return True

    def _begin_search(self) -> bool:
        self.completing.close()
        self.searching.begin()
        return True

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def paste(self, text: str) -> None:
        """Insert pasted text: a long one folded, the path of a picture as its mention."""
        if self.is_searching:
            self.searching.typed(as_pasted(text).partition("\n")[0][:MAX_ITEM_CHARS])
            return
        self.end_cutting()
        text = as_pasted(text)
        picture = pasted_path(text, self.project)
        if picture is not None:
            text = f"{picture} "
        elif is_long(text):
            text = self.pastes.fold(text)
        self.put(text)

    def _edit_outside(self) -> bool:
        self.completing.close()
        self.run_worker(self._with_editor(), group="editor", exclusive=True)
        return True

    async def _with_editor(self) -> None:
        try:
            text = await edited_outside(app_of(self), self.text, cwd=self.project or None)
        except EditorProblem as problem:
            self.post_message(self.Refused(str(problem)))
        else:
            if text != self.text:
                self.set_text(text)

    def _paste_copied(self) -> bool:
        self.run_worker(self._from_clipboard(), group="clipboard", exclusive=True)
        return True

    async def _from_clipboard(self) -> None:
        try:
            copied = await copied_outside(self._home) or app_of(self).clipboard
        except OSError as error:
            self.post_message(self.Refused(f"The picture could not be kept: {error.strerror or error}"))
        else:
            self.paste(copied)


def void(_value: object) -> None:
    """For a callback whose answer nobody needs."""
