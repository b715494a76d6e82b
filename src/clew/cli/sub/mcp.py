"""`clew mcp`: which MCP servers there are, adding and removing them, and whether they answer."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any, cast

import msgspec
from msgspec.structs import asdict

from clew.cli.parser import OneLineParser
from clew.cli.serve import mcp_serve
from clew.cli.sub import mcp_login
from clew.cli.sub.place import ask, this_place
from clew.commands.mcp import KINDS, SCOPES, standing
from clew.host.workspace import Workspace
from clew.mcp.definitions import APPROVED_SCOPES
from clew.plain.dialogs.confirm import confirm
from clew.protocol.event_kinds.programs import McpScope, McpServerRow
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.protocol.lookups.mcp import ApproveMcp, DefineMcp, ListMcp, McpDefined, McpServersListed
from clew.text.terminal_text import reveal, sanitize

HELP = "MCP servers: list, add, remove, sign in, and whether they answer; and clew as one of them"
SCOPE_NAMES: tuple[McpScope, ...] = ("local", "project", "user")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One action each."""
    words = "list|get|add|add-json|remove|approve|revoke|login|logout|serve"
    actions = parser.add_subparsers(dest="action", metavar=words)
    show = actions.add_parser("list", help="connect to each server and say how it is")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    get = actions.add_parser("get", help="one server: its definition and how it is")
    get.add_argument("name", metavar="NAME")
    get.add_argument("--json", action="store_true", help="as one JSON object")
    add = actions.add_parser("add", help="add a server: NAME URL, or NAME -- COMMAND ARGUMENT...")
    _add_options(add)
    add.add_argument("name", metavar="NAME")
    add.add_argument("words", nargs=argparse.REMAINDER, metavar="URL | -- COMMAND ARGUMENT...")
    given = actions.add_parser("add-json", help="add a server as JSON")
    given.add_argument("-s", "--scope", choices=SCOPE_NAMES, default="local", help="whose it is (default: local)")
    given.add_argument("name", metavar="NAME")
    given.add_argument("json_text", metavar="JSON")
    for word, about in (
        ("approve", "let servers of the project run, from now on and until they change"),
        ("revoke", "no longer"),
    ):
        decide = actions.add_parser(word, help=about)
        decide.add_argument("names", nargs="*", metavar="NAME", help="which ones (default: all)")
        decide.add_argument("--yes", action="store_true", help="do not ask")
    remove = actions.add_parser("remove", help="take a server away")
    remove.add_argument("-s", "--scope", choices=SCOPE_NAMES, help="from where (default: where it is)")
    remove.add_argument("name", metavar="NAME")
    mcp_serve.add_arguments(actions.add_parser("serve", description=mcp_serve.HELP, help=mcp_serve.HELP))
    mcp_login.add_arguments(actions)
    parser.set_defaults(json=False)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-s", "--scope", choices=SCOPE_NAMES, default="local", help="whose it is (default: local)")
    parser.add_argument("-t", "--transport", choices=["stdio", "http", "sse"], help="how it is reached")
    parser.add_argument("-e", "--env", action="append", default=[], metavar="KEY=VALUE", help="for a program")
    parser.add_argument(
        "--outside", action="store_true", help="a program: run it outside the sandbox, with your rights"
    )
    parser.add_argument("-H", "--header", action="append", default=[], metavar="NAME: VALUE", help="for an address")


def _with_later_options(args: argparse.Namespace) -> list[str]:
    """The words of the server. People write options before its name, after it, and after an address; what follows `--`
    or begins with a program is the program's."""
    words = cast(list[str], args.words)
    cut = words.index("--") if "--" in words else len(words)
    head, tail = words[:cut], words[cut + 1 :]
    if head and not head[0].startswith(("-", "http://", "https://", "${")):
        return words
    options = OneLineParser("clew mcp add")
    _add_options(options)
    options.add_argument("rest", nargs="*")
    return [*options.parse_intermixed_args(head, args).rest, *tail]


def run(args: argparse.Namespace) -> int:
    """Do it. What cannot be done is a usage error, a file that cannot be written is a failed run."""
    if args.action == "serve":
        return mcp_serve.run(args)
    asking: dict[str | None, Callable[[argparse.Namespace, Workspace], int]] = {
        None: _list,
        "list": _list,
        "get": _get,
        "approve": _decide,
        "revoke": _decide,
        "add": _add,
        "add-json": _add_json,
        "remove": _remove,
        "login": mcp_login.log_in,
        "logout": mcp_login.log_out,
    }
    try:
        return asking[args.action](args, this_place(lenient=True))
    except LookupRefused as problem:
        return _complain(str(problem), code=2 if isinstance(problem, LookupMisused) else 1)
    except OSError as error:
        return _complain(f"{error.filename or 'the file'}: {error.strerror}", code=1)


def _list(args: argparse.Namespace, place: Workspace) -> int:
    listed = ask(place, ListMcp())
    rows, problems = listed.servers, _problems(listed)
    if args.json:
        value = {"servers": [asdict(row) for row in rows], "problems": problems}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
        return 0
    for row in rows:
        _show(row)
    if not rows:
        print("no MCP servers; add one with: clew mcp add NAME -- COMMAND")
    _tell_rest(place, rows, problems)
    return 0


