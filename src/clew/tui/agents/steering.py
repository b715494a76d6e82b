"""Agents in the background, seen and steered: who routes the keys of the list, and who is talked to."""

import asyncio
import time

from clew.composing.keymap import Keymap
from clew.composing.typed_input import TypedInput, op_of
from clew.protocol.agent_path import called
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.tasks import StopTask
from clew.protocol.messages import TextPart, text_of
from clew.protocol.ops import MessageAgent, SubmitPrompt
from clew.tui.agents.listed import ListedAgents
from clew.tui.agents.selector import AgentSelector
from clew.tui.conversation import ScreenConversation
from clew.tui.dock import Dock
from clew.tui.prompt.prompt import PLACEHOLDER
from clew.tui.reading.drawing import Drawing
from clew.tui.reading.transcript import Transcript
from clew.tui.terminal.key_order import focus_now

NO_PICTURES = "An agent takes words only: nothing was sent. Up brings your text back."


class AgentSteering:
    """The one place that knows which agent is viewed. The list is told of every event."""

    def __init__(
        self,
        conversation: ScreenConversation,
        drawing: Drawing,
        transcript: Transcript,
        dock: Dock,
        keymap: Keymap,
    ) -> None:
        self._conversation = conversation
        self._drawing = drawing
        self._transcript = transcript
        self._dock = dock
        self._keymap = keymap
        self.listed = ListedAgents()
        self._timer: asyncio.TimerHandle | None = None
        self._seen: dict[AgentId, str] = {}
        """By agent the newest that was seen of it when its view was left."""
        self.selector = AgentSelector(
            tokens=lambda row: self.listed.tokens(row.task_id),
            elapsed_s=lambda row: self.listed.elapsed_s(row.task_id, _now_s()),
            view=self.look_at,
            end=self.end,
            leave=self.leave,
            keymap=keymap,
            ascii_only=drawing.ascii_only,
        )

        dock.lets_view(self.look_at)

    @property
    def viewed(self) -> AgentId:
        """Whom the pane shows, and to whom words go."""
        view = self._conversation.view
        return view.agent if view is not None else MAIN_AGENT

    def follow(self) -> None:
        """After every event: what the list holds, and one timer to the next that goes by itself."""
        now_s = _now_s()
        self.listed.follow(self._conversation.story.facts.state, self.viewed, now_s, wall_s=time.time())
        self.selector.show(self.listed.rows, self.viewed)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if (due_s := self.listed.next_expiry_s(now_s)) is not None:
            self._timer = asyncio.get_running_loop().call_at(due_s, self.follow)

    def press(self, key: str) -> bool:
        """Down in an empty prompt, below the newest line of its history, goes to the list where there is one."""
        prompt = self._dock.panel.prompt
        if prompt.text or not self.selector.filled or self._keymap.action(("prompt",), (key,)) != "down":
            return False
        self.selector.enter()
        focus_now(self.selector, prompt)
        return True

    def back_to_main(self) -> bool:
        """Show the main conversation again; false where it is shown."""
        if self.viewed == MAIN_AGENT:
            return False
        self.look_at(MAIN_AGENT)
        return True

    def leave(self, text: str = "") -> None:
        """Back to typing."""
        prompt = self._dock.panel.prompt
        if self._dock.asking:
            self._dock.take_focus()
            return
        if text:
            prompt.put(text)
        focus_now(prompt, self.selector)

    def look_at(self, agent: AgentId) -> None:
        """Show an agent in the pane, or the main conversation again; who is addressed changes with it."""
        if agent == self.viewed:
            return
        if (before := self._conversation.view) is not None:
            self._seen[before.agent] = before.newest
        self._conversation.look_at(agent, seen=self._seen.get(agent, ""))
        self._transcript.to_end()
        row = next((row for row in self.listed.rows if row.task_id == agent), None)
        who = called(row.agent_kind, row.name, row.title) if row is not None else ""
        self._dock.panel.prompt.address(who if agent != MAIN_AGENT else "", PLACEHOLDER)
        self.follow()
        self._drawing.soon()

    def end(self, agent: AgentId) -> None:
        """Stop one that works; clear one that has ended from the list."""
        row = next((row for row in self.listed.rows if row.task_id == agent), None)
        if row is None:
            return
        if row.standing.open:
            self._drawing.hint("stopping it …")
            self._conversation.look_up(StopTask(task_id=row.task_id), lambda _: None, self._drawing.hint)
            return
        if self.viewed == agent:
            self.look_at(MAIN_AGENT)
        self.listed.clear(row.task_id)
        self.follow()

    def addressed(self, typed: TypedInput) -> bool:
        """Whether an input was for the agent that is viewed, and has gone there. Commands are for the conversation: the
        pane goes back to it."""
        if self.viewed == MAIN_AGENT:
            return False
        op = op_of(typed)
        if not isinstance(op, SubmitPrompt):
            self.look_at(MAIN_AGENT)
            return False
        if not isinstance(op.content, str) and any(not isinstance(part, TextPart) for part in op.content):
            self._drawing.hint(NO_PICTURES)
        else:
            self._conversation.send(MessageAgent(to=self.viewed, text=text_of(op.content)))
        return True


def _now_s() -> float:
    return asyncio.get_running_loop().time()
