"""`clew config`: read and change settings."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from clew.cli.config_values import check_value
from clew.config.edit import remove_value, typed_value, write_value
from clew.config.effective import SettingRow, rows, value_at
from clew.config.errors import SettingsError, SettingsKeyError
from clew.config.load import LoadedSettings, Scope, load_settings, settings_path
from clew.config.narrow import ASIDE, may_stand_in_project, narrow
from clew.config.walk import dotted, split_key, suggestion, type_at
from clew.permissions.trust import TrustStore
from clew.system.git import find_project_root
from clew.system.home import clew_home
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
            sys.stdout.write(f"{_file(args.scope)}\n")
            return 0
        if args.action == "unset":
            return _unset(args.key, args.scope)
        if args.action == "set":
            return _set(args)
        return _list(_load(args), as_json=args.json) if args.action == "list" else _get(_load(args), args.key)
    except SettingsError as error:
        return _complain(str(error), code=2)
    except OSError as error:
        if error.filename is None and args.action not in ("set", "unset"):
            raise  # not about a settings file: stdout, or the current directory
        return _complain(f"{error.filename or _file(args.scope)}: {(error.strerror or str(error)).lower()}", code=1)


def _load(args: argparse.Namespace) -> LoadedSettings:
    home, root = clew_home(), find_project_root(Path.cwd())
    trusted = args.trust or TrustStore(home).is_trusted(root)
    return load_settings(home=home, project_root=root, trusted=trusted, env=os.environ)


def _file(scope: Scope) -> Path:
    return settings_path(scope, home=clew_home(), project_root=find_project_root(Path.cwd()))


def _get(loaded: LoadedSettings, key: str) -> int:
    path = split_key(key)
    if not path or type_at(path) is None:
        raise SettingsKeyError(f'unknown key "{key}"; {suggestion(path or ("",))}')
    sys.stdout.write(f"{_words(value_at(loaded.settings, path), bare=True)}\n")
    return _report(loaded)


def _list(loaded: LoadedSettings, *, as_json: bool) -> int:
    found = list(rows(loaded))
    if as_json:
        table = {row.key: {"value": _shown(row), "sources": row.sources} for row in found}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(table)).decode() + "\n")
        return _report(loaded)
    cells = [(row.key, sanitize(_words(_shown(row)), one_line=True), _origin(row)) for row in found]
    widths = [min(max(len(cell[column]) for cell in cells), 48) for column in (0, 1)]
    for key, value, origin in cells:
        sys.stdout.write(f"{sanitize(key, one_line=True):<{widths[0]}}  {value:<{widths[1]}}  {origin}".rstrip() + "\n")
    return _report(loaded)


def _set(args: argparse.Namespace) -> int:
    path, scope, file = split_key(args.key), args.scope, _file(args.scope)
    if not path or (args.value is None) == (not args.unset):
        raise SettingsKeyError("give a key and a value, or a key and --unset")
    if args.unset:
        return _unset(args.key, scope)
    value = typed_value(path, args.value)
    if scope != "user":
        _check_narrows(path, value, file)
    check_value(path, value)
    write_value(file, path, value, private=scope == "user")
    return 0


def _unset(key: str, scope: Scope) -> int:
    path, file = split_key(key), _file(scope)
    if not path or not remove_value(file, path, private=scope == "user"):
        if not path or type_at(path) is None:
            raise SettingsKeyError(f'unknown key "{key}"; {suggestion(path or ("",))}')
        raise SettingsKeyError(f'"{key}" is not set in {file}')
    return 0


def _check_narrows(path: tuple[str, ...], value: Any, file: Path) -> None:
    """A value that would be ignored on reading must not be written (T2)."""
    if path[0] in ASIDE:
        return  # no setting: hooks that ask for themselves
    user = load_settings(home=clew_home(), project_root=None, trusted=False, env={}).settings
    refused = narrow({path[0]: {path[-1]: value}}, lambda key: value_at(user, key), str(file))[1]
    if len(path) != 2 or not may_stand_in_project(path):
        raise SettingsKeyError(
            f'"{dotted(path)}" cannot stand in a project file, which may only narrow; use --scope user'
        )
    if refused:
        raise SettingsKeyError(f'"{dotted(path)}": {refused[0].why}; a project file may only narrow')


def _report(loaded: LoadedSettings) -> int:
    """Refused values are errors here: this is where people come to see why a setting has no effect."""
    for path in loaded.unread:
        _complain(f"{path}: not read, the project is not trusted; add --trust to see it applied", code=0)
    for warning in loaded.warnings:
        _complain(warning, code=0)
    return 1 if loaded.refused else 0


def _shown(row: SettingRow) -> Any:
    """Header values are credentials more often than not."""
    return "[hidden]" if "headers" in row.path[:-1] else row.value


def _origin(row: SettingRow) -> str:
    return ", ".join(f"{source.layer} {source.place}".strip() for source in row.sources)


def _words(value: Any, *, bare: bool = False) -> str:
    return value if bare and isinstance(value, str) else msgspec.json.encode(value).decode()


def _complain(words: str, *, code: int) -> int:
    sys.stderr.write(f"clew config: {sanitize(words, one_line=True)}\n")
    return code