def _get(args: argparse.Namespace, place: Workspace) -> int:
    listed = ask(place, ListMcp(server=args.name))
    row = next((row for row in listed.servers if row.name == args.name), None)
    if row is None:
        raise LookupMisused(f"there is no MCP server {args.name}; clew mcp list shows those there are")
    if args.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(row), indent=2).decode() + "\n")
        return 0
    _show(row)
    for tool in row.tools:
        print(f"    {sanitize(tool, one_line=True)}")
    _tell_rest(place, (row,), _problems(listed))
    return 0


def _add(args: argparse.Namespace, place: Workspace) -> int:
    words = _with_later_options(args)
    if not words:
        raise LookupMisused("give an address, or -- and a command")
    first, *rest = words
    kind = args.transport or ("http" if first.startswith(("http://", "https://")) else "stdio")
    if kind == "stdio":
        if args.header:
            raise LookupMisused("headers are for addresses (-t http or sse)")
        entry: dict[str, Any] = {"type": kind, "command": first, "args": rest, "env": _pairs(args.env, "=", "-e")}
        if args.outside:
            entry["sandbox"] = False
    else:
        if rest or args.env or args.outside:
            raise LookupMisused("an address takes headers (-H); arguments, variables and --outside are for programs")
        entry = {"type": kind, "url": first, "headers": _pairs(args.header, ":", "-H")}
    return _write(place, DefineMcp(server=args.name, definition=entry, scope=args.scope))


def _add_json(args: argparse.Namespace, place: Workspace) -> int:
    text = args.json_text or " "  # an empty text is no JSON either, and must not take a server out
    return _write(place, DefineMcp(server=args.name, definition=None, text=text, scope=args.scope))


def _write(place: Workspace, definition: DefineMcp) -> int:
    name, added = definition.server, _defined(place, definition)
    for note in added.notes:
        print(f"note: {sanitize(note, one_line=True)}")
    print(f"added {name} ({KINDS[added.kind]}, {SCOPES[added.scope]}) to {added.path}: {reveal(added.shape)}")
    if added.kind == "stdio" and "outside the sandbox" not in added.shape:
        print("the sandbox holds it: no network, writes in the project only; add it with --outside if it needs more")
    if added.needs_approval:
        print("it runs after you approve it, as everybody has to who gets the project: clew mcp approve")
    return 0


def _remove(args: argparse.Namespace, place: Workspace) -> int:
    removed = _defined(place, DefineMcp(server=args.name, definition=None, scope=args.scope or ""))
    print(f"removed {args.name} from {removed.path}")
    return 0


def _defined(place: Workspace, lookup: DefineMcp) -> McpDefined:
    """What cannot be written down is a usage error."""
    try:
        return ask(place, lookup)
    except LookupRefused as refused:
        raise LookupMisused(str(refused)) from refused


def _decide(args: argparse.Namespace, place: Workspace) -> int:
    """What a person lets run is shown exactly, first."""
    approving, listed = args.action == "approve", ask(place, ListMcp(connect=False))
    theirs = {row.name: row for row in listed.servers if row.scope in APPROVED_SCOPES}
    if unknown := [name for name in args.names if name not in theirs]:
        raise LookupMisused(f"{unknown[0]} is not a server of this project, or the project is not trusted")
    wanted = [row for row in theirs.values() if (row.digest in listed.approved) != approving]
    wanted = [row for row in wanted if not args.names or row.name in args.names]
    if not wanted and not place.trusted and os.path.lexists(place.root / ".mcp.json"):
        raise LookupMisused(
            "this directory is not trusted, so its .mcp.json is not read: start clew there, or clew --trust"
        )
    if not wanted:
        print("there is nothing to decide")
        return 0
    question = "Let them run in this project?" if approving else "Take the approval back?"
    shown = "\n".join(f"{row.name}: {row.shape}" for row in wanted)
    if not args.yes and not confirm(["MCP servers of this project:"], question, quoted=shown):
        print("nothing was changed")
        return 1
    if args.yes:
        print(sanitize(shown))
    after = ask(place, ApproveMcp(digests=tuple(row.digest for row in wanted), approved=approving))
    count = len(set(after.approved) ^ set(listed.approved))
    print(
        f"{'approved' if approving else 'revoked'} {count}; a change of a definition or of a file it names asks again"
    )
    return 0


def _problems(listed: McpServersListed) -> tuple[str, ...]:
    return (*listed.problems, *listed.notes)


def _show(row: McpServerRow) -> None:
    print(f"{row.name}: {sanitize(standing(row), one_line=True)}")
    for line in reveal(row.shape).split("\n"):
        print(f"    {line}")
    if row.variables:
        print(f"    gets of your environment: {', '.join(row.variables)}")
    print(f"    {KINDS[row.kind]}, {SCOPES[row.scope]}, in {sanitize(row.source, one_line=True)}")


def _tell_rest(place: Workspace, rows: tuple[McpServerRow, ...], problems: tuple[str, ...]) -> None:
    for problem in problems:
        print(f"problem: {sanitize(problem, one_line=True)}")
    if not place.trusted and (place.root / ".mcp.json").exists():
        print(f"not read, because {place.root} is not trusted: .mcp.json")
    if any(row.state == "unapproved" for row in rows):
        print("what is not approved was not started; look at it and approve it with: clew mcp approve")


def _pairs(given: list[str], cut: str, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition(cut)
        if not sign or not name.strip():
            raise LookupMisused(f"{option} {text!r}: expected NAME{cut}VALUE")
        found[name.strip()] = value.strip() if cut == ":" else value
    return found


def _complain(text: str, *, code: int) -> int:
    sys.stderr.write(f"clew mcp: {sanitize(text, one_line=True)}\n")
    return code
