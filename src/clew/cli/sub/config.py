"""`clew config`: read and change settings."""

import argparse
import sys
from typing import Any

import msgspec

from clew.cli.sub.place import ask, this_place
from clew.config.errors import SettingsError, SettingsKeyError
from clew.protocol.lookups.settings import (
    ChangeSetting,
    ListSettings,
    NameSettingsFile,
    SettingRow,
    SettingsListed,
)
from clew.text.terminal_text import sanitize

HELP = "read and change settings"
ACTIONS = {
    "get": "print one value",
    "set": "change one value",
    "unset": "take one value out again",
    "list": "every value in force, and where it comes from",
    "path": "the settings file of a scope",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """get, set, unset, list and path."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="get|set|unset|list|path")
    get = actions.add_parser("get", description=ACTIONS["get"], help=ACTIONS["get"])
    get.add_argument("key", help="for example limits.maxTurns")
    put = actions.add_parser("set", description=ACTIONS["set"], help=ACTIONS["set"])
    put.add_argument("key")
    put.add_argument("value", nargs="?", help="a word or number, or JSON for lists and objects")
    put.add_argument("--unset", action="store_true", help="take the key out of the file")
    take = actions.add_parser("unset", description=ACTIONS["unset"], help=ACTIONS["unset"])
    take.add_argument("key")
    show = actions.add_parser("list", description=ACTIONS["list"], help=ACTIONS["list"])
    show.add_argument("--json", action="store_true")
    where = actions.add_parser("path", description=ACTIONS["path"], help=ACTIONS["path"])
    for action in (put, take, where):
        action.add_argument("--scope", choices=["user", "project", "local"], default="user")
    for action in (get, show):
        action.add_argument("--trust", action="store_true", help="read this project's files this once")


def run(args: argparse.Namespace) -> int:
    """Do it. Bad settings and bad keys are usage errors, a file that cannot be written is a failed run."""
    try:
        if args.action == "path":
            sys.stdout.write(f"{_file(args)}\n")
            return 0
        if args.action in ("set", "unset"):
            return _change(args)
        listed = ask(this_place(lenient=True), ListSettings(key=getattr(args, "key", ""), trust=args.trust))
        return _list(listed, as_json=args.json) if args.action == "list" else _get(listed)
    except SettingsError as error:
        return _complain(str(error), code=2)
    except OSError as error:
        if error.filename is None and args.action not in ("set", "unset"):
            raise  # not about a settings file: stdout, or the current directory
        return _complain(f"{error.filename or _file(args)}: {(error.strerror or str(error)).lower()}", code=1)


def _file(args: argparse.Namespace) -> str:
    return ask(this_place(lenient=True), NameSettingsFile(scope=args.scope)).path


def _get(listed: SettingsListed) -> int:
    sys.stdout.write(f"{_words(listed.rows[0].value, bare=True)}\n")
    return _report(listed)


def _list(listed: SettingsListed, *, as_json: bool) -> int:
    if as_json:
        table = {row.key: {"value": row.value, "sources": row.sources} for row in listed.rows}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(table)).decode() + "\n")
        return _report(listed)
    cells = [(row.key, sanitize(_words(row.value), one_line=True), _origin(row)) for row in listed.rows]
    widths = [min(max(len(cell[column]) for cell in cells), 48) for column in (0, 1)]
    for key, value, origin in cells:
        sys.stdout.write(f"{sanitize(key, one_line=True):<{widths[0]}}  {value:<{widths[1]}}  {origin}".rstrip() + "\n")
    return _report(listed)


def _change(args: argparse.Namespace) -> int:
    value = None if args.action == "unset" else args.value
    if args.action == "set" and (not args.key or (value is None) == (not args.unset)):
        raise SettingsKeyError("give a key and a value, or a key and --unset")
    ask(this_place(lenient=True), ChangeSetting(key=args.key, value=value, scope=args.scope))
    return 0


def _report(listed: SettingsListed) -> int:
    """Refused values are errors here: this is where people come to see why a setting has no effect."""
    for path in listed.unread:
        _complain(f"{path}: not read, the project is not trusted; add --trust to see it applied", code=0)
    for warning in listed.warnings:
        _complain(warning, code=0)
    return 1 if listed.refused else 0


def _origin(row: SettingRow) -> str:
    return ", ".join(f"{source.layer} {source.place}".strip() for source in row.sources)


def _words(value: Any, *, bare: bool = False) -> str:
    return value if bare and isinstance(value, str) else msgspec.json.encode(value).decode()


def _complain(words: str, *, code: int) -> int:
    sys.stderr.write(f"clew config: {sanitize(words, one_line=True)}\n")
    return code
