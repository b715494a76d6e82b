"""TaskCreate, TaskUpdate, TaskList and TaskGet: the list of work, item by item."""

from typing import Annotated, Any, ClassVar, Literal, Protocol

from msgspec import UNSET, Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TodoBlock, TodoItem
from clew.teams.work_list import WorkChange, WorkItem, WorkRefused
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.toolset import OWN_SOURCE


class WorkDesk(Protocol):
    """The list as one agent reaches it. All raise WorkRefused for what is not done."""

    async def create(self, subject: str, description: str, active_form: str, blocked_by: tuple[int, ...]) -> WorkItem:
        """One more item."""
        ...

    async def update(self, number: int, change: WorkChange) -> tuple[WorkItem, str]:
        """Change one; what else is to be said."""
        ...

    async def delete(self, number: int) -> None:
        """Take one away."""
        ...

    def find(self, number: int) -> tuple[WorkItem, tuple[int, ...], tuple[int, ...]]:
        """One of them, what still blocks it, and what it blocks."""
        ...

    def items(self) -> tuple[WorkItem, ...]:
        """All of them."""
        ...

    def shown(self) -> tuple[TodoItem, ...]:
        """The same as people see them."""
        ...


class TaskCreateParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What is to be done."""

    subject: str
    description: str = ""
    active_form: Annotated[str, Meta(description='While it runs, such as "Running tests"')] = ""
    blocked_by: Annotated[tuple[str, ...], Meta(description="Ids of items that come first")] = ()


class TaskUpdateParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Which item, and what is different."""

    task_id: str
    status: Literal["pending", "in_progress", "completed", "deleted"] | None = None
    owner: Annotated[str, Meta(description="A member's name; empty: nobody")] | None = None
    subject: str | None = None
    description: str | None = None
    active_form: str | None = None
    add_blocked_by: tuple[str, ...] = ()
    add_blocks: tuple[str, ...] = ()
    remove_blocked_by: tuple[str, ...] = ()


class TaskGetParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Which item."""

    task_id: str


class TaskListParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing."""


class _WorkTool(Tool[Any]):
    """Of one agent. It changes only the list."""

    source = OWN_SOURCE
    effect: ClassVar[Effect] = "session"
    words: ClassVar[str]

    def __init__(self, desk: WorkDesk) -> None:
        self._desk = desk

    @property
    def description(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - these words have no file of their own
        """What the model reads."""
        return self.words

    def accesses(self, params: Any, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: Any, context: ToolContext) -> ToolResult:
        try:
            text = await self.done(params)
        except WorkRefused as refused:
            return problem(f"{refused.code}: {refused}. Nothing was changed.")
        shown = () if self.effect == "none" else (TodoBlock(items=self._desk.shown()),)
        return ToolResult(text=text, display=shown)

    async def done(self, params: Any) -> str:
        """Do it; what the model is told. Raises WorkRefused."""
        raise NotImplementedError


class TaskCreate(_WorkTool):
    """One more item."""

    name = "TaskCreate"
    params: ClassVar[type[Struct]] = TaskCreateParams
    hint = "add an item to the shared list of work, todo with dependencies and owners"
    words = (
        "Adds one item to the list of work that you, your team and the user see. Nobody begins it by that. Use it "
        "where items have owners or wait for each other; for your own list of steps TodoWrite is enough."
    )

    async def done(self, params: TaskCreateParams) -> str:
        item = await self._desk.create(
            params.subject, params.description, params.active_form, tuple(number_of(one) for one in params.blocked_by)
        )
        return f"Item #{item.id} is on the list: {item.subject}"


class TaskUpdate(_WorkTool):
    """Another status, owner or words."""

    name = "TaskUpdate"
    params: ClassVar[type[Struct]] = TaskUpdateParams
    hint = "claim, assign, complete or delete an item of the list of work"
    words = (
        "Changes one item of the list of work. status in_progress claims it for you unless owner names somebody; it "
        "is refused as blocked, already_claimed, already_resolved or agent_busy with the reason. completed only when "
        "it is done and checked. deleted takes it away."
    )

    async def done(self, params: TaskUpdateParams) -> str:
        number = number_of(params.task_id)
        if params.status == "deleted":
            await self._desk.delete(number)
            return f"Item #{number} is deleted."
        change = WorkChange(
            subject=UNSET if params.subject is None else params.subject,
            description=UNSET if params.description is None else params.description,
            active_form=UNSET if params.active_form is None else params.active_form,
            status=UNSET if params.status is None else params.status,
            owner=UNSET if params.owner is None else params.owner,
            blocked_by=tuple(number_of(one) for one in params.add_blocked_by),
            blocks=tuple(number_of(one) for one in params.add_blocks),
            unblocked_by=tuple(number_of(one) for one in params.remove_blocked_by),
        )
        item, more = await self._desk.update(number, change)
        return f"{line_of(item)}{more}"


class TaskList(_WorkTool):
    """All items."""

    name = "TaskList"
    params: ClassVar[type[Struct]] = TaskListParams
    effect: ClassVar[Effect] = "none"
    hint = "the shared list of work: items, owners, what is blocked"
    words = "Lists the items of the list of work with status, owner and what each waits for."

    async def done(self, params: TaskListParams) -> str:
        items = self._desk.items()
        return "\n".join(map(line_of, items)) or "The list is empty."


class TaskGet(_WorkTool):
    """One item with all its words."""

    name = "TaskGet"
    params: ClassVar[type[Struct]] = TaskGetParams
    effect: ClassVar[Effect] = "none"
    hint = "one item of the list of work with its description"
    words = "Shows one item of the list of work with its description and what it blocks."

    async def done(self, params: TaskGetParams) -> str:
        item, waits, blocks = self._desk.find(number_of(params.task_id))
        rest = [f"blocks {', '.join(f'#{one}' for one in blocks)}"] if blocks else []
        rest += [f"waits for {', '.join(f'#{one}' for one in waits)}"] if waits else []
        return "\n".join([line_of(item), *rest, *([item.description] if item.description else [])])


def number_of(given: str) -> int:
    """The id of an item: `3`, `#3`. Raises WorkRefused."""
    text = given.strip().removeprefix("#")
    if not text.isdecimal() or len(text) > 9:
        raise WorkRefused("not_found", f"{given!r} is no id of an item")
    return int(text)


def line_of(item: WorkItem) -> str:
    """An item on one line, for a model."""
    owner = f" ({item.owner})" if item.owner else ""
    waits = f" [after {', '.join(f'#{one}' for one in item.blocked_by)}]" if item.blocked_by else ""
    return f"#{item.id} {item.status}{owner}: {item.subject}{waits}"
