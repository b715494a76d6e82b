"""/worktree: the conversation works in a git checkout of its own, or in the project's again."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import EnterWorktree, LeaveWorktree

ABOUT = CommandHelp(
    name="worktree",
    usage="/worktree [NAME] | with-changes [NAME] | leave | remove",
    summary="Work in a git checkout of its own from here on, or leave it again.",
    details=(
        "NAME: one that was kept is opened again. with-changes: a new one begins with what is uncommitted here.",
        "leave and remove save what it holds as refs/clew/NAME/head; remove deletes the checkout after that.",
        "A resumed session goes on in it. From the start: clew --worktree [NAME].",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is a notice, or why not."""
    match argument.split():
        case ["leave"]:
            return CommandResult(ops=(LeaveWorktree(),))
        case ["remove"]:
            return CommandResult(ops=(LeaveWorktree(remove=True),))
        case ["with-changes"]:
            return CommandResult(ops=(EnterWorktree(changes=True),))
        case ["with-changes", name]:
            return CommandResult(ops=(EnterWorktree(name=name, changes=True),))
        case []:
            return CommandResult(ops=(EnterWorktree(),))
        case [name]:
            return CommandResult(ops=(EnterWorktree(name=name),))
        case _:
            return usage_error(ABOUT, "A worktree has a name of one word.")


COMMAND = Command(help=ABOUT, run=run)
