"""/compact: make the conversation smaller, look at the receipt, take it back."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import RequestReceipt
from clew.protocol.ops import Compact, Snip, UndoCompact

MAX_FOCUS_CHARS = 2_000
ABOUT = CommandHelp(
    name="compact",
    usage="/compact [FOCUS | fast | receipt | undo | snip FIRST LAST]",
    summary="Summarise the older conversation, so that the window has room. What must not be lost is carried by code.",
    details=(
        "  FOCUS            what the summary should dwell on, in your words",
        "  fast             only clear old tool outputs and pictures; no model is asked",
        "  receipt          what the last one carried, summarised and left, item by item",
        "  undo [--force]   the view from before it; --force also when that is too large for the model",
        "  snip FIRST LAST  take a part out of the view: entries by id, or prompts by number (/rewind lists them)",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event. A single word that is no command of its own is a focus."""
    words = argument.split()
    match words:
        case ["fast"]:
            return CommandResult(ops=(Compact(fast=True),))
        case ["receipt"]:
            return CommandResult(lookups=(RequestReceipt(),))
        case ["undo"]:
            return CommandResult(ops=(UndoCompact(),))
        case ["undo", "--force"]:
            return CommandResult(ops=(UndoCompact(force=True),))
        case ["snip", first, last]:
            return CommandResult(ops=(Snip(first=first, last=last),))
        case ["snip", *_]:
            return usage_error(ABOUT, "From where to where?")
        case _:
            return focused(argument.strip())


def focused(focus: str) -> CommandResult:
    """Long words are cut, and that is told."""
    cut = len(focus) > MAX_FOCUS_CHARS
    lines = (f"The focus is cut to {MAX_FOCUS_CHARS:,} characters.",) if cut else ()
    return CommandResult(lines=lines, ops=(Compact(focus=focus[:MAX_FOCUS_CHARS]),))


COMMAND = Command(help=ABOUT, run=run)
