"""Approvals, questions and offers, one at a time, and the quiet time in which no key can answer them."""

import asyncio
from collections.abc import Callable

from clew.plain.approval import ApprovalDialog
from clew.plain.dialog import Dialog, Shown
from clew.plain.editor import Editor
from clew.plain.program_offer import AskedOffer, HookOffer, ServerOffer
from clew.plain.question import QuestionDialog
from clew.plain.screen import Screen
from clew.plain.terminal import Terminal
from clew.presentation.story import Story
from clew.protocol.events import ApprovalRequested, QuestionAsked
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.ops import Answerer, Op

NOBODY = "The input has ended."
Asked = ApprovalRequested | QuestionAsked | AskedOffer


class Asking:
    """Shows what waits for a person.

    A request first shows its text, then waits until no key came for `guard_s`, and only then shows its prompt and
    takes an answer. What was typed before stays a draft; what is typed meanwhile is dropped.
    """

    def __init__(
        self,
        terminal: Terminal,
        screen: Screen,
        editor: Editor,
        send: Callable[[Op], None],
        *,
        guard_s: float,
        wake: Callable[[], None],
    ) -> None:
        self._terminal = terminal
        self._screen = screen
        self._editor = editor
        self._send = send
        self._guard_s = guard_s
        self._wake = wake
        """Called when a quiet time may be over."""
        self._dialog: Dialog | None = None
        self._done: set[str] = set()
        """Requests, and hooks and servers by their digests, that are not asked about again."""
        self._guarded = False
        self._guard_until = 0.0
        self._ignored = False
        self._draft = ""

    @property
    def active(self) -> bool:
        """Something is being asked."""
        return self._dialog is not None

    @property
    def guarded(self) -> bool:
        """Keys do not count yet."""
        return self._guarded

    @property
    def prompt(self) -> str:
        """What stands before the answer."""
        return self._dialog.prompt if self._dialog is not None else ""

    def follow(self, story: Story) -> None:
        """Open, keep or drop the dialog, as the open requests say."""
        known = [item for item in story.facts.state.waiting if isinstance(item, ApprovalRequested | QuestionAsked)]
        waiting: list[Asked] = [item for item in known if item.request_id not in self._done]
        if self._terminal.interactive:
            waiting += self._offers(story)
        if self._dialog is not None:
            if any(item.request_id == self._dialog.request_id for item in waiting):
                return
            self._close(decided=False)
            self._screen.line("(no longer asked)", "dim")
        if waiting:
            self._open(waiting[0], story, behind=len(waiting) - 1)
        elif self._draft:
            self._editor.set(self._draft)
            self._draft = ""

    def _offers(self, story: Story) -> list[AskedOffer]:
        """Hooks and servers that were found, but for those that were decided about."""
        hooks = tuple(row for row in story.offered if row.digest not in self._done)
        servers = tuple(row for row in story.offered_servers if row.digest not in self._done)
        return [*([HookOffer(hooks)] if hooks else []), *([ServerOffer(servers)] if servers else [])]

    def key_dropped(self) -> None:
        """A key came in the quiet time: it does not count, and the quiet time starts again."""
        self._ignored = True
        self._start_guard()

    def check_guard(self) -> None:
        """End the quiet time when it is over."""
        if not self._guarded or asyncio.get_running_loop().time() < self._guard_until:
            return
        self._guarded = False
        self._terminal.discard_input()
        self._terminal.keys(raw=self._terminal.editing)
        if self._ignored:
            self._screen.line("(what you typed before this question was ignored)", "dim")

    def reply(self, typed: str) -> bool:
        """Judge a typed line and send what it means; whether that was the end of the dialog."""
        assert self._dialog is not None
        reply = self._dialog.reply(typed)
        self._show(reply.lines)
        if reply.op is None and not reply.over:
            return False
        self._close()
        if reply.op is not None:
            self._send(reply.op)
        return True

    def decline(self, words: str, reason: str, *, stop: bool, by: Answerer = "user") -> bool:
        """End the dialog without an answer; `by` nobody when no person could give one. Whether an agent waited for
        it."""
        assert self._dialog is not None
        op = self._dialog.decline(reason, stop=stop, by=by)
        self._screen.close_input()
        self._screen.line(words if op is not None else "Not now.", "warning")
        self._close()
        if op is not None:
            self._send(op)
        return op is not None

    def give_up(self, story: Story) -> None:
        """The turn is being stopped: nothing that waits now is asked any more."""
        self._done.update(item.request_id for item in story.facts.state.waiting)

    def _open(self, request: Asked, story: Story, *, behind: int) -> None:
        self._screen.hide_input()
        self._draft = self._editor.take() or self._draft
        if isinstance(request, ApprovalRequested):
            call = story.call(request.call_id)
            who = story.askers.get(request.request_id, MAIN_AGENT)
            self._dialog = ApprovalDialog(request, call, model=story.facts.model, waiting=behind, agent=who)
        elif isinstance(request, QuestionAsked):
            self._dialog = QuestionDialog(request)
        else:
            self._dialog = request
        self._show(self._dialog.opening())
        self._terminal.keys(raw=True)
        self._terminal.discard_input()
        self._ignored = False
        self._guarded = True
        self._start_guard()

    def _start_guard(self) -> None:
        loop = asyncio.get_running_loop()
        self._guard_until = loop.time() + self._guard_s
        loop.call_at(self._guard_until, self._wake)

    def _close(self, *, decided: bool = True) -> None:
        if isinstance(self._dialog, AskedOffer) and decided:
            self._done.update(self._dialog.digests)  # what was left out of a choice was decided too, for now
        elif self._dialog is not None:
            self._done.add(self._dialog.request_id)
        self._dialog = None
        self._guarded = False
        self._screen.hide_input()
        self._editor.set("")
        self._terminal.keys(raw=self._terminal.editing)

    def _show(self, lines: tuple[Shown, ...]) -> None:
        for shown in lines:
            self._screen.line(shown.text, shown.style, hang=shown.hang)
