"""/mode: how much is asked before something is done."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.commands.permissions import MODES
from clew.protocol.ops import SetPermissionMode

ABOUT = CommandHelp(
    name="mode",
    usage="/mode [NAME | next]",
    summary="Show the permission mode, or use another.",
    details=(
        *(f"  {name}: {meaning}" for name, meaning in MODES.items()),
        "  next: the next of those one cycles through",
    ),
)
CYCLE = ("default", "acceptEdits", "plan")
BYPASS = "bypassPermissions"


def next_mode(current: str, *, may_bypass: bool = False) -> str:
    """What comes after a mode when one key cycles through them. The one that asks for nothing is only among them in a
    session that was started with it."""
    cycle = (*CYCLE, BYPASS) if may_bypass else CYCLE
    return cycle[(cycle.index(current) + 1) % len(cycle)] if current in cycle else cycle[0]


def run(context: CommandContext, argument: str) -> CommandResult:
    """Show it, or ask for another; PermissionModeChanged is the answer."""
    wanted = argument.strip()
    current = context.facts.permission_mode
    if not wanted:
        meaning = f" ({MODES[current]})" if current in MODES else ""
        others = ", ".join(name for name in MODES if name != current)
        return CommandResult(
            lines=(f"Mode: {current or 'unknown'}{meaning}", f"Others: {others}. /mode NAME changes it.")
        )
    by_lower = {name.lower(): name for name in MODES} | {
        "next": next_mode(current, may_bypass=context.facts.may_bypass)
    }
    mode = by_lower.get(wanted.lower())
    if mode is None:
        return usage_error(ABOUT, f"There is no permission mode {wanted}.")
    if mode == current:
        return CommandResult(lines=(f"The mode is {mode} already.",))
    lines = (f"{mode}: {MODES[mode]}.",) if mode == BYPASS else ()
    return CommandResult(lines=lines, ops=(SetPermissionMode(mode=mode),))


COMMAND = Command(help=ABOUT, run=run)
