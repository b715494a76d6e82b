"""`clew rewind`: the files of a session back to an earlier moment, and forth again."""

import argparse
import os
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec

from clew.catalog.found_session import OWN
from clew.catalog.opening import Opened, open_found
from clew.cli.sub.agent_homes import chosen_homes, named_session
from clew.protocol.entries import EventEntry
from clew.protocol.event_kinds.context import FileRestore, Rewound
from clew.protocol.ids import SessionId
from clew.system.home import clew_home
from clew.text.terminal_text import clip, sanitize
from clew.transcript.errors import TranscriptError
from clew.transcript.log.lease import holder_of
from clew.transcript.log.writer import TranscriptWriter
from clew.undo.errors import NothingToRestore
from clew.undo.journal import FileJournal
from clew.undo.limits import OUT_OF_SCOPE
from clew.undo.lineage import lineage
from clew.undo.packs import PackStore
from clew.undo.plan import FilePlan, RestorePlan, only_paths, plan_restore
from clew.undo.points import Moment, find_moment, points
from clew.undo.preview import preview
from clew.undo.restore import Restored, apply_plan
from clew.undo.state import ChangingCall, Checkpoint, did_to, path_of, path_text
from clew.undo.workspace import store_folder

HELP = "files of a session back to an earlier moment"
_WORDS = {
    "write": "write",
    "link": "link",
    "mkdir": "make directory",
    "mode": "set mode",
    "remove": "delete",
    "rmdir": "delete directory",
    "none": "leave",
}


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
        opened = open_found(named_session(args.session, chosen_homes([])))
        if opened.agent != OWN:
            return _wrong(f"{args.session} is a session of {opened.agent}; only clew's own keep files", 1)
        return _rewind(args, opened)
    except (TranscriptError, NothingToRestore) as error:
        return _wrong(str(error), 1)
    except ValueError as error:
        return _wrong(str(error), 2)


def _rewind(args: argparse.Namespace, opened: Opened) -> int:
    journal = FileJournal(opened.path, forked_from=lineage(opened.path))
    if journal.damaged:
        sys.stderr.write(f"clew rewind: {journal.damaged} damaged lines of {journal.path} were passed over\n")
    if not args.to and not args.redo:
        return _list(opened, journal, as_json=args.json)
    moment = find_moment(opened.entries, args.to) if args.to else None
    if moment is not None and args.conversation:
        print(_go_on(opened, moment))
        return 0
    chosen = journal.since(moment.at) if moment is not None else journal.last_restore()
    if not any(item.changes or item.warnings for item in chosen):
        raise NothingToRestore("no file was changed after that" if moment is not None else "there is nothing to redo")
    store = PackStore(store_folder(clew_home(), opened.path) / "packs")
    try:
        code = _restore(args, opened, journal, store, chosen)
    finally:
        store.close()
    if moment is not None and args.both and not args.json:
        print(_go_on(opened, moment))
    return code


def _restore(
    args: argparse.Namespace, opened: Opened, journal: FileJournal, store: PackStore, chosen: tuple[Checkpoint, ...]
) -> int:
    roots = list(dict.fromkeys(path_of(root) for item in chosen for root in item.roots))
    plan = plan_restore(chosen, store, roots)
    files = plan.files
    if args.only:
        files = only_paths(plan, [str(_resolved(path)) for path in args.only])
        if not files:
            raise NothingToRestore("none of these paths would change")
    if args.preview:
        _show(plan, files, store, as_json=args.json)
        return 0
    if args.redo and not args.yes and not _may_delete(plan, files):
        return 1
    holder = holder_of(opened.path)
    if holder is not None:
        sys.stderr.write(
            f"clew rewind: the session is open in {sanitize(str(holder))}; its agent may be writing files\n"
        )
    call = ChangingCall(session=SessionId(opened.session_id), turn=0, tool="rewind", subject=args.to or "redo")
    only = [file.path for file in files] if args.only else None
    done = apply_plan(plan, store=store, journal=journal, call=call, only=only, force=args.force)
    if done.done:
        _note(opened, done, chosen, redo=args.redo)
    _report(plan, done, as_json=args.json)
    return 1 if done.skipped or done.failed else 0


def _may_delete(plan: RestorePlan, files: tuple[FilePlan, ...]) -> bool:
    """A redo that deletes files is asked about; a script says --yes."""
    gone = [file.path for file in files if file.action in ("remove", "rmdir") and not file.impossible]
    if not gone:
        return True
    named = ", ".join(sanitize(_shown(path, plan.roots), one_line=True) for path in gone[:5])
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


