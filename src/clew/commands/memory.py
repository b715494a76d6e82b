"""/memory: the memory files in force, and adding a line to one."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.place import AcceptMemory, ForgetLine, LineRemembered, ListMemory, MemoryListed, Remember
from clew.text.figures import count, shown_path
from clew.text.terminal_text import reveal

ABOUT = CommandHelp(
    name="memory",
    usage="/memory [add LINE | undo | accept]",
    summary="List the memory files the model reads, or add a line to one; #LINE does that too.",
    details=(
        "  undo: take the last line out again that this session added",
        "  accept: believe what commands changed in memory files, after you have looked at it",
    ),
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
    for doubt in event.doubted:
        yield f"Changed by a command ({' '.join(doubt.command.split())[:120]}): {shown_path(doubt.path, cwd)} now says:"
        yield from (f"  | {line}" for line in reveal(doubt.text).splitlines())
    if event.doubted:
        yield "New sessions leave that out until you have looked at it: /memory accept, or edit the file."
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
    if word == "accept" and not rest.strip():
        return CommandResult(lookups=(AcceptMemory(),))
    if word != "add" or not rest.strip():
        return usage_error(ABOUT, "Add which line?" if word == "add" else f"Not understood: {argument.strip()}")
    return CommandResult(lookups=(Remember(line=rest.strip()),))


COMMAND = Command(help=ABOUT, run=run)
