"""The place at the bottom: the prompt, or the open dialog. What waits for a person is asked one after the other."""

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from textual.app import ComposeResult
from textual.containers import Vertical

from clew.composing.keymap import Keymap
from clew.presentation.story.story import Story
from clew.protocol.events import Ask, Event
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.ops import Op, to_agent
from clew.protocol.state import OpenAsk
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.registry import DialogContext, dialog_for, opens
from clew.tui.prompt.prompt_panel import PromptPanel
from clew.tui.terminal.key_order import Typed, focus_now, hand_over


class LookUpPort(Protocol):
    """What `Conversation.look_up` does."""

    def __call__(
        self,
        lookup: Lookup[Any],
        then: Callable[[Any], None] | None = None,
        refused: Callable[[str], None] | None = None,
    ) -> None: ...


class Dock(Vertical):
    """Holds the prompt, and in its place one dialog at a time."""

    def __init__(self, panel: PromptPanel, *, send: Callable[[Op], None], look_up: LookUpPort, keymap: Keymap) -> None:
        super().__init__(id="dock")
        self.panel = panel
        self._send = send
        self._look_up = look_up
        self._keymap = keymap
        self.dialog: Dialog | None = None
        self._request = ""
        self._agent = MAIN_AGENT
        """Who asked what is open."""
        self._first = MAIN_AGENT
        """Whose asks come first; the others follow in their order."""
        self._done: set[str] = set()
        self._next: deque[Event | Answer] = deque()
        self._story = Story()
        self._view: Callable[[AgentId], None] | None = None

    def compose(self) -> ComposeResult:
        """The prompt is always there, if not always seen."""
        yield self.panel

    @property
    def asking(self) -> bool:
        """A dialog is open."""
        return self.dialog is not None

    def follow(self, event: Event, story: Story) -> None:
        """After every event: open, keep or close."""
        self._story = story
        if self.dialog is not None and (
            self.dialog.settled_by(event) or (self._request and self._request not in _open_ids(story))
        ):
            self.close()
        elif self.dialog is not None:
            self.dialog.news(event)
        if opens(event) and not isinstance(event, Ask):  # open asks are part of the state
            self._next.append(event)
        self.advance(story)

    def answered(self, answer: Answer, story: Story) -> None:
        """After an answer that the story tells: some open a dialog, some settle the one that is open."""
        self._story = story
        if self.dialog is not None and self.dialog.settled_by(answer):
            self.close()
        if opens(answer):
            self._next.append(answer)
        self.advance(story)

    def offer(self, answer: Answer) -> None:
        """An answer that is a choice: a picker opens."""
        self._next.append(answer)
        self.advance(self._story)

    def advance(self, story: Story) -> None:
        """Ask what is to be asked next, if nothing is being asked."""
        if self.dialog is not None:
            return
        waiting = [item for item in story.facts.state.asks if item.ask.request_id not in self._done]
        known = sorted((item for item in waiting if opens(item.ask)), key=lambda item: item.agent != self._first)
        if known:
            self._ask(known[0], story, behind=len(known) - 1)
        elif self._next:
            self.open(dialog_for(self._next.popleft(), DialogContext(facts=story.facts)))

    def _ask(self, item: OpenAsk, story: Story, *, behind: int) -> None:
        call = story.asked_call(item)
        context = DialogContext(facts=story.facts, call=call, agent=item.agent, waiting=behind)
        self.open(dialog_for(item.ask, context))
        self._request, self._agent = item.ask.request_id, item.agent

    def open(self, dialog: Dialog) -> None:
        """Show a dialog in place of the prompt; what was being asked is asked again after it."""
        late = self._remove()
        dialog.action_of = lambda key: self._keymap.action((dialog.context,), (key,))
        self.dialog = dialog
        self.panel.display = False
        self.screen.add_class("-asking")
        self.mount(dialog)
        self.take_focus()
        hand_over(late, dialog)

    def close(self) -> None:
        """Back to the prompt, or to what waited behind a dialog that asked nothing; with what was typed since."""
        if self.dialog is None:
            return
        asked = self._request
        if asked:
            self._done.add(asked)
        late = self._remove()
        self.screen.remove_class("-asking")
        self.panel.display = True
        self.take_focus()
        if not asked:
            self.advance(self._story)
        hand_over(late, self.dialog or self.panel.prompt)

    def _remove(self) -> list[Typed]:
        """No dialog any more; what was typed too late for it."""
        late: list[Typed] = []
        if self.dialog is not None:
            late = self.dialog.leave_keys()
            self.dialog.remove()
        self.dialog, self._request, self._agent = None, "", MAIN_AGENT
        return late

    def take_focus(self) -> None:
        """Keys go to the dialog that is open, else to the prompt."""
        if self.dialog is not None:
            self.dialog.take_focus()
        else:
            focus_now(self.panel.prompt)

    def refuse(self, *, stop: bool) -> bool:
        """Close the dialog as a no; whether there was one."""
        if self.dialog is None:
            return False
        for op in self.dialog.refusal(stop=stop):
            self._send(to_agent(op, self._agent))
        self.close()
        return True

    def give_up(self, story: Story) -> None:
        """The turn is being stopped: what waits now is not asked any more."""
        self._done.update(item.request_id for item in story.facts.state.waiting)

    def on_dialog_answered(self, event: Dialog.Answered) -> None:
        """Decided."""
        event.stop()
        agent = self._agent
        self.close()
        for op in event.ops:
            self._send(to_agent(op, agent))
        for lookup in event.lookups:
            self._look_up(lookup)

    def on_dialog_sent(self, event: Dialog.Sent) -> None:
        """It goes on."""
        event.stop()
        self._send(event.op)

    def on_dialog_dismissed(self, event: Dialog.Dismissed) -> None:
        """Not decided: what waits for an answer is refused, the rest is let be."""
        event.stop()
        wanted = self.dialog.wanted_command if self.dialog is not None else ""
        self._first = self.dialog.wanted_agent if self.dialog is not None else MAIN_AGENT
        viewed = self.dialog.viewed_agent if self.dialog is not None else MAIN_AGENT
        if not self.refuse(stop=False):
            self.close()
        if wanted:
            self.panel.prompt.put(f"{wanted} ")
        if viewed != MAIN_AGENT and self._view is not None:
            self._view(viewed)

    def lets_view(self, view: Callable[[AgentId], None]) -> None:
        """Dialogs in which an agent can be chosen show it so."""
        self._view = view

    def on_dialog_inquired(self, event: Dialog.Inquired) -> None:
        """It asks the machine."""
        event.stop()
        self._look_up(event.lookup, event.then, event.refused)

    def on_dialog_overtyped(self, event: Dialog.Overtyped) -> None:
        """It was meant for the prompt."""
        event.stop()
        self.panel.prompt.put(event.text)


def _open_ids(story: Story) -> set[str]:
    return {item.ask.request_id for item in story.facts.state.asks}
