"""TodoWrite: the agent's task list, always sent as a whole."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TodoBlock, TodoItem
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool


class TodoParam(Struct, frozen=True, kw_only=True, rename="camel"):
    """One task as the model writes it."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: Annotated[str, Meta(description='While it runs, such as "Running tests"')] = ""


class TodoWriteParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole list."""

    todos: tuple[TodoParam, ...]


class TodoWrite(BuiltinTool[TodoWriteParams]):
    """Keep the list."""

    name = "TodoWrite"
    params: ClassVar[type[Struct]] = TodoWriteParams
    effect: ClassVar[Effect] = "session"

    def accesses(self, params: TodoWriteParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: TodoWriteParams, context: ToolContext) -> ToolResult:
        items = tuple(
            TodoItem(content=todo.content, status=todo.status, active_form=todo.active_form) for todo in params.todos
        )
        done, more = sum(item.status == "completed" for item in items), ""
        text = f"Task list saved: {done} of {len(items)} done."
        work = context.work()
        if work is not None:
            try:
                items, more = await work.write(items)
            except ValueError as error:
                return problem(f"The task list was not saved: {error}.")
        self.session.todos = items
        return ToolResult(text=f"{text}{more}".strip(), display=(TodoBlock(items=items),))
