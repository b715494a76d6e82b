"""`clew hooks`: which hooks there are, which may run, and deciding about them."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from clew.cli.sub.place import ask, this_place
from clew.hooks.definitions import USER_SCOPES, HookDefinition
from clew.hooks.digests import TooManyNames, named_files
from clew.plain.dialogs.confirm import confirm
from clew.protocol.event_kinds.programs import HookRow, HookState
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.hooks import ApproveHooks, ListHooks
from clew.text.terminal_text import clip, display_width, reveal, sanitize, warnings

HELP = "list hooks, and say which of them may run"
ACTIONS = {
    "list": "every hook that was found, and whether it runs",
    "approve": "let hooks run, from now on and until they change",
    "revoke": "take an approval back",
}
STATES: dict[HookState, str] = {
    "approved": "runs",
    "unapproved": "not approved",
    "untrusted": "not trusted",
}
OWN_SCOPES = ("user", "given")
"""Hooks that run because the user wrote them in clew's own settings: nobody approves them."""
SHOWN_DIGITS = 8
MIN_DIGITS = 4
WIDEST = {"matcher": 24, "command": 60}


class HookRefused(ValueError):
    """What was asked for cannot be done, and why."""


class Room:
    """The hooks of this directory, and the decisions about them."""

    def __init__(self) -> None:
        self.place = this_place(lenient=True)
        self.root, self.trusted = self.place.root, self.place.trusted
        self.listed = ask(self.place, ListHooks())
        self.unread = [] if self.trusted else _project_files(self.root)

    def decide(self, digests: Sequence[str], *, approved: bool) -> None:
        """Keep a person's word. Raises LookupRefused or OSError."""
        self.listed = ask(self.place, ApproveHooks(digests=tuple(digests), approved=approved))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """list, approve and revoke."""
    actions = parser.add_subparsers(dest="action", metavar="list|approve|revoke")
    show = actions.add_parser("list", description=ACTIONS["list"], help=ACTIONS["list"])
    show.add_argument("--json", action="store_true", help="as one JSON object")
    for name in ("approve", "revoke"):
        action = actions.add_parser(name, description=ACTIONS[name], help=ACTIONS[name])
        action.add_argument(
            "digests", nargs="*", metavar="DIGEST", help="the first digits of a digest, several, or `all` (default)"
        )
        action.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(json=False)


def run(args: argparse.Namespace) -> int:
    """Do it. What cannot be done is a usage error, a file that cannot be written is a failed run."""
    actions: dict[str | None, Callable[[argparse.Namespace, Room], int]] = {
        None: _list,
        "list": _list,
        "approve": _approve,
        "revoke": _revoke,
    }
    try:
        return actions[args.action](args, Room())
    except HookRefused as problem:
        return _complain(str(problem), code=2)


def _list(args: argparse.Namespace, room: Room) -> int:
    rows, problems = room.listed.hooks, room.listed.problems
    if args.json:
        value = {
            "root": str(room.root),
            "trusted": room.trusted,
            "hooks": [msgspec.structs.asdict(row) for row in rows],
            "problems": problems,
        }
        sys.stdout.write(json.dumps(value, indent=2) + "\n")
        return 0
    if rows:
        _table(rows, room.root)
    else:
        print("no hooks")
    _note_trust(room)
    for problem in problems:
        print(f"problem: {sanitize(problem, one_line=True)}")
    waiting = sum(row.state == "unapproved" for row in rows)
    if waiting:
        print(f"{waiting} not approved, not run; look at them and let them run with: clew hooks approve")
    return 0


def _table(rows: Sequence[HookRow], root: Path) -> None:
    cells = [("STATE", "DIGEST", "MOMENT", "MATCHER", "COMMAND", "FILE")]
    for row in rows:
        words = (STATES[row.state], row.digest[:SHOWN_DIGITS], row.moment, row.matcher or "*", row.command)
        cells.append((*words, _short(row.source, root) + (f" (agent {row.agent})" if row.agent else "")))
    limits = (20, SHOWN_DIGITS, 20, WIDEST["matcher"], WIDEST["command"])
    lines = [
        [clip(sanitize(cell, one_line=True), limit) for cell, limit in zip(line, (*limits, 200), strict=True)]
        for line in cells
    ]
    widths = [max(display_width(line[column]) for line in lines) for column in range(len(limits))]
    for line in lines:
        padded = [cell + " " * (width - display_width(cell)) for cell, width in zip(line, widths, strict=False)]
        print("  ".join((*padded, line[-1])).rstrip())


def _approve(args: argparse.Namespace, room: Room) -> int:
    hooks = [row for row in _once(room.listed.hooks) if row.scope not in OWN_SCOPES]
    waiting = [row for row in hooks if row.state != "approved"]
    chosen = _chosen(args.digests, hooks, room, of="hook that can be approved") if args.digests else waiting
    chosen = [row for row in chosen if row in waiting]
    if not chosen:
        _note_trust(room)
        print("nothing to approve: every hook that may run is approved")
        return 0
    for row in chosen:
        _show(row, room)
    if not args.yes and not _agreed(f"Let {_count(chosen)} run, outside the sandbox?"):
        print("nothing was approved")
        return 1
    try:
        room.decide([row.digest for row in chosen], approved=True)
    except LookupRefused as problem:
        return _complain(str(problem), code=1)
    except OSError as problem:
        return _complain(f"{problem.filename}: {problem.strerror}", code=1)
    print(f"approved {_count(chosen)}; a change of the definition or of a file it names asks again")
    return 0


