"""The agent's task list and its plans."""

from typing import Any, cast

from msgspec.structs import replace

from clew.ledger.calls import EndedCall, as_object
from clew.ledger.facts import PlanFact, Sources, TodoList
from clew.protocol.display import TodoItem

_STATUS = {
    "done": "completed",
    "complete": "completed",
    "in-progress": "in_progress",
    "inprogress": "in_progress",
    "todo": "pending",
    "open": "pending",
}
_MAX_ITEMS = 100
_MAX_PLAN = 4000


def items_of(arguments: dict[str, Any]) -> tuple[TodoItem, ...]:
    """The items of a TodoWrite call; other agents' words for status are translated."""
    raw = arguments.get("todos", arguments.get("items", arguments.get("plan")))
    if not isinstance(raw, list):
        return ()
    items: list[TodoItem] = []
    for value in cast("list[object]", raw)[:_MAX_ITEMS]:
        item = as_object(value)
        if item is None:
            continue
        content = next(
            (
                item[key]
                for key in ("content", "step", "title", "description", "text")
                if isinstance(item.get(key), str)
            ),
            "",
        )
        status = str(item.get("status", "pending")).lower()
        if content:
            form = item.get("activeForm")
            items.append(
                TodoItem(
                    content=content[:300],
                    status=_STATUS.get(status, status),
                    active_form=form[:300] if isinstance(form, str) else "",
                )
            )
    return tuple(items)


def heading_of(plan: str) -> str:
    """Its first line that says something, without the marks of a heading."""
    return next((line.lstrip("# ").strip() for line in plan.splitlines() if line.strip("# \t")), "")


class TodosFold:
    """The list as last written; the plan as last put forward."""

    def __init__(self) -> None:
        self.todos: TodoList | None = None
        self.plan: PlanFact | None = None

    def write(self, arguments: dict[str, Any], source: Sources, turn: int) -> None:
        """The list was replaced."""
        items = items_of(arguments)
        if items:
            self.todos = TodoList(items=items, source=source, turn=turn)
        elif arguments.get("todos") == []:
            self.todos = None  # emptied, which is not the same as unreadable

    def listed(self, items: tuple[TodoItem, ...], source: Sources, turn: int) -> None:
        """The list of work is this now, whoever changed it."""
        self.todos = TodoList(items=items[:_MAX_ITEMS], source=source, turn=turn) if items else None

    def carry(self, items: tuple[TodoItem, ...], source: Sources, turn: int) -> None:
        """What was open on the list before all that was fed, if no other was written since."""
        if self.todos is None:
            self.todos = TodoList(items=items, source=source, turn=turn)

    def carry_plan(self, text: str, source: Sources) -> None:
        """The plan from before all that was fed, if there is no other; one that was refused does not cross."""
        self.plan = self.plan or PlanFact(text=text[:_MAX_PLAN], approved=True, source=source)

    def worked(self) -> None:
        """Work went on after the list was written."""
        if self.todos and not self.todos.worked_since:
            self.todos = replace(self.todos, worked_since=True)

    def propose(self, arguments: dict[str, Any], source: Sources, turn: int) -> None:
        """A plan awaits its answer."""
        plan = arguments.get("plan")
        if isinstance(plan, str) and plan:
            self.plan = PlanFact(text=plan[:_MAX_PLAN], source=source, turn=turn)

    def settle_plan(self, outcome: EndedCall, *, approved: bool | None) -> None:
        """The plan was accepted or refused; None: nobody decided."""
        if self.plan:
            self.plan = replace(self.plan, approved=approved, source=outcome.source)
