"""/search: words in all sessions, clew's own and other agents'."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.place import SearchSessions, SessionsSearched
from clew.text.figures import ago, count

ABOUT = CommandHelp(
    name="search",
    usage="/search WORDS",
    summary="Find the sessions that hold all these words anywhere, with the place.",
    details=("In this conversation Ctrl-F finds words.",),
)


def listing(found: SessionsSearched) -> Iterator[str]:
    """What SessionsSearched says."""
    for hit in found.hits:
        row = hit.session
        where = " · ".join(part for part in (row.agent, row.project, ago(row.age_s)) if part)
        yield f"{row.session_id[:8]}  {row.title or '(no title)'}  ({where})"
        yield f"    {hit.role}: {hit.excerpt}"
    if found.unread:
        yield f"{count(found.unread, 'session')} could not be read in time; search once more for the rest."
    yield "Go on with one by /resume ID." if found.hits else f"No session holds {found.query}."


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask; SessionsSearched is the answer."""
    if not argument.strip():
        return usage_error(ABOUT, "Which words?")
    return CommandResult(lookups=(SearchSessions(query=argument.strip()),))


COMMAND = Command(help=ABOUT, run=run)
