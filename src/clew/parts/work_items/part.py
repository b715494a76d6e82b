"""The one list of work: tools and TodoWrite change its file, and what this session sees of it is in its log."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from msgspec.structs import replace

from clew.host.part import Part, PartSession, PartSetup
from clew.parts.work_items.changes import change_words
from clew.parts.work_items.tools import TaskCreate, TaskGet, TaskList, TaskUpdate
from clew.parts.work_items.written import written_items
from clew.protocol.display import TodoItem
from clew.protocol.event_kinds.agents import TeamChanged, WorkChanged
from clew.protocol.events import Event, Rewound
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.teams.names import LEAD
from clew.teams.work_list import Todo, WorkChange, WorkItem, WorkList, WorkRefused, list_folder
from clew.tools.base import Tool

TOOLS = {tool.name: tool for tool in (TaskCreate, TaskGet, TaskList, TaskUpdate)}
LOOK_S = 1.0
CHECKS = re.compile(r"(?i)verif|check|test|review|prüf|vérif|comprob|验证|检查|测试")
"""What the subject of an item says that checks others."""
NUDGE_AFTER = 3
NUDGE = (
    "\n{count} items are done and none of them checks the work: run what proves it, or give that to an agent of the "
    "kind verification, before you call it done."
)
HookAsk = Callable[[str, dict[str, Any], str], Awaitable[str]]
"""Asks the user's hooks of a moment, with fields and a subject: why not, or nothing."""


async def no_hook(moment: str, fields: dict[str, Any], subject: str) -> str:
    """Nobody has hooks."""
    return ""


