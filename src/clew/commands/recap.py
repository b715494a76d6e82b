"""/recap: where you are, in one line, and why it was or was not shown."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import RequestRecap

ABOUT = CommandHelp(
    name="recap",
    usage="/recap [why | --llm]",
    summary="Where you are: task, state, what changed, what is open.",
    details=(
        "  why: why the last one was shown, who wrote it, and what of a model's words was left out.",
        "  --llm: let a model write it, checked against the session, also where recap.model is off.",
    ),
    aliases=("away", "catchup"),
)

NONE_YET = (
    "No recap was shown yet: one is shown when a session is resumed, when you ask, and when you come back "
    "after recap.awayMinutes to a session of three prompts or more."
)


def _why(context: CommandContext) -> CommandResult:
    facts = context.facts
    if not facts.state.recap:
        return CommandResult(lines=(facts.recap_why or NONE_YET,))
    words = "by a model, checked against the session" if facts.recap_source == "model" else "from facts alone"
    told = (f"The last recap was written {words}: {facts.state.recap}", facts.recap_why)
    return CommandResult(lines=tuple(line for line in told if line))


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for one; RecapReady or a notice is the answer."""
    wanted = argument.strip()
    if wanted == "why":
        return _why(context)
    if wanted in ("", "--llm"):
        return CommandResult(ops=(RequestRecap(model=wanted == "--llm"),))
    return usage_error(ABOUT, f"Not understood: {wanted}")


COMMAND = Command(help=ABOUT, run=run)
