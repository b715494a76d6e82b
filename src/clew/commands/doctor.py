"""/doctor: what works here and what is enforced."""

from collections.abc import Iterator, Sequence

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.place import CheckRow, ChecksShown, RunChecks
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
    yield verdict(event.checks)


def verdict(checks: Sequence[CheckRow]) -> str:
    """The last line: that everything works is said only where the model's server was asked and answered."""
    problems, weak = (sum(check.state == state for check in checks) for state in ("problem", "warning"))
    if problems or weak:
        return f"{count(problems, 'problem')}, {count(weak, 'weak point')}."
    if any(check.name == "model" and check.state == "ok" for check in checks):
        return "Everything works."
    return "Nothing is wrong in what was tried; the model was not."


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    if argument.strip():
        return usage_error(ABOUT, "/doctor takes no argument.")
    return CommandResult(lookups=(RunChecks(),))


COMMAND = Command(help=ABOUT, run=run)