class WorkPart(Part):
    """One per session, made with the first item, or with a past that has a list."""

    def __init__(self, setup: PartSetup, *, ask: HookAsk | None = None, list_id: str = "") -> None:
        """`ask`: the user's hooks. `list_id`: the session whose list it is; empty: its own."""
        self._home = setup.workspace.home
        self._kept = setup.past.path is not None
        self._list_id = list_id
        self._ask = ask or no_hook
        self._watching: asyncio.Task[None] | None = None
        self.assign: Callable[[str, str, int, str], Coroutine[Any, Any, str]] | None = None
        """Tells a member of an item that it was given: by whom, to whom, which. Why it is not told, or nothing."""
        self.address: Callable[[str], str] = lambda name: name
        """How the owner that is meant is written in the team."""
        self.member: Callable[[AgentId], str] = lambda agent: ""
        """The name that an agent has in the team; empty: it is in none."""

    def start(self, own: PartSession) -> None:
        """Belong to a session. A list whose file is gone, and that of a copy of a session, is made again as the log has
        it."""
        self._own = own
        self._session = own.session
        self.list = WorkList(list_folder(self._home, self._list_id or own.session.started.session_id))
        state = own.session.journal.main.state
        if self._kept and not self._list_id and state.todos and not self.list.known:
            items = (item_of(at, item) for at, item in enumerate(state.todos, 1))
            self.list.restore(items if state.team is not None else map(nobodys, items))

    def begin(self) -> None:
        """A front end listens: what others changed since is told."""
        self.tell("")
        if self._list_id and self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    def on(self, event: Event, agent: AgentId) -> None:
        """With members in panes, others write the list too; a rewind takes back what TodoWrite wrote."""
        if isinstance(event, Rewound) and event.scope != "files" and agent == MAIN_AGENT and self._kept:
            self._go_back()
        if isinstance(event, TeamChanged) and agent == MAIN_AGENT:
            outside = event.team is not None and any(row.backend == "pane" for row in event.team.members)
            if outside and self._watching is None:
                self._watching = asyncio.create_task(self._watch())
            elif not outside and self._watching is not None and not self._list_id:
                self._watching.cancel()
                self._watching = None

    def _go_back(self) -> None:
        """The main agent's own items are as the conversation says that is left; what is shared stays."""
        items = written_items(self._session.journal.main.conversation.entries, self._session.started.session_id)
        if items is None:
            return
        todos = [Todo(subject=one.content, status=status_of(one), active_form=one.active_form) for one in items]
        try:
            self.list.write_todos(todos, by=LEAD)
        except WorkRefused as error:
            self._session.notice("warning", f"the list of work is as it was before: {error}", code="team")
        self.tell(LEAD)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            if self.list.refresh():
                self.tell("")

    async def stop(self) -> None:
        """Look no longer."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    # What is told.

    def shown(self) -> tuple[TodoItem, ...]:
        """The list as people see it."""
        items = self.list.items()
        return tuple(todo_of(item, self.list.blockers(item)) for item in items)

    def tell(self, by: str) -> None:
        """The list as it is now goes into the log, where that has another one."""
        items, known = self.shown(), self._session.journal.main.state.todos
        if not self._session.closed and items != known:
            self._session.publish(WorkChanged(items=items, by=by, done=change_words(known, items)))

    # Tools.

    def deferred(self, name: str, agent: AgentId) -> Tool[Any] | None:
        """The tools of the list."""
        made = TOOLS.get(name)
        return made(Desk(self, agent)) if made is not None else None

    def tools_for(self, agent: AgentId) -> tuple[Tool[Any], ...]:
        """All of them, for a member of a team."""
        return tuple(tool(Desk(self, agent)) for tool in TOOLS.values())

    def named(self, agent: AgentId) -> str:
        """Under which name an agent owns items."""
        return self.member(agent) or (LEAD if agent == MAIN_AGENT else agent)

    async def write(self, agent: AgentId, todos: tuple[TodoItem, ...]) -> tuple[tuple[TodoItem, ...], str]:
        """What TodoWrite says: the caller's own items are these now. All items, and what else is to be said. Raises
        WorkRefused."""
        name = self.named(agent)
        mine = {item.subject: item for item in self.list.items() if item.todo_of == name}
        wanted: list[Todo] = []
        against: list[str] = []
        for one in todos:
            todo = Todo(subject=" ".join(one.content.split()), status=status_of(one), active_form=one.active_form)
            known = mine.get(todo.subject)
            item = known or WorkItem(id=0, subject=todo.subject)
            if known is None and (why := await self.ask("TaskCreated", item, name)):
                against.append(f"{todo.subject!r} is not on the list: a hook says {why}")
                continue
            finishes = todo.status == "completed" and item.status != "completed"
            if finishes and (why := await self.ask("TaskCompleted", item, name)):
                against.append(f"{todo.subject!r} stays open: a hook says {why}")
                todo = replace(todo, status="in_progress")
            wanted.append(todo)
        items = await asyncio.to_thread(self.list.write_todos, wanted, by=name)
        if agent != MAIN_AGENT or any(item.todo_of != name for item in items):
            self.tell(name)
        others = [item for item in items if item.todo_of != name]
        more = f" The list has {len(others)} more of others." if others else ""
        return self.shown(), "\n".join([f"{more}{self.nudge(name)}", *against])

    def desk(self, agent: AgentId) -> "Desk | None":
        """The list as TodoWrite of an agent reaches it; None: an agent that is in no team has a list of its own."""
        return Desk(self, agent) if self._kept and (agent == MAIN_AGENT or self.member(agent)) else None

    # What a team needs.

    async def release(self, owner: str) -> tuple[int, ...]:
        """What this member had open is nobody's again; which items."""
        try:
            released = await asyncio.to_thread(self.list.release, owner, by=LEAD)
        except WorkRefused as error:
            self._session.notice("warning", f"the open work of {owner} could not be released: {error}", code="team")
            return ()
        self.tell(LEAD)
        return released

    def open_of(self, owner: str) -> int:
        """How many items it has in progress."""
        return sum(item.owner == owner and item.status == "in_progress" for item in self.list.items())

    async def ask(self, moment: str, item: WorkItem, name: str) -> str:
        """The user's hooks about an item; why it must not be, or nothing."""
        fields = {
            "task_id": str(item.id),
            "task_subject": item.subject,
            "task_description": item.description,
            "teammate_name": name,
        }
        return await self._ask(moment, fields, item.subject)

    def nudge(self, name: str) -> str:
        """Words to who has finished several items and checked none."""
        items = [item for item in self.list.items() if item.owner in (name, "")]
        done = [item for item in items if item.status == "completed"]
        if len(done) < NUDGE_AFTER or len(done) < len(items) or any(CHECKS.search(item.subject) for item in items):
            return ""
        return NUDGE.format(count=len(done))


