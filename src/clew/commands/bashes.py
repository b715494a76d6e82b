"""/bashes: commands in the background: list, look, stop."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.commands.figures import duration
from clew.protocol.events import ShellRow, ShellShown
from clew.protocol.ops import ListShells, ShowShell, StopShell

ABOUT = CommandHelp(
    name="bashes",
    usage="/bashes [ID | stop ID]",
    summary="List the commands in the background, show what one printed, or stop one.",
)


def state_words(row: ShellRow) -> str:
    """running 2 min, exited with code 1, stopped."""
    if row.state == "running":
        return f"running for {duration(int(row.age_s * 1000))}"
    return "stopped" if row.state == "stopped" else f"exited with code {row.exit_code}"


def listing(shells: tuple[ShellRow, ...]) -> Iterator[str]:
    """What ShellsListed says."""
    if not shells:
        yield "No command runs or ran in the background."
        return
    for row in shells:
        yield f"{row.shell_id}  {' '.join(row.command.split())}  ({state_words(row)})"
        yield from (f"    {line}" for line in row.tail)
    yield "/bashes ID shows what one printed; /bashes stop ID ends one."


def shown(event: ShellShown) -> Iterator[str]:
    """What ShellShown says."""
    yield f"{event.shell.shell_id}  {' '.join(event.shell.command.split())}  ({state_words(event.shell)})"
    yield from event.output.rstrip("\n").splitlines() or ["(no output yet)"]
    if event.shell.output_file:
        yield f"All of it: {event.shell.output_file}"


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    match argument.split():
        case []:
            return CommandResult(ops=(ListShells(),))
        case ["stop" | "kill", shell_id]:
            return CommandResult(ops=(StopShell(shell_id=shell_id),))
        case ["stop" | "kill"]:
            return usage_error(ABOUT, "Which one? /bashes lists them.")
        case [shell_id]:
            return CommandResult(ops=(ShowShell(shell_id=shell_id),))
        case _:
            return usage_error(ABOUT, f"Not understood: {argument.strip()}")


COMMAND = Command(help=ABOUT, run=run)
