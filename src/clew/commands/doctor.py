"""/doctor: what works here and what is enforced."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.place import ChecksShown, RunChecks
from clew.text.figures import count

ABOUT = CommandHelp(
    name="doctor",
    usage="/doctor",
    summary="Test now what works here and what is enforced: shell, git, sandbox, search, home, settings, models.",
    details=("`clew doctor` prints the same with every detail.",),
)
MARKS = {"ok": "ok", "info": "", "warning": "weak", "problem": "PROBLEM"}


def check_lines(event: ChecksShown) -> Iterator[str]:
    """What ChecksShown says: details only where something is wrong."""
    for check in event.checks:
        yield f"{MARKS[check.state]:<8}{check.name:<10} {check.summary}"
        if check.state in ("warning", "problem"):
            yield from (f"{'':19}{line}" for line in check.details)
    problems, weak = (sum(check.state == state for check in event.checks) for state in ("problem", "warning"))
    yield (
        "Everything works."
        if not problems and not weak
        else f"{count(problems, 'problem')}, {count(weak, 'weak point')}."
    )


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    if argument.strip():
        return usage_error(ABOUT, "/doctor takes no argument.")
    return CommandResult(lookups=(RunChecks(),))


COMMAND = Command(help=ABOUT, run=run)
