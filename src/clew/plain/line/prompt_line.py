"""The line a person types on: how it is edited, completed, searched for and taken back, until it is a whole input.

From typed lines to one input: a backslash at the end continues, a line of three quotes opens and closes a block.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from clew.commands.mode import next_mode
from clew.commands.registry import catalogue
from clew.composing.history import History
from clew.plain.dialogs.dialog import Shown
from clew.plain.line.clipboard import LineCopier
from clew.plain.line.completion import LineCompletion
from clew.plain.line.editor import Editor
from clew.plain.line.inputs import Entering
from clew.plain.line.screen import Screen
from clew.plain.line.search import LineSearch
from clew.plain.line.terminal import Terminal
from clew.plain.line.typed_lines import EditedInput, LineInput, Typed
from clew.presentation.story.story import Story
from clew.protocol.events import PromptWithdrawn
from clew.protocol.ids import PromptId
from clew.protocol.lookups.base import Lookup
from clew.protocol.lookups.place import FilesFound, FindFiles
from clew.protocol.messages import text_of
from clew.protocol.ops import Op, SendQueued, SendToBackground, SetPermissionMode, WithdrawPrompt

FENCE = '"""'


class Composer:
    """Collects lines until an input is whole."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._fenced = False

    @property
    def pending(self) -> bool:
        """Something was typed that is not whole yet."""
        return self._fenced or bool(self._lines)

    def clear(self) -> None:
        """Forget it."""
        self._lines, self._fenced = [], False

    def add(self, line: str) -> str | None:
        """The whole input, or None while more must follow."""
        if self._fenced:
            if line.rstrip().endswith(FENCE):
                last = line.rstrip()[: -len(FENCE)]
                return self._take(last)
            self._lines.append(line)
            return None
        if not self._lines and line.lstrip().startswith(FENCE):
            return self._open(line.strip()[len(FENCE) :])
        if _continued(line):
            self._lines.append(line[:-1])
            return None
        return self._take(line, keep_empty=True)

    def rest(self) -> str | None:
        """At the end of the input: what was collected, even if it was never closed."""
        return self._take("") if self.pending else None

    def _open(self, first: str) -> str | None:
        if first.endswith(FENCE):
            return first[: -len(FENCE)]
        self._fenced = True
        if first:
            self._lines.append(first)
        return None

    def _take(self, last: str, *, keep_empty: bool = False) -> str:
        lines = [*self._lines, last] if last or keep_empty else self._lines
        self.clear()
        return "\n".join(lines)


def _continued(line: str) -> bool:
    """An odd number of backslashes at the end; an even number is text."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


PROMPT = "> "
MORE = "... "
STEER = "to the agent > "


class TellingLookUp(Protocol):
    """Asks; the answer is told, unless `then` takes it."""

    def __call__(self, lookup: Lookup[Any], then: Callable[[Any], None] | None = None) -> None: ...


class PromptLine:
    """Everything between keys and ops that no question of the agent is about."""

    def __init__(
        self,
        terminal: Terminal,
        screen: Screen,
        editor: Editor,
        history: History,
        *,
        story: Callable[[], Story],
        send: Callable[[Op], None],
        look_up: TellingLookUp,
        show: Callable[[Sequence[Shown]], None],
        leave: Callable[[], None],
    ) -> None:
        self._editor = editor
        self._story = story
        self._send = send
        self._composer = Composer()
        self._search = LineSearch(editor, lambda: history.items)
        self._input = (
            EditedInput(editor, screen, self._search, lambda: bool(story().facts.state.queued))
            if terminal.editing
            else LineInput(interactive=terminal.interactive)
        )
        self._completing = LineCompletion(
            editor,
            lambda: catalogue(story().facts),
            ask_files=lambda query: look_up(FindFiles(query=query), self._files),
            show=show,
        )
        self._entering = Entering(
            editor.pastes,
            history,
            by_person=terminal.interactive,
            facts=lambda: story().facts,
            send=send,
            look_up=look_up,
            show=show,
            copy=LineCopier(screen, show).copy,
            leave=leave,
        )
        self._by_person = terminal.interactive
        self._taken_back: set[PromptId] = set()

    @property
    def in_doubt(self) -> bool:
        """An Esc came; whether it is a key of its own shows when nothing follows."""
        return self._input.in_doubt

    @property
    def begun(self) -> bool:
        """Something stands there that was not sent."""
        return bool(self._editor.cells) or self._composer.pending

    @property
    def wanted(self) -> bool:
        """The line is needed although the agent works."""
        return self.begun or self._search.active

    def feed(self, data: bytes) -> Iterator[Typed]:
        """Bytes of the terminal or the pipe."""
        return self._input.feed(data)

    def settle(self) -> Iterator[Typed]:
        """Nothing followed an Esc."""
        return self._input.settle()

    def reset(self) -> None:
        """Forget half-read keys."""
        self._input.reset()

    def mark(self, usual: str) -> str:
        """What stands before the line."""
        return self._search.prompt or (MORE if self._composer.pending else usual)

    def put_aside(self) -> None:
        """Somebody asks something: what was typed stays as it is."""
        self._search.cancel()

    def press(self, name: str) -> None:
        """A key that is not about the text alone."""
        match name:
            case "tab":
                self._completing.press()
            case "search":
                self._search.begin()
            case "shift-tab":
                facts = self._story().facts
                self._send(SetPermissionMode(mode=next_mode(facts.permission_mode, may_bypass=facts.may_bypass)))
            case "background":
                self._send(SendToBackground())
            case "alt-up":
                self._take_back()
            case _:
                pass

    def take(self, line: str) -> None:
        """Enter: a whole input is carried out, or given back where it cannot be sent."""
        whole = self._composer.add(line)
        if whole is not None and not whole.strip() and self._by_person and self._held():
            self._send(SendQueued())
        elif whole is not None and whole.strip() and not self._entering.take(whole):
            self._editor.set(whole)

    def take_rest(self) -> bool:
        """At the end of a pipe: what was never closed. Whether there was something."""
        rest = self._composer.rest()
        if not rest or not rest.strip():
            return False
        self._entering.take(rest)
        return True

    def offer(self, text: str) -> None:
        """Words to be sent as they are, unless something is typed already."""
        if not self.begun:
            self._editor.set(text)

    def clear(self) -> None:
        """Empty it. Nothing is lost: the history keeps it."""
        self._entering.remember(self._editor.text)
        self._editor.set("")
        self._composer.clear()

    def _files(self, found: FilesFound) -> None:
        """Files that fit."""
        self._completing.files(found.query, found.rows)

    def knows_of(self, event: PromptWithdrawn) -> bool:
        """Whether it was taken back from here, and stands on the line again."""
        ours = event.prompt_id in self._taken_back
        self._taken_back.discard(event.prompt_id)
        return ours

    def _held(self) -> bool:
        return any(item.held for item in self._story().facts.state.queued)

    def _take_back(self) -> None:
        """The last one that waits, above what is typed now."""
        waiting = [item for item in self._story().facts.state.queued if item.prompt_id not in self._taken_back]
        if waiting:
            self._taken_back.add(waiting[-1].prompt_id)
            self._send(WithdrawPrompt(prompt_id=waiting[-1].prompt_id))
            typed = self._editor.text
            self._editor.set(text_of(waiting[-1].content) + (f"\n{typed}" if typed else ""))
