"""/redo: the last undo or rewind taken back."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.commands.undo import FLAGS
from clew.protocol.lookups.session import PreviewRedo
from clew.protocol.ops import Redo

ABOUT = CommandHelp(
    name="redo",
    usage="/redo [--preview] [--force]",
    summary="Take the last undo or rewind back.",
    details=(
        "  --preview  show what would change, as a diff",
        "  --force    also over what somebody else changed since",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    flags = argument.split()
    if unknown := [flag for flag in flags if flag not in FLAGS]:
        return usage_error(ABOUT, f"Not understood: {' '.join(unknown)}")
    if "--preview" in flags:
        return CommandResult(lookups=(PreviewRedo(),))
    return CommandResult(ops=(Redo(force="--force" in flags),))


COMMAND = Command(help=ABOUT, run=run)
