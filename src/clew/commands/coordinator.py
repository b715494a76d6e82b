"""/coordinator: the conversation gives all work to workers, or does it itself again."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SetCoordinator

ABOUT = CommandHelp(
    name="coordinator",
    usage="/coordinator [on | off]",
    summary="Let the conversation only delegate: workers in the background do all work.",
    details=(
        "Prompt and tools change together, so the next request sends everything anew; how much is told.",
        "A resumed session goes on as it was left. From the start: clew --coordinator.",
    ),
)
WORDS: dict[str, bool | None] = {"": None, "on": True, "off": False}


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is a notice, or why not."""
    word = argument.strip().lower()
    if word not in WORDS:
        return usage_error(ABOUT, "/coordinator takes on, off, or nothing.")
    return CommandResult(ops=(SetCoordinator(on=WORDS[word]),))


COMMAND = Command(help=ABOUT, run=run)
