"""/todos: the list of work."""

from collections.abc import Iterator, Sequence

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.display import TodoItem

ABOUT = CommandHelp(name="todos", usage="/todos", summary="Show the agent's task list.")
MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


def todo_lines(items: Sequence[TodoItem]) -> Iterator[str]:
    """In ASCII, so that every terminal and screen reader has it."""
    if not items:
        yield "The agent keeps no task list now."
        return
    done = sum(item.status == "completed" for item in items)
    yield f"Tasks: {done} of {len(items)} done"
    for item in items:
        words = item.active_form if item.status == "in_progress" and item.active_form else item.content
        number = f"#{item.number} " if with_numbers(items) else ""
        waits = f" (after {', '.join(f'#{one}' for one in item.blocked_by)})" if item.blocked_by else ""
        owner = f" @{item.owner}" if item.owner else ""
        yield f"  {MARKS.get(item.status, '[?]')} {number}{words}{owner}{waits}"


def with_numbers(items: Sequence[TodoItem]) -> bool:
    """Whether ids say anything: items were added one by one, somebody else works on the list, or items wait for each
    other."""
    return any(item.owner or item.blocked_by or (item.number and not item.todo_of) for item in items)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Print it; nothing is asked of anyone."""
    if argument.strip():
        return usage_error(ABOUT, "/todos takes no argument.")
    return CommandResult(lines=tuple(todo_lines(context.facts.state.todos)))


COMMAND = Command(help=ABOUT, run=run)
