"""Agents and tasks of a session, as people reach them: what runs beside the conversation, and words to an agent."""

import asyncio
import os

from msgspec.structs import replace

from clew.agents.factory import AgentFactory
from clew.agents.runner import BUILTIN_KINDS, COORDINATOR
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, nothing
from clew.host.prompt_bytes import digest_of
from clew.host.session import EndReason, Session
from clew.llm.estimate import estimate_request
from clew.protocol.events import SessionStarted
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.lookups.tasks import (
    CleanWorktrees,
    ClearTasks,
    ListTasks,
    ShowTask,
    StopTask,
    TaskShown,
    TasksListed,
)
from clew.protocol.ops import ForkAgent, MessageAgent, SendToBackground, SetCoordinator

NOW_ON = "coordinator mode is on: the conversation gives all work to workers in the background. "
NOW_OFF = "coordinator mode is off: the conversation works itself again. "
NEW_PREFIX = "Requests begin with other bytes now: the next one sends about {tokens:,} tokens that no cache has"
TOLD_ON = "[From here on you coordinate: your tools are Agent, SendMessage and TaskStop, and workers do the work.]"
TOLD_OFF = "[From here on you work yourself again, with all tools.]"


class AgentPart(Part):
    """The child agents and the registry of tasks. What runs them is loaded by the first of them, or by a past that left
    some behind."""

    def start(self, own: PartSession) -> None:
        """Belong to a session. What an earlier process left unsettled is settled now, before anything else happens."""
        self._own = own
        self._settling: asyncio.Task[None] | None = None
        self._session: Session = own.session
        self._tools = own.toolbox.shared
        self._own_tools = own.toolbox.session
        self._agents: AgentFactory = own.agents
        state = own.session.journal.main.state
        if any(row.kind == "agent" and row.lost for row in state.tasks) or state.owed:
            self._agents.children.settle_lost(MAIN_AGENT)
            self._agents.children.outbox.send(MAIN_AGENT, quietly=True)

    def introduced(self, started: SessionStarted) -> SessionStarted:
        """The kinds that everybody has."""
        builtin = self._tools.place.settings.agents.builtin
        return replace(started, agents=BUILTIN_KINDS) if builtin else started

    def begin(self) -> None:
        """A front end listens. Checkouts of processes that died before they told of them are settled meanwhile, off the
        loop; once is enough."""
        if self._settling is None and self._has_receipts():
            self._settling = asyncio.create_task(asyncio.to_thread(self._agents.children.checkouts.recover))

    async def stop(self) -> None:
        """What runs beside the conversation ends with it, and that is told."""
        self._agents.closing()
        await self._tools.end_tasks()

    async def leave(self, reason: EndReason) -> None:
        """Until every child that was stopped has been told of."""
        await self._agents.close()
        if self._settling is not None:
            await asyncio.gather(self._settling, return_exceptions=True)  # what is not settled now is so by the next

    def ops(self) -> OpHandlers:
        """What people want of agents."""
        return {
            ForkAgent: self._fork,
            MessageAgent: self._message,
            SendToBackground: self._to_background,
            SetCoordinator: self._set_coordinator,
        }

    def lookups(self) -> Answerers:
        """What front ends ask about tasks."""
        return {
            ListTasks: self._list,
            ShowTask: self._show,
            StopTask: self._stop,
            ClearTasks: self._clear,
            CleanWorktrees: self._clean,
        }

    async def _fork(self, op: ForkAgent) -> Effect:
        if self._session.lost:
            raise OpRefused(f"nothing was started: {self._session.lost}")
        if not op.directive.strip():
            raise OpRefused("a fork needs a directive: /fork DIRECTIVE")
        if self._agents.coordinates:
            raise OpRefused("a coordinator does not fork: ask it for the work, or turn /coordinator off")
        children = self._agents.children

        def begin() -> None:
            try:
                children.start(children.spec("fork"), op.directive, parent=MAIN_AGENT, background=True)
            except ValueError as error:
                self._session.notice("error", str(error))

        return begin

    async def _set_coordinator(self, op: SetCoordinator) -> Effect:
        """Prompt and tools change together, between turns: the log has the new beginning, and its size is told."""
        own, wanted = self._own, not self._agents.coordinates if op.on is None else op.on
        if wanted == self._agents.coordinates:
            raise OpRefused(f"the conversation {'coordinates already' if wanted else 'does not coordinate'}")
        if own.recast is None or self._session.lost:
            raise OpRefused("the conversation cannot be changed here")
        if self._session.main.working:
            raise OpRefused("a turn runs: interrupt it, or wait for its end")
        blocks = own.recast(wanted)

        def change() -> None:
            named, digest = COORDINATOR if wanted else "", digest_of(own.agent.tools.specs)
            self._session.use_prompt(blocks, agent=named, tools=digest)
            self._agents.coordinate(wanted)
            tokens = estimate_request(own.agent.request())
            words = (NOW_ON if wanted else NOW_OFF) + NEW_PREFIX.format(tokens=tokens)
            self._session.notice("info", words, code="mode")
            own.reminders.add(TOLD_ON if wanted else TOLD_OFF)

        return change

    async def _message(self, op: MessageAgent) -> Effect:
        """Words of a person to a child: to one that has ended they go on from its log, and its parent is not told."""
        if self._session.lost:
            raise OpRefused(f"nothing was sent: {self._session.lost}")
        if not op.text.strip():
            raise OpRefused("the message is empty, so nothing was sent")
        team = self._agents.team
        try:
            if team is not None and team.is_outside(op.to):
                await team.post(MAIN_AGENT, op.to, op.text)
            else:
                await self._agents.children.talk.say(op.to, op.text)
        except ValueError as error:
            raise OpRefused(f"nothing was sent: {error}") from error
        return nothing

    async def _to_background(self, op: SendToBackground) -> Effect:
        """Commands and agents that a call waits for; one of them, where the op names it."""
        shells = 0 if op.task_id else self._own_tools.sent_to_background()
        agents = self._agents.sent_to_background(op.task_id)
        if not shells and not agents:
            raise OpRefused("nothing runs that could go on in the background")
        return nothing

    async def _list(self, lookup: ListTasks) -> TasksListed:
        left = await self._agents.children.leftovers() if lookup.worktrees and self._has_receipts() else ()
        return TasksListed(tasks=(*self._tools.registry.rows(), *left))

    async def _clean(self, lookup: CleanWorktrees) -> TasksListed:
        try:
            done = await self._agents.children.clean(lookup.name)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        self._session.notice("info", "\n".join(done) or "no checkout was left", code="worktree")
        return await self._list(ListTasks(worktrees=True))

    def _has_receipts(self) -> bool:
        """Whether anything is known of checkouts on this machine: one name on disk."""
        return os.path.isdir(self._tools.place.home / "worktrees")

    async def _clear(self, lookup: ClearTasks) -> TasksListed:
        self._tools.registry.clear()
        return TasksListed(tasks=self._tools.registry.rows())

    def _task(self, name: str) -> str:
        """The id of a task; an agent is found by its name, too."""
        if self._tools.registry.find(name) is not None:
            return name
        return next((row.task_id for row in self._tools.registry.rows() if row.name and row.name == name), name)

    async def _show(self, lookup: ShowTask) -> TaskShown:
        if lookup.task_id.startswith("worktree:"):
            left = await self._agents.children.leftover(lookup.task_id)
            if left is None:
                raise OpRefused(f"there is no checkout {lookup.task_id} any more")
            return TaskShown(task=left[0], output=left[1])
        row, output = self._tools.registry.shown(self._task(lookup.task_id))
        if not output and row.kind == "agent":
            try:
                output = self._agents.children.words_of(self._agents.children.files.find(row.task_id))
            except ValueError as error:
                output = str(error)
        return TaskShown(task=row, output=output)

    async def _stop(self, lookup: StopTask) -> TasksListed:
        registry = self._tools.registry
        task = self._task(lookup.task_id)
        registry.check_running(task)
        await registry.stop(task, "user")
        return TasksListed(tasks=registry.rows())
