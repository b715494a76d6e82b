"""/undo: the last turn's file changes back."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import PreviewUndo
from clew.protocol.ops import Undo

ABOUT = CommandHelp(
    name="undo",
    usage="/undo [--preview] [--force]",
    summary="Take the file changes of the last turn back; the conversation stays.",
    details=(
        "  --preview  show what would change, as a diff",
        "  --force    also over what somebody else changed since; it is kept and /redo brings it back",
    ),
)
FLAGS = frozenset({"--preview", "--force"})


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    flags = argument.split()
    if unknown := [flag for flag in flags if flag not in FLAGS]:
        return usage_error(ABOUT, f"Not understood: {' '.join(unknown)}")
    if "--preview" in flags:
        return CommandResult(lookups=(PreviewUndo(),))
    return CommandResult(ops=(Undo(force="--force" in flags),))


COMMAND = Command(help=ABOUT, run=run)
