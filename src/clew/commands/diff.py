"""/diff: what this session changed in files."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult
from clew.protocol.lookups.session import DiffShown, ShowDiff
from clew.text.figures import change, count, shown_path

ABOUT = CommandHelp(
    name="diff",
    usage="/diff [PATH]",
    summary="Show what this session changed, as the files are now; PATH: only paths that hold this.",
)
MAX_PATCH_LINES = 200
"""Of all files together; the rest is counted."""


def nothing_words(*, warned: bool, ignored: bool) -> str:
    """What is said where no change is shown."""
    if warned:
        return "No change is known."
    return "This session changed no files but ignored ones." if ignored else "This session changed no files."


def diff_lines(event: DiffShown, cwd: str) -> Iterator[str]:
    """What DiffShown says. Names and patches are somebody else's words: the screen makes them safe."""
    if not event.files:
        yield nothing_words(warned=bool(event.warnings), ignored=bool(event.ignored))
    room = MAX_PATCH_LINES
    for block in event.files:
        new = " (new)" if block.created else ""
        yield f"{' '.join(shown_path(block.path, cwd).split())} {change(block.added, block.removed)}{new}"
        lines = block.patch.splitlines()
        yield from (f"    {line}" for line in lines[:room])
        if len(lines) > room:
            yield f"    … {count(len(lines) - room, 'more line')}"
        room = max(0, room - len(lines))
    if event.left_out:
        yield f"… and {count(event.left_out, 'more file')}"
    if len(event.files) > 1:
        added, removed = sum(block.added for block in event.files), sum(block.removed for block in event.files)
        yield f"{count(len(event.files) + event.left_out, 'file')} {change(added, removed)}"
    if event.ignored:
        yield f"{count(event.ignored, 'file')} that git ignores: not shown (/diff PATH shows them)"
    yield from (f"Not known: {' '.join(line.split())}" for line in event.warnings)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    return CommandResult(lookups=(ShowDiff(path=argument.strip()),))


COMMAND = Command(help=ABOUT, run=run)