def _revoke(args: argparse.Namespace, room: Room) -> int:
    before = room.listed.approvals
    known = {one.digest: one for one in before}
    wanted = [word.lower() for word in args.digests if word != "all"]
    if not known:
        print("no hook is approved here")
        return 0
    named = [match for word in wanted for match in _matching(word, list(known), of="approval")]
    gone = list(dict.fromkeys(named)) or list(known)
    for digest in gone:
        print(f"{digest[:SHOWN_DIGITS]}  {known[digest].moment}  {sanitize(known[digest].command, one_line=True)}")
    if not wanted and not args.yes and not _agreed(f"Take {len(gone)} approvals back?"):
        print("nothing was revoked")
        return 1
    try:
        room.decide(gone, approved=False)
    except LookupRefused as problem:
        return _complain(str(problem), code=1)
    except OSError as problem:
        return _complain(f"{problem.filename}: {problem.strerror}", code=1)
    print(f"revoked {len(before) - len(room.listed.approvals)}")
    return 0


def _chosen(words: Sequence[str], hooks: Sequence[HookRow], room: Room, *, of: str) -> list[HookRow]:
    if "all" in words:
        return list(hooks)
    own = {row.digest for row in room.listed.hooks if row.scope in OWN_SCOPES}
    found: list[HookRow] = []
    for word in words:
        if any(digest.startswith(word.lower()) for digest in own) and len(word) >= MIN_DIGITS:
            raise HookRefused(f"{word} is in your own settings: it runs because you wrote it there")
        match = _matching(word.lower(), [hook.digest for hook in hooks], of=of)
        found += [hook for hook in hooks if hook.digest in match]
    return found


def _matching(word: str, digests: Sequence[str], *, of: str) -> list[str]:
    """The one digest that begins so."""
    if not re.fullmatch(r"[0-9a-f]+", word) or len(word) < MIN_DIGITS:
        raise HookRefused(
            f"{word!r} is no digest: give at least its first {MIN_DIGITS} digits, as `clew hooks list` shows"
        )
    found = sorted({digest for digest in digests if digest.startswith(word)})
    if len(found) != 1:
        raise HookRefused(f"{word}: {'no' if not found else 'more than one'} {of} begins so")
    return found


def _show(hook: HookRow, room: Room) -> None:
    """Everything a person needs to decide, with nothing hidden in it."""
    print(f"{hook.digest[:SHOWN_DIGITS]}  {hook.moment}  {sanitize(reveal(hook.matcher or '*'), one_line=True)}")
    for line in reveal(hook.command).splitlines() or [""]:
        print(f"    {sanitize(line, one_line=True)}")
    for warning in warnings(hook.command):
        print(f"  note: {warning}")
    print(f"  from   {sanitize(_short(hook.source, room.root), one_line=True)}")
    if hook.agent:
        print(f"  only   about calls of the agent {sanitize(hook.agent, one_line=True)}, and the end of its work")
    where = "in every project" if hook.scope in USER_SCOPES else "in this project"
    print(f"  holds  {where}, for at most {hook.timeout_s:g} s each time")
    if not hook.sandbox:
        print("  note: it runs outside the sandbox, with your rights")
    for path in _named(hook, room.root):
        print(f"  file   {sanitize(_short(path, room.root), one_line=True)}")


def _named(row: HookRow, root: Path) -> list[str]:
    hook = HookDefinition(
        moment=row.moment,
        matcher=row.matcher,
        command=row.command,
        source=row.source,
        scope=row.scope,
        digest=row.digest,
    )
    try:
        return [path for path in named_files(hook, str(root)) if not os.path.isdir(path)]
    except TooManyNames:
        return []


def _once(hooks: Sequence[HookRow]) -> list[HookRow]:
    return list({hook.digest: hook for hook in reversed(hooks)}.values())[::-1]


def _agreed(question: str) -> bool:
    """A person's word; where there is none to ask, nothing is done."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise HookRefused("there is nobody to ask; add --yes")
    return confirm((), question)


def _note_trust(room: Room) -> None:
    if not room.trusted:
        which = f" ({', '.join(_short(path, room.root) for path in room.unread)})" if room.unread else ""
        print(f"note: this project is not trusted; its hooks are not read{which}")


def _project_files(root: Path) -> list[str]:
    """Files that would be read with trust; only looked for, not into."""
    names = (".clew/settings.json", ".clew/settings.local.json", ".claude/settings.json", ".claude/settings.local.json")
    return [str(root / name) for name in names if os.path.lexists(root / name)]


def _short(path: str, root: Path) -> str:
    if path.startswith(f"{root}/"):
        return path[len(str(root)) + 1 :]
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path


def _count(hooks: Sequence[Any]) -> str:
    return f"{len(hooks)} hook{'s' * (len(hooks) != 1)}"


def _complain(words: str, *, code: int) -> int:
    sys.stderr.write(f"clew hooks: {sanitize(words, one_line=True)}\n")
    return code
