"""/plan: the plan of the session, plan mode, and holding the work against the plan."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import OpenPlan, PlanOpened, PlanShown, ShowPlan
from clew.protocol.ops import CheckPlan, SetPermissionMode
from clew.text.figures import shown_path

ABOUT = CommandHelp(
    name="plan",
    usage="/plan [on | off | edit | check]",
    summary="Show the plan of this session, turn plan mode on or off, or check the work against the plan.",
    details=(
        "  on, off: plan mode, in which nothing is changed; off goes back to mode default",
        "  edit: the plan in your editor; what you save counts",
        "  check: the model goes through the plan item by item and tells what is done and what is missing",
    ),
)
STANDING = {
    "": "",
    "draft": "not shown for approval yet",
    "proposed": "waits for your answer",
    "accepted": "accepted",
    "sent_back": "sent back",
}


def plan_heading(event: PlanShown, cwd: str) -> str:
    """Where it is and how it stands."""
    if not event.plan.strip():
        return "There is no plan in this session. /plan on turns plan mode on: the model plans first."
    where = f" {shown_path(event.path, cwd)}" if event.path else ""
    word = f" ({STANDING[event.standing]})" if event.standing else ""
    return f"{'Plan saved' if event.saved else 'Plan'}{word}{':' if where else ''}{where}"


def plan_lines(event: PlanShown | PlanOpened, cwd: str) -> Iterator[str]:
    """What they say."""
    if isinstance(event, PlanOpened):
        yield opened_line(event)
        return
    yield plan_heading(event, cwd)
    if not event.saved:
        yield from (f"  {line}" for line in event.plan.splitlines())


def opened_line(event: PlanOpened) -> str:
    """For a front end that gives its terminal to no editor."""
    if not event.path:
        return "This session is not kept, so its plan has no file to edit."
    return f"Edit {event.path} with any editor: what you save there is the plan."


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answers are events."""
    mode = context.facts.permission_mode
    match argument.strip().lower():
        case "":
            return CommandResult(lookups=(ShowPlan(),))
        case "on":
            if mode == "plan":
                return CommandResult(lines=("Plan mode is on already.",))
            return CommandResult(ops=(SetPermissionMode(mode="plan"),))
        case "off":
            if mode != "plan":
                return CommandResult(lines=("Plan mode is off already.",))
            return CommandResult(ops=(SetPermissionMode(mode="default"),))
        case "edit":
            return CommandResult(lookups=(OpenPlan(),))
        case "check":
            return CommandResult(ops=(CheckPlan(),))
        case word:
            return usage_error(ABOUT, f"Not understood: {word}")


COMMAND = Command(help=ABOUT, run=run)
