"""`clew agents`: which kinds of agents there are here, what one is, and what is wrong with their definitions."""

import argparse
import sys
from collections.abc import Iterable

import msgspec

from clew.cli.sub.place import ask, this_place_if_any
from clew.commands.agents import field_words, origin_words
from clew.protocol.lookups.agents import AgentKindRow, AgentKindsListed, ListAgentKinds, ShowAgentKind
from clew.protocol.lookups.base import LookupRefused
from clew.text.figures import count
from clew.text.terminal_text import sanitize

HELP = "list kinds of agents, show one, check their definitions"
ACTIONS = {
    "list": "every kind that a session here would have, and where it is defined",
    "show": "one kind: its fields and its prompt",
    "check": "what is wrong with definitions, or does not count; exit code 1 where one is not used",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """list, show and check."""
    actions = parser.add_subparsers(dest="action", metavar="list|show|check")
    for name, words in ACTIONS.items():
        action = actions.add_parser(name, description=words, help=words)
        action.add_argument("--json", action="store_true", help="as one JSON object")
        if name == "show":
            action.add_argument("name", help="the kind, as `clew agents list` shows it")
    parser.set_defaults(json=False)


def run(args: argparse.Namespace) -> int:
    """Ask the hub, and print what it says."""
    place = this_place_if_any()
    if args.action == "show":
        try:
            found = ask(place, ShowAgentKind(name=args.name))
        except LookupRefused as refused:
            sys.stderr.write(f"clew agents: {sanitize(str(refused), one_line=True)}\n")
            return 1
        if args.json:
            return _json(found)
        _print(f"{found.kind.name}  ({origin_words(found.kind)})", found.kind.description)
        _print(*(f"{name}: {value}" for name, value in field_words(found.kind) if value))
        _print(*(f"note: {note}" for note in found.kind.notes))
        sys.stdout.write(f"\n{sanitize(found.prompt)}\n")
        return 0
    listed = ask(place, ListAgentKinds())
    if args.json:
        _json(listed)
    elif args.action == "check":
        _check(listed)
    else:
        _list(listed)
    return 1 if args.action == "check" and listed.problems else 0


def _list(listed: AgentKindsListed) -> None:
    rows = [row for row in listed.kinds if not row.hidden]
    width = max((len(row.name) for row in rows), default=0)
    _print(*(f"{row.name:<{width}}  {_origin(row)}  {row.description}" for row in rows))
    if not rows:
        _print("no agents: built-in ones are switched off (agents.builtin), and none is defined")
    _print(*(f"not used: {row.name} of {row.source}: {row.hidden}" for row in listed.kinds if row.hidden))
    _print(*(f"not used: {problem}" for problem in listed.problems), *_unread(listed))


def _check(listed: AgentKindsListed) -> None:
    """Problems first, then what does not count, then a line that sums it up."""
    _print(*(f"not used: {problem}" for problem in listed.problems))
    _print(*(f"not used: {row.source}: {row.hidden}" for row in listed.kinds if row.hidden))
    noted = [row for row in listed.kinds if row.notes and not row.hidden]
    _print(*(f"note: {row.name} ({row.source}): {note}" for row in noted for note in row.notes), *_unread(listed))
    used = sum(not row.hidden for row in listed.kinds)
    wrong = count(len(listed.problems), "definition is not used", "definitions are not used")
    _print(f"{count(used, 'kind')} of agents; " + (wrong if listed.problems else "every definition is used"))


def _unread(listed: AgentKindsListed) -> Iterable[str]:
    return (f"not read before the directory is trusted: {folder}" for folder in listed.unread)


def _origin(row: AgentKindRow) -> str:
    return f"[{origin_words(row)}]"


def _json(value: object) -> int:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
    return 0


def _print(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(sanitize(line, one_line=True) + "\n")
