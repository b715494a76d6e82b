"""The prompt: keys become edits, history, completion or an entry that is sent. It asks the app by messages only."""

from collections.abc import Callable
from pathlib import Path

from textual import events
from textual.message import Message

from clew.commands.base import CommandHelp
from clew.commands.registry import COMMANDS
from clew.composing.browsing import HistoryBrowser
from clew.composing.entry import Entry, enter
from clew.composing.history import MAX_ITEM_CHARS, History
from clew.composing.images import ImageProblem, pasted_path
from clew.composing.keymap import Keymap
from clew.composing.meaning import MARKS, Mode, mode_of
from clew.composing.pasted import as_pasted, is_long
from clew.composing.search import HistorySearch, search
from clew.tui.completing import Completing
from clew.tui.completion_list import CompletionList
from clew.tui.edit_area import EditArea
from clew.tui.editing_actions import CUTTING, EDITING
from clew.tui.history_search import SearchLine
from clew.tui.owning_app import app_of

PLACEHOLDER = "ask for something; @ file  / command  ! shell"
MAX_RECENT = 100


class Prompt(EditArea):
    """Where the person types. Escape, Ctrl-C and everything else that is not about the text go on to the app."""

    class Entered(Message):
        """Something was sent off."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

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
        """The last queued prompt is to come back into the prompt."""

    class EditorWanted(Message):
        """The text is to be written in the person's own editor."""

    def __init__(
        self,
        completions: CompletionList,
        search_line: SearchLine,
        *,
        home: Path | None,
        keymap: Keymap | None = None,
        commands: Callable[[], tuple[CommandHelp, ...]] = lambda: tuple(item.help for item in COMMANDS),
        placeholder: str = PLACEHOLDER,
        id: str | None = None,
    ) -> None:
        self._input_history = History(home)
        self._browser = HistoryBrowser(lambda: self._input_history.items)
        self._keymap = keymap or Keymap()
        self._strokes: tuple[str, ...] = ()
        self._search: HistorySearch | None = None
        self._search_line = search_line
        self._recent: dict[str, str] = {}
        self.project = ""
        """Where pictures are looked for; the session's directory."""
        self.queued = False
        """Prompts wait to join: Up in an empty prompt takes the last one back."""
        self.completing = Completing(
            self, completions, commands, lambda query: void(self.post_message(self.CompletionWanted(query)))
        )
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
            "edit_outside": lambda: self.post_message(self.EditorWanted()),
            "paste": self._paste_copied,
        }

    @property
    def searching(self) -> bool:
        """Whether the history is being searched."""
        return self._search is not None

    @property
    def mode(self) -> Mode:
        """What the text would be if it were sent now."""
        return mode_of(self.document.get_line(0), one_line=self.document.line_count == 1)

    def update_suggestion(self) -> None:
        """Textual calls this after every change of the text, before the next key is looked at."""
        self.set_bar(MARKS[self.mode] or "▌")
        if self._search is None:
            self.completing.changed()

    def watch_selection(self) -> None:
        """The caret moved."""
        if self._search is None:
            self.completing.moved()

    def show_files(self, query: str, paths: tuple[str, ...]) -> None:
        """The answer to `CompletionWanted`."""
        self.completing.files(query, paths)

    async def _on_key(self, event: events.Key) -> None:
        if self.press(event.key, event.character if event.is_printable else None):
            event.stop()
            event.prevent_default()

    def press(self, key: str, character: str | None = None) -> bool:
        """Do what a key means here. False: nothing, the key may mean something to the app, or is text."""
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
        if self._search is not None:
            return self._search_key(action, character)
        if action is None:
            return False
        if self.completing.is_open and self._completion_key(action, strokes):
            return True
        action = self._keymap.action(("prompt",), strokes)
        return action is not None and self._do(action)

    def _contexts(self) -> tuple[str, ...]:
        if self._search is not None:
            return ("search",)
        return ("completion", "prompt") if self.completing.is_open else ("prompt",)

    def _do(self, action: str) -> bool:
        own = self._own_actions.get(action)
        if own is not None:
            return own()
        if action == "erase_right" and self.is_blank:
            return False
        EDITING[action](self)
        return True

    def _completion_key(self, action: str, strokes: tuple[str, ...]) -> bool:
        if self._keymap.action(("completion",), strokes) is None:
            return False
        match action:
            case "accept":
                return self.completing.accept()
            case "accept_or_send":
                return not self.completing.is_whole() and self.completing.accept()
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
        try:
            entry = enter(text, self.pastes, self.project)
        except ImageProblem as problem:
            self.post_message(self.Refused(str(problem)))
            return True
        if entry is not None:
            self.completing.close()
            self.post_message(self.Entered(entry))
            self.load_text("")
            self.call_later(self.remember, text)
        return True

    def remember(self, text: str) -> None:
        """Into the history, with its pastes as far as they fit."""
        whole = self.pastes.expand(text)
        kept = whole if len(whole) <= MAX_ITEM_CHARS else self.pastes.told(text)
        if kept != text:
            self._recent[kept] = text
            if len(self._recent) > MAX_RECENT:
                del self._recent[next(iter(self._recent))]
        self._input_history.add(kept)
        self._browser.reset()

    def clear_draft(self) -> bool:
        """Empty the prompt. Nothing is lost: the history has it, undo and yank bring it back. False: it was empty."""
        if self.is_blank:
            return False
        text = self.text
        self.remember(text)
        self.set_text("")
        self.keep_cut(text)
        return True

    def bring_back(self, text: str) -> None:
        """Put text back that was sent or queued, above what is typed now."""
        form = self.shown_form(text)
        self.set_text(form if self.is_blank else f"{form}\n{self.text}")

    def _up(self) -> bool:
        if self.is_blank and self.queued:
            return self.post_message(self.QueuedWanted())
        if self.navigator.is_first_wrapped_line(self.cursor_location):
            return self._browse(older=True)
        self.action_cursor_up()
        return True

    def _down(self) -> bool:
        if self.navigator.is_last_wrapped_line(self.cursor_location):
            return self._browse(older=False)
        self.action_cursor_down()
        return True

    def _browse(self, *, older: bool) -> bool:
        text = self.text
        item = self._browser.older(text) if older else self._browser.newer(text)
        if item is not None:
            form = self.set_text(self._recent.get(item, item))
            self.completing.close()
            self._browser.shown_as(form)
            if older:
                # So that the next step up goes on, also from an item of several lines.
                self.move_cursor((0, len(self.document.get_line(0))))
        return True

    def _begin_search(self) -> bool:
        self.completing.close()
        self._search_from = self.selection
        self._search = search(self._input_history.items, self.text)
        self._search_line.follow(self._search)
        return True

    def _search_key(self, action: str | None, character: str | None) -> bool:
        """The search takes every key while it is on; one that means nothing to it ends it and is done then."""
        found = self._search
        assert found is not None
        match action:
            case "older":
                self._show_search(found.older())
            case "newer":
                self._show_search(found.newer())
            case "erase":
                self._show_search(found.erased())
            case "accept":
                self._end_search()
            case "cancel":
                self._show_search(None)
            case _ if character is not None:
                self._show_search(found.typed(character))
            case _:
                self._end_search()
                return False
        return True

    def _show_search(self, after: HistorySearch | None) -> None:
        before, self._search = self._search, after
        assert before is not None
        text = before.before if after is None else after.text
        shown = self._recent.get(text, text)
        if shown != self.text:
            self.set_text(shown)
        if after is None:
            self.selection = self._search_from
        self._search_line.follow(after)

    def _end_search(self) -> None:
        self._search = None
        self._search_line.follow(None)
        self._browser.reset()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def paste(self, text: str) -> None:
        """Insert pasted text: a long one folded, the path of a picture as its mention."""
        if self._search is not None:
            self._show_search(self._search.typed(as_pasted(text).partition("\n")[0][:MAX_ITEM_CHARS]))
            return
        self.end_cutting()
        text = as_pasted(text)
        picture = pasted_path(text, self.project)
        if picture is not None:
            text = f"{picture} "
        elif is_long(text):
            text = self.pastes.fold(text)
        self.put(text)

    def _paste_copied(self) -> bool:
        copied = app_of(self).clipboard
        if copied:
            self.paste(copied)
        return True


def void(_value: object) -> None:
    """For a callback whose answer nobody needs."""
