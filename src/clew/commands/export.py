"""/export: the session as a file."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import ExportFormat, ExportSession, SessionExported

FORMATS: dict[str, ExportFormat] = {
    "markdown": "markdown",
    "md": "markdown",
    "json": "json",
    "jsonl": "jsonl",
    "claude-code": "claude-code",
}
ABOUT = CommandHelp(
    name="export",
    usage="/export [FILE] [--to markdown | json | jsonl | claude-code]",
    summary="Write the session to a file, secrets taken out.",
    details=("Without FILE it is named after the title, in exports/ of clew's home. No file is overwritten.",),
)


def exported_line(event: SessionExported) -> str:
    """What SessionExported says."""
    return f"Written: {event.path} ({event.to}, {event.bytes:,} bytes). Secrets were taken out."


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event. A file's name may have spaces; the format may stand before or after it."""
    before, flag, after = argument.strip().partition("--to")
    wanted, _, behind = after.strip().removeprefix("=").strip().partition(" ")
    if flag and wanted.lower() not in FORMATS:
        return usage_error(ABOUT, f"There is no format {wanted}." if wanted else "To which format?")
    file = " ".join(part for part in (before.strip(), behind.strip()) if part)
    if file.startswith("-"):
        return usage_error(ABOUT, f"Not understood: {file}")
    to = FORMATS[wanted.lower()] if flag else _by_name(file)
    return CommandResult(lookups=(ExportSession(path=file, to=to),))


def _by_name(file: str) -> ExportFormat:
    return FORMATS.get(file.rpartition(".")[2].lower(), "markdown") if "." in file else "markdown"


COMMAND = Command(help=ABOUT, run=run)