def _note(opened: Opened, done: Restored, chosen: tuple[Checkpoint, ...], *, redo: bool) -> None:
    """Into the session's log, for whoever comes back to it; not while another process writes it."""
    calls = tuple(item.call.call for item in chosen if item.call.call is not None)
    made = done.checkpoint.changes if done.checkpoint is not None else ()
    files = tuple(FileRestore(path=item.path, did=did_to(item.before, item.after)) for item in made)
    event = Rewound(direction="redo" if redo else "rewind", scope="files", to=None, files=files, call_ids=calls)
    session = SessionId(opened.session_id)
    at = done.checkpoint.at if done.checkpoint is not None else ""
    with suppress(OSError, TranscriptError), closing(TranscriptWriter(opened.path, session)) as writer:
        writer.append(EventEntry(session_id=session, timestamp=at, event=event))


def _list(opened: Opened, journal: FileJournal, *, as_json: bool) -> int:
    found = points(opened.entries, journal.checkpoints)
    if as_json:
        _write_json(
            [
                {
                    "turn": point.number,
                    "entry": point.entry,
                    "at": point.at,
                    "prompt": point.text,
                    "changes": sum(len(item.changes) for item in point.checkpoints),
                    "warnings": [line for item in point.checkpoints for line in item.warnings],
                }
                for point in found
            ]
        )
        return 0
    width = os.get_terminal_size().columns if sys.stdout.isatty() else 120
    for point in found:
        changed = len({change.path for item in point.checkpoints for change in item.changes})
        told = sum(len(item.warnings) for item in point.checkpoints)
        tail = f"{changed:,} paths changed" if changed else "-"
        tail += f", {told} not restorable" if told else ""
        head = f"{point.number:>4}  {point.at[:16].replace('T', ' ')}  "
        print(head + clip(sanitize(point.text, one_line=True), max(20, width - len(head) - 42)) + f"  {tail}")
    print(f"`clew rewind {opened.session_id[:8]} --to N --preview` shows the way back to before turn N.")
    return 0


def _show(plan: RestorePlan, files: tuple[FilePlan, ...], store: PackStore, *, as_json: bool) -> None:
    blocks = [preview(file, store) for file in files]
    if as_json:
        _write_json({"files": [_file(file) for file in files], "diffs": blocks, "warnings": plan.warnings})
        return
    for file, block in zip(files, blocks, strict=True):
        name = sanitize(_shown(file.path, plan.roots), one_line=True)
        print(f"--- {name} (now)\n+++ {name} (then)")
        if file.impossible or file.conflict:
            print(f"! {sanitize(file.impossible or file.conflict, one_line=True)}")
        print(sanitize(block.patch))
    print(
        f"{len(files):,} paths; {sum(bool(file.conflict) for file in files):,} changed by others (--force), "
        f"{sum(bool(file.impossible) for file in files):,} not restorable"
    )
    _warn(plan)


def _report(plan: RestorePlan, done: Restored, *, as_json: bool) -> None:
    if as_json:
        value = {
            "done": done.done,
            "skipped": done.skipped,
            "failed": done.failed,
            "warnings": (*plan.warnings, *done.warnings),
            "checkpoint": done.checkpoint.id if done.checkpoint else None,
        }
        _write_json(value)
        return
    actions = {file.path: _WORDS[file.action] for file in plan.files}
    for path in done.done:
        print(sanitize(f"{actions[path]}: {_shown(path, plan.roots)}", one_line=True))
    for path, why in (*done.skipped, *done.failed):
        print(sanitize(f"left as it is: {_shown(path, plan.roots)}: {why}", one_line=True))
    print(f"{len(done.done):,} paths restored" + ("; `--redo` takes that back" if done.done else ""))
    for line in done.warnings:
        print(sanitize(line, one_line=True))
    _warn(plan)


def _warn(plan: RestorePlan) -> None:
    for line in plan.warnings:
        print(sanitize(f"not restored: {line}", one_line=True))
    print(OUT_OF_SCOPE)


def _go_on(opened: Opened, moment: Moment) -> str:
    if moment.resume_at is None:
        return "Nothing was said before that; start a new session with `clew`."
    return f"To go on from there: clew --resume {opened.session_id} --resume-session-at {moment.resume_at}"


def _file(file: FilePlan) -> dict[str, Any]:
    return {"path": file.path, "action": file.action, "conflict": file.conflict, "impossible": file.impossible}


def _shown(path: str, roots: tuple[str, ...]) -> str:
    for root in (path_text(root) for root in roots):
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def _resolved(path: str) -> Path:
    whole = Path(os.path.abspath(os.path.expanduser(path)))
    return Path(os.path.realpath(whole.parent)) / whole.name


def _wrong(words: str, code: int) -> int:
    sys.stderr.write(f"clew rewind: {sanitize(words)}\n")
    return code


def _write_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
