"""Approvals, questions, plans and offers, one at a time, and the quiet time in which no key can answer them."""

import asyncio
from collections.abc import Callable
from typing import Any

from clew.plain.dialogs.approval import ApprovalDialog
from clew.plain.dialogs.dialog import DialogReply, LineDialog, Shown
from clew.plain.dialogs.elicitation import ElicitationLines
from clew.plain.dialogs.plan import PlanLines
from clew.plain.dialogs.program_offer import AskedOffer, HookOffer, ServerOffer
from clew.plain.dialogs.question import QuestionLines
from clew.plain.line.editor import Editor
from clew.plain.line.screen import Screen
from clew.plain.line.terminal import Terminal
from clew.presentation.story.story import Story
from clew.protocol.agent_path import path_words
from clew.protocol.events import ApprovalRequested, Ask, ElicitationRequested, PlanProposed, QuestionAsked
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.base import Lookup
from clew.protocol.ops import Answerer, Op, declined, kind_of, to_agent
from clew.protocol.state import OpenAsk
from clew.text.terminal_text import sanitize

NOBODY = "The input has ended."


class UnknownAsk:
    """An ask that this front end has no dialog for: it is named, and a line declines it."""

    prompt = "Enter declines it: "

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    @property
    def request_id(self) -> str:
        """The id of the request it answers."""
        return self._ask.request_id

    def opening(self) -> tuple[Shown, ...]:
        """What to show first."""
        return (Shown(f"clew asks for something that is not known here ({kind_of(self._ask)}).", "warning"),)

    def reply(self, typed: str) -> DialogReply:
        """Any line declines."""
        return DialogReply(op=declined(self._ask), over=True)

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> Op | None:
        """The same without a line."""
        return declined(self._ask, reason=reason, by=by)


class AskQueue:
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
        look_up: Callable[[Lookup[Any]], None],
        *,
        guard_s: float,
        wake: Callable[[], None],
    ) -> None:
        self._terminal = terminal
        self._screen = screen
        self._editor = editor
        self._send = send
        self._look_up = look_up
        self._guard_s = guard_s
        self._wake = wake
        """Called when a quiet time may be over."""
        self._dialog: LineDialog | None = None
        self._agent = MAIN_AGENT
        """Who asks."""
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
        asks = [item for item in story.facts.state.asks if item.ask.request_id not in self._done]
        offers = self._offers(story) if self._terminal.interactive else []
        if self._dialog is not None:
            known = {*(item.ask.request_id for item in asks), *(offer.request_id for offer in offers)}
            if self._dialog.request_id in known:
                return
            self._close(decided=False)
            self._screen.line("(no longer asked)", "dim")
        behind = len(asks) + len(offers) - 1
        if asks:
            self._open(
                dialog_of(asks[0], story, behind=behind), asks[0].agent, path_words(story.facts.state, asks[0].agent)
            )
        elif offers:
            self._open(offers[0])
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
        if reply.op is None and reply.lookup is None and not reply.over:
            return False
        agent = self._agent
        self._close()
        if reply.op is not None:
            self._send(to_agent(reply.op, agent))
        if reply.lookup is not None:
            self._look_up(reply.lookup)
        return True

    def decline(self, words: str, reason: str, *, stop: bool, by: Answerer = "user") -> bool:
        """End the dialog without an answer; `by` nobody when no person could give one. Whether an agent waited for
        it."""
        assert self._dialog is not None
        op = self._dialog.decline(reason, stop=stop, by=by)
        self._screen.close_input()
        self._screen.line(words if op is not None else "Not now.", "warning")
        agent = self._agent
        self._close()
        if op is not None:
            self._send(to_agent(op, agent))
        return op is not None

    def give_up(self, story: Story) -> None:
        """The turn is being stopped: nothing that waits now is asked any more."""
        self._done.update(item.request_id for item in story.facts.state.waiting)

    def _open(self, dialog: LineDialog, agent: AgentId = MAIN_AGENT, path: str = "") -> None:
        self._agent = agent
        self._screen.hide_input()
        self._draft = self._editor.take() or self._draft
        self._dialog = dialog
        if path and not isinstance(dialog, ApprovalDialog):  # which says it itself, with the model
            self._show((Shown(f"Comes from: {sanitize(path, one_line=True)}"),))
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


def dialog_of(item: OpenAsk, story: Story, *, behind: int) -> LineDialog:
    """What a person is shown of an open ask. One of a kind that is not known here can only be declined."""
    match item.ask:
        case ApprovalRequested() as ask:
            call = story.asked_call(item)
            return ApprovalDialog(
                ask, call, model=story.facts.model, waiting=behind, path=path_words(story.facts.state, item.agent)
            )
        case QuestionAsked() as ask:
            return QuestionLines(ask)
        case ElicitationRequested() as ask:
            return ElicitationLines(ask)
        case PlanProposed() as ask:
            return PlanLines(ask)
        case ask:
            return UnknownAsk(ask)
