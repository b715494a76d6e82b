"""/team: who is in the team of the session, its mail, and what people do with a member."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.commands.tasks import STANDING_WORDS
from clew.protocol.event_kinds.agents import MemberRow, TeamRow
from clew.protocol.lookups.teams import MailRow, ShowTeam, TeamShown
from clew.protocol.ops import MessageAgent, SetMemberMode, StartMember, StopMember
from clew.protocol.standing import Standing

ABOUT = CommandHelp(
    name="team",
    usage="/team [stop NAME | ask NAME | start NAME | mode NAME MODE | tell NAME WORDS]",
    summary="Show the team and its mail; stop a member, ask it to stop, start it again, talk to it.",
    details=(
        "The model makes a team with TeamCreate: ask it for one. `ask` is a request that the member may refuse.",
        "In the full screen it is a dialog.",
    ),
)
NO_TEAM = "There is no team. Ask for one: the model makes it with TeamCreate."
MAIL_SHOWN = 10
MAX_TEXT = 100


def standing_words(row: MemberRow) -> str:
    """How a member stands, in words."""
    words = {Standing.INTERRUPTED: "interrupted: its process is gone", Standing.IDLE: "idle"}
    leaving = ", was asked to stop" if row.leaving else ""
    return f"{words.get(row.standing, STANDING_WORDS[row.standing])}{leaving}"


def member_line(row: MemberRow) -> str:
    """One member on one line."""
    where = f"pane {row.pane}" if row.backend == "pane" else ""
    beside = ", ".join(part for part in (row.kind, row.model, row.mode and f"mode {row.mode}", where) if part)
    return f"  {row.name}: {standing_words(row)}{f'  ({beside})' if beside else ''}"


def mail_line(mail: MailRow) -> str:
    """One letter on one line."""
    what = "" if mail.kind == "chat" else f" [{mail.kind.replace('_', ' ')}]"
    text = " ".join(mail.text.split())
    text = text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
    step = f" at step {mail.step}" if mail.step else ""
    why = f" ({mail.why})" if mail.why else ""
    return f"  {mail.sender} -> {mail.to}{what}: {text}  [{mail.became}{step}{why}]"


def team_lines(team: TeamRow) -> Iterator[str]:
    """Name and members."""
    about = f": {team.description}" if team.description else ""
    yield f"Team {team.name}{about}"
    yield from (member_line(row) for row in team.members)
    if not team.members:
        yield "  nobody is in it yet"


def shown(event: TeamShown) -> Iterator[str]:
    """What TeamShown says."""
    if event.team is None:
        yield NO_TEAM
        yield from event.notes
        return
    yield from team_lines(event.team)
    letters = event.mail[-MAIL_SHOWN:]
    if letters:
        older = event.left_out + len(event.mail) - len(letters)
        yield f"Mail{f' ({older} older)' if older else ''}:"
        yield from map(mail_line, letters)
    yield from event.notes
    yield f"Files: {event.folder}"


def run(context: CommandContext, argument: str) -> CommandResult:
    """What is asked."""
    match argument.split():
        case []:
            return CommandResult(lookups=(ShowTeam(),))
        case ["stop" | "kill", name]:
            return CommandResult(ops=(StopMember(name=name),))
        case ["ask" | "shutdown", name]:
            return CommandResult(ops=(StopMember(name=name, ask=True),))
        case ["start", name]:
            return CommandResult(ops=(StartMember(name=name),))
        case ["mode", name, mode]:
            return CommandResult(ops=(SetMemberMode(name=name, mode=mode),))
        case ["tell", name, _, *_]:
            return CommandResult(ops=(MessageAgent(to=name, text=argument.split(None, 2)[2].strip()),))
        case ["stop" | "kill" | "ask" | "shutdown" | "start" | "mode" | "tell", *_]:
            return usage_error(ABOUT, "Who, and what? /team lists the members.")
        case _:
            return usage_error(ABOUT, f"Not understood: {argument.strip()}")


COMMAND = Command(help=ABOUT, run=run)
