"""/keys: what the keys do in this front end."""

from collections.abc import Iterator, Sequence

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, KeyHelp, usage_error

ABOUT = CommandHelp(
    name="keys", usage="/keys [WORDS]", summary="List the keys; WORDS filters by key and by what it does."
)


def key_lines(keys: Sequence[KeyHelp]) -> Iterator[str]:
    """Grouped by where they hold, in the order they were given."""
    width = max((len(key.keys) for key in keys), default=0)
    for place in dict.fromkeys(key.where for key in keys):
        yield f"{place or 'Everywhere'}:"
        yield from (f"  {key.keys:<{width}}  {key.does}" for key in keys if key.where == place)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The front end knows its keys; this only shows them."""
    words = argument.lower().split()
    if not context.keys:
        return CommandResult(lines=("This front end has no keys of its own: lines are typed and sent with Enter.",))
    found = [key for key in context.keys if all(word in f"{key.keys} {key.does} {key.where}".lower() for word in words)]
    if not found:
        return usage_error(ABOUT, f"No key fits {argument.strip()}.")
    return CommandResult(lines=tuple(key_lines(found)))


COMMAND = Command(help=ABOUT, run=run)
