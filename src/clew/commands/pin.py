"""/pin: what crosses every compaction, word for word."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult
from clew.protocol.events import ItemPinned
from clew.protocol.ops import Pin

ABOUT = CommandHelp(
    name="pin",
    usage="/pin [TEXT | @FILE | ENTRY | last]",
    summary="Keep a line, a file or a message through every compaction; alone it lists what is pinned.",
    details=(
        "  TEXT   a line; the agent is told it now, too",
        "  @FILE  a file, read anew each time",
        "  ENTRY  the id of an entry of the transcript, or its start; `last`: the agent's last words",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Pinning is answered by an event; the list is known."""
    target = argument.strip()
    if target:
        return CommandResult(ops=(Pin(target=target),))
    pins = context.facts.state.pins
    if not pins:
        return CommandResult(lines=("Nothing is pinned.",))
    return CommandResult(lines=tuple(f"{number}. {words_of(pin)}" for number, pin in enumerate(pins, 1)))


def words_of(pin: ItemPinned) -> str:
    """A pin in one line."""
    text = " ".join((pin.text or pin.target).split())
    return text if len(text) <= 200 else text[:199] + "…"


COMMAND = Command(help=ABOUT, run=run)