class Desk:
    """The list as one agent reaches it."""

    def __init__(self, part: WorkPart, agent: AgentId) -> None:
        self._part = part
        self._agent = agent

    async def create(self, subject: str, description: str, active_form: str, blocked_by: tuple[int, ...]) -> WorkItem:
        """One more item, unless a hook is against it."""
        part, name = self._part, self._part.named(self._agent)
        wanted = WorkItem(id=0, subject=" ".join(subject.split()), description=description)
        if why := await part.ask("TaskCreated", wanted, name):
            raise WorkRefused("bad", f"a hook does not let it be created: {why}")
        item = await asyncio.to_thread(
            part.list.create,
            subject,
            by=name,
            description=description,
            active_form=active_form,
            blocked_by=blocked_by,
        )
        self._tell(name)
        return item

    async def update(self, number: int, change: WorkChange) -> tuple[WorkItem, str]:
        """Change one. Completing asks the user's hooks first; an item that gets another owner is told to that one."""
        part, name = self._part, self._part.named(self._agent)
        before = part.list.find(number)
        if change.owner:
            change = replace(change, owner=part.address(change.owner))
        finishes = change.status == "completed" and before.status != "completed"
        if finishes and (why := await part.ask("TaskCompleted", before, name)):
            raise WorkRefused("bad", f"a hook does not let #{number} be completed: {why}")
        item = await asyncio.to_thread(part.list.update, number, change, by=name)
        self._tell(name)
        more = ""
        if item.owner and item.owner not in (name, before.owner) and part.assign is not None:
            why = await part.assign(name, item.owner, item.id, item.subject)
            more = f"\n{item.owner} is NOT told: {why}." if why else f"\n{item.owner} is told."
        if change.status == "completed":
            more += f"\nTaskList shows what can be begun now.{part.nudge(name)}"
        return item, more

    async def write(self, todos: tuple[TodoItem, ...]) -> tuple[tuple[TodoItem, ...], str]:
        """TodoWrite of this agent."""
        return await self._part.write(self._agent, todos)

    async def delete(self, number: int) -> None:
        """Take one away."""
        name = self._part.named(self._agent)
        await asyncio.to_thread(self._part.list.delete, number, by=name)
        self._tell(name)

    def find(self, number: int) -> tuple[WorkItem, tuple[int, ...], tuple[int, ...]]:
        """One of them, what still blocks it, and what it blocks."""
        item = self._part.list.find(number)
        waits = tuple(one.id for one in self._part.list.blockers(item))
        return item, waits, self._part.list.blocks(number)

    def items(self) -> tuple[WorkItem, ...]:
        """All of them."""
        return self._part.list.items()

    def shown(self) -> tuple[TodoItem, ...]:
        """The same as people see them."""
        return self._part.shown()

    def _tell(self, name: str) -> None:
        self._part.tell(name)


def todo_of(item: WorkItem, blockers: tuple[WorkItem, ...]) -> TodoItem:
    """An item as people see it."""
    return TodoItem(
        content=item.subject,
        status=item.status,
        active_form=item.active_form,
        number=item.id,
        owner="" if item.owner == LEAD else item.owner,
        blocked_by=tuple(one.id for one in blockers),
        description=item.description,
        todo_of=item.todo_of,
    )


def item_of(at: int, todo: TodoItem) -> WorkItem:
    """An item as a log tells of it; lists of old logs have no ids."""
    return WorkItem(
        id=todo.number or at,
        subject=todo.content,
        status=status_of(todo),
        active_form=todo.active_form,
        owner=todo.owner or LEAD,
        blocked_by=todo.blocked_by,
        description=todo.description,
        todo_of=todo.todo_of if todo.number else LEAD,
    )


def nobodys(item: WorkItem) -> WorkItem:
    """An item that a member had, in a session that has no team: a copy of one that has."""
    if item.owner in ("", LEAD) or item.status == "completed":
        return item
    return replace(item, owner="", status="pending", todo_of="")


def status_of(todo: TodoItem) -> Any:
    """Its status, of the three that there are."""
    return todo.status if todo.status in ("pending", "in_progress", "completed") else "pending"
