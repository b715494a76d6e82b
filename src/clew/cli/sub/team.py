"""`clew team`: the teams of this user as their files tell: list, show one with its mail, delete one nobody leads."""

import argparse
import sys

import msgspec

from clew.cli.sub.place import ask, this_place_if_any
from clew.commands.team import mail_line, team_lines
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.teams import DeleteTeam, ListTeams, ShowTeamFiles, TeamShown, TeamsListed
from clew.text.figures import count
from clew.text.terminal_text import sanitize

HELP = "list teams, show one with its mail, delete one"
ACTIONS = {
    "list": "every team of yours, with its members and how each stands",
    "show": "one team: its members, its mail with what became of each letter, its work list",
    "delete": "take away the files of a team whose sessions do not run any more",
}
ALL_LETTERS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """list, show and delete."""
    actions = parser.add_subparsers(dest="action", metavar="list|show|delete")
    for name, words in ACTIONS.items():
        action = actions.add_parser(name, description=words, help=words)
        action.add_argument("--json", action="store_true", help="as one JSON object")
        if name != "list":
            action.add_argument("team", help="the team, as `clew team list` shows it")
        if name == "show":
            action.add_argument("--letters", type=int, default=20, metavar="N", help="the newest N (20; 0: all)")
    parser.set_defaults(json=False)


def run(args: argparse.Namespace) -> int:
    """Ask the hub, and print what it says."""
    place = this_place_if_any()
    try:
        if args.action == "show":
            found = ask(place, ShowTeamFiles(name=args.team, letters=max(args.letters, 0) or ALL_LETTERS))
            return _json(found) if args.json else _show(found)
        if args.action == "delete":
            left = ask(place, DeleteTeam(name=args.team))
            return _json(left) if args.json else _print(f"the team {args.team} is gone")
        listed = ask(place, ListTeams())
    except LookupRefused as refused:
        sys.stderr.write(f"clew team: {sanitize(str(refused), one_line=True)}\n")
        return 1
    return _json(listed) if args.json else _list(listed)


def _list(listed: TeamsListed) -> int:
    for team in listed.teams:
        _print(*team_lines(team))
    if not listed.teams:
        _print("There is no team.")
    _print(*(f"not read: {problem}" for problem in listed.problems))
    return 0


def _show(found: TeamShown) -> int:
    assert found.team is not None
    _print(*team_lines(found.team))
    if found.work:
        _print("Work:")
        _print(*(f"  #{item['id']} {item['status']} {item['owner']}: {item['subject']}" for item in found.work))
    if found.mail:
        older = f" ({count(found.left_out, 'older letter')})" if found.left_out else ""
        _print(f"Mail{older}:")
        _print(*map(mail_line, found.mail))
    return _print(*found.notes, f"Files: {found.folder}")


def _json(value: object) -> int:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
    return 0


def _print(*lines: str) -> int:
    for line in lines:
        sys.stdout.write(sanitize(line, one_line=True) + "\n")
    return 0
