"""/memory: the memory files in force, and adding a line to one."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.place import ForgetLine, LineRemembered, ListMemory, MemoryListed, Remember
from clew.text.figures import count, shown_path

ABOUT = CommandHelp(
    name="memory",
    usage="/memory [add LINE | undo]",
    summary="List the memory files the model reads, or add a line to one; #LINE does that too.",
    details=("  undo: take the last line out again that this session added",),
)
WHOSE = {"user": "yours, in every project", "project": "of this project"}


def listing(event: MemoryListed, cwd: str) -> Iterator[str]:
    """What MemoryListed says."""
    if not event.adds_to:
        yield "Memory files are switched off (memory.enabled in the settings)."
        return
    yield "Memory files, in the order the model reads them:" if event.files else "No memory file is in force."
    for row in event.files:
        origin = f", imported by {shown_path(row.imported_by, cwd)}" if row.imported_by else ""
        yield f"  {shown_path(row.path, cwd)}  ({WHOSE[row.scope]}, {count(row.chars, 'character')}{origin})"
    yield from (f"  {note}" for note in event.notes)
    target = shown_path(event.adds_to, cwd)
    yield f"#LINE adds a line to {target}. Edit a file with any editor; new sessions read it anew."


def remembered_line(event: LineRemembered, cwd: str) -> str:
    """What LineRemembered says."""
    if event.removed:
        return f"Taken out of {shown_path(event.path, cwd)} again: {event.line}"
    new = ", a new file" if event.created else ""
    return f"Remembered in {shown_path(event.path, cwd)} ({WHOSE[event.scope]}{new}): {event.line}"


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    word, _, rest = argument.strip().partition(" ")
    if not word:
        return CommandResult(lookups=(ListMemory(),))
    if word == "undo" and not rest.strip():
        return CommandResult(lookups=(ForgetLine(),))
    if word != "add" or not rest.strip():
        return usage_error(ABOUT, "Add which line?" if word == "add" else f"Not understood: {argument.strip()}")
    return CommandResult(lookups=(Remember(line=rest.strip()),))


COMMAND = Command(help=ABOUT, run=run)
