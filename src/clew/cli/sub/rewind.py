"""`clew rewind`: the files of a session back to an earlier moment, and forth again."""

import argparse
import os
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from clew.cli.sub.agent_homes import OWN, chosen_homes, named_session
from clew.cli.sub.place import ask, this_place_if_any
from clew.protocol.ids import EntryId
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.protocol.lookups.catalog import NamedSession
from clew.protocol.lookups.rewind import (
    FilesRestored,
    FindMoment,
    ListMoments,
    PreviewRestore,
    RestoreFiles,
    RestorePreviewed,
)
from clew.text.figures import restore_words
from clew.text.terminal_text import clip, sanitize

HELP = "files of a session back to an earlier moment"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`clew rewind SESSION [--to ENTRY|TURN] …`."""
    parser.add_argument("session", metavar="SESSION", help="an id, the start of one, a title, or a path")
    parser.add_argument("--to", metavar="ENTRY|TURN", help="before that turn's prompt, or right after that entry")
    parser.add_argument("--redo", action="store_true", help="take the last restore back")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--files", action="store_true", help="restore files (default)")
    what.add_argument("--conversation", action="store_true", help="only say how to go on from there")
    what.add_argument("--both", action="store_true", help="restore files and say how to go on from there")
    parser.add_argument("--preview", action="store_true", help="show the diff, change nothing")
    parser.add_argument("--only", nargs="+", default=[], metavar="PATH", help="only these files and directories")
    parser.add_argument("--force", action="store_true", help="also overwrite what was changed by others since")
    parser.add_argument("--yes", action="store_true", help="with --redo: delete without asking")
    parser.add_argument("--json", action="store_true", help="machine-readable")


def run(args: argparse.Namespace) -> int:
    """List the moments, show a restore, or carry it out. 1: something was left as it is; 2: it cannot be meant."""
    if args.to and args.redo:
        return _wrong("--to and --redo cannot be combined", 2)
    if not args.to and (args.conversation or args.both):
        return _wrong("--conversation and --both need --to", 2)
    try:
        session = named_session(args.session, chosen_homes([]))
        if session.agent != OWN:
            return _wrong(f"{args.session} is a session of {session.agent}; only clew's own keep files", 1)
        return _rewind(args, session)
    except LookupRefused as error:
        _note(error.notes)
        return _wrong(str(error), 2 if isinstance(error, LookupMisused) else 1)


def _rewind(args: argparse.Namespace, session: NamedSession) -> int:
    place, to, only = this_place_if_any(), args.to or "", tuple(args.only)
    if not args.to and not args.redo:
        return _list(session, as_json=args.json)
    if args.conversation:
        found = ask(place, FindMoment(session=session, to=to))
        _note(found.notes)
        print(_go_on(found.session_id, found.resume_at))
        return 0
    if args.preview:
        would = ask(place, PreviewRestore(session=session, to=to, only=only))
        _note(would.notes)
        _show(would, as_json=args.json)
        code, resume_at = 0, would.resume_at
    elif args.redo and not args.yes and not _may_delete(ask(place, PreviewRestore(session=session, only=only))):
        return 1
    else:
        would = ask(place, RestoreFiles(session=session, to=to, only=only, force=args.force))
        _note(would.notes)
        _report(would, as_json=args.json)
        code, resume_at = (1 if would.skipped or would.failed else 0), would.resume_at
    if args.to and args.both and not args.json:
        print(_go_on(would.session_id, resume_at))
    return code


def _may_delete(would: RestorePreviewed) -> bool:
    """A redo that deletes files is asked about; a script says --yes."""
    gone = [file.path for file in would.files if file.action in ("remove", "rmdir") and not file.impossible]
    if not gone:
        return True
    named = ", ".join(sanitize(_shown(path, would.roots), one_line=True) for path in gone[:5])
    more = f" and {len(gone) - 5:,} more" if len(gone) > 5 else ""
    sys.stderr.write(f"clew rewind: the redo deletes {named}{more}\n")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        sys.stderr.write("clew rewind: nothing was changed; add --yes to delete\n")
        return False
    sys.stderr.write("Delete? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    sys.stderr.write("clew rewind: nothing was changed\n")
    return False


def _note(notes: Iterable[str]) -> None:
    for note in notes:
        sys.stderr.write(f"clew rewind: {sanitize(note)}\n")


def _list(session: NamedSession, *, as_json: bool) -> int:
    found = ask(this_place_if_any(), ListMoments(session=session))
    _note(found.notes)
    if as_json:
        _write_json(
            [
                {
                    "turn": moment.turn,
                    "entry": moment.entry,
                    "at": moment.at,
                    "prompt": moment.prompt,
                    "changes": moment.changes,
                    "warnings": moment.warnings,
                }
                for moment in found.moments
            ]
        )
        return 0
    width = os.get_terminal_size().columns if sys.stdout.isatty() else 120
    for moment in found.moments:
        tail = f"{moment.paths:,} paths changed" if moment.paths else "-"
        tail += f", {len(moment.warnings)} not restorable" if moment.warnings else ""
        head = f"{moment.turn:>4}  {moment.at[:16].replace('T', ' ')}  "
        print(head + clip(sanitize(moment.prompt, one_line=True), max(20, width - len(head) - 42)) + f"  {tail}")
    print(f"`clew rewind {found.session_id[:8]} --to N --preview` shows the way back to before turn N.")
    return 0


def _show(would: RestorePreviewed, *, as_json: bool) -> None:
    files = would.files
    if as_json:
        _write_json({"files": files, "diffs": would.diffs, "warnings": would.warnings})
        return
    for file, block in zip(files, would.diffs, strict=True):
        name = sanitize(_shown(file.path, would.roots), one_line=True)
        print(f"--- {name} (now)\n+++ {name} (then)")
        if file.impossible or file.conflict:
            print(f"! {sanitize(file.impossible or file.conflict, one_line=True)}")
        print(sanitize(block.patch))
    print(
        f"{len(files):,} paths; {sum(bool(file.conflict) for file in files):,} changed by others (--force), "
        f"{sum(bool(file.impossible) for file in files):,} not restorable"
    )
    _warn(would.warnings, would.not_covered)


def _report(done: FilesRestored, *, as_json: bool) -> None:
    if as_json:
        value = {
            "done": done.done,
            "skipped": done.skipped,
            "failed": done.failed,
            "warnings": (*done.planned, *done.warnings),
            "checkpoint": done.checkpoint,
        }
        _write_json(value)
        return
    did = {file.path: file.did for file in done.files}
    for path in done.done:
        print(sanitize(f"{did[path]} {_shown(path, done.roots)}", one_line=True))
    for path, why in (*done.skipped, *done.failed):
        print(sanitize(f"left alone: {_shown(path, done.roots)}: {why}", one_line=True))
    words = restore_words([did[path] for path in done.done])
    print(f"{words}; `--redo` takes that back" if done.done else "no file was changed")
    for line in done.warnings:
        print(sanitize(line, one_line=True))
    _warn(done.planned, done.not_covered)


def _warn(lines: Iterable[str], not_covered: str) -> None:
    for line in lines:
        print(sanitize(f"not restored: {line}", one_line=True))
    print(not_covered)


def _go_on(session_id: str, resume_at: EntryId | None) -> str:
    if resume_at is None:
        return "Nothing was said before that; start a new session with `clew`."
    return f"To go on from there: clew --resume {session_id} --resume-session-at {resume_at}"


def _shown(path: str, roots: tuple[str, ...]) -> str:
    for root in roots:
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def _wrong(words: str, code: int) -> int:
    sys.stderr.write(f"clew rewind: {sanitize(words)}\n")
    return code


def _write_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
