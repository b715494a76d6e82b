"""/sessions: what there is to go on with, clew's own and other agents'."""

from collections import Counter
from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult
from clew.protocol.events import SessionRow
from clew.protocol.lookups.place import ListSessions
from clew.text.figures import ago

ABOUT = CommandHelp(
    name="sessions",
    usage="/sessions [WORDS]",
    summary="List sessions, newest first; WORDS filters by title, project and recap.",
)


def listing(sessions: tuple[SessionRow, ...]) -> Iterator[str]:
    """What SessionsListed says. Ids of some agents begin with a date, or with their name: those are given whole."""
    short = Counter(row.session_id[:8] for row in sessions)
    for row in sessions:
        where = " · ".join(part for part in (row.agent, row.project, ago(row.age_s)) if part)
        name = row.session_id[:8] if short[row.session_id[:8]] == 1 else row.session_id
        yield f"{name}  {row.title or '(no title)'}  ({where})"
    yield "Go on with one by /resume ID or words of its title." if sessions else "No session fits."


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list; SessionsListed is the answer."""
    return CommandResult(lookups=(ListSessions(query=argument.strip()),))


COMMAND = Command(help=ABOUT, run=run)
