"""/help: what can be typed."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error, usage_lines

ABOUT = CommandHelp(
    name="help",
    usage="/help [COMMAND]",
    summary="List the commands, or explain one.",
    aliases=("?",),
)

TYPING = (
    "Typing:",
    "  Enter sends. A backslash at the end continues the line;",
    '  """ alone on a line opens and closes a block.',
    "  While the agent works, your words join at its next step.",
    "  Ctrl-C interrupts the agent; twice quits. Ctrl-D quits.",
    "  A prompt that starts with a slash: type the slash twice.",
    "  @src/x.py names a file; the agent reads it itself.",
    "  @shot.png sends the picture along (PNG, JPEG, GIF, WebP).",
    "  !COMMAND runs it in your shell, and the agent sees what it printed.",
    "  #LINE adds a line to a memory file.",
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """All commands, or the usage of one."""
    wanted = argument.strip().removeprefix("/").lower()
    if not wanted:
        rows = [f"  {about.usage} - {about.summary}" for about in context.catalogue]
        return CommandResult(lines=("Commands:", *rows, *TYPING))
    for about in context.catalogue:
        if wanted == about.name or wanted in about.aliases:
            return CommandResult(lines=usage_lines(about))
    return usage_error(ABOUT, f"There is no command /{wanted}.")


COMMAND = Command(help=ABOUT, run=run)
