"""Which conversation a run works on: a new one, an old one, a copy, or one brought from another agent."""

import argparse
import time
from pathlib import Path

from msgspec import Struct

from clew.cli.workspace import Workspace
from clew.host.stamp import utc_now
from clew.protocol.entries import Entry, TurnResultEntry, UserEntry
from clew.protocol.ids import EntryId, SessionId, new_uuid
from clew.protocol.messages import Message
from clew.transcript.errors import SessionBusy, SessionNotFound, TranscriptError
from clew.transcript.fork import Fork, fork_session
from clew.transcript.interruption import Interruption, interruption
from clew.transcript.lease import Lease, acquire, holder_of, take_over
from clew.transcript.problems import describe
from clew.transcript.reader import Loaded, load
from clew.transcript.resume import Match, newest_session, resolve_session, resume_at
from clew.transcript.store import SessionStore, checked_id, sidecar_dir
from clew.transcript.view import messages_of, replacements_of
from clew.transcript.writer import Notify, NullWriter, TranscriptSink, TranscriptWriter

WAIT_STEP_S = 0.2


class Conversation(Struct, kw_only=True):
    """What a session starts from."""

    session_id: SessionId
    writer: TranscriptSink
    messages: tuple[Message, ...] = ()
    entries: tuple[Entry, ...] = ()
    """What was read of the past, for the ledger."""
    leaf: EntryId | None = None
    results_dir: Path | None = None
    notes: tuple[str, ...] = ()
    interrupted: Interruption = "none"
    path: Path | None = None

    @property
    def resumed(self) -> bool:
        """Whether there is a past."""
        return bool(self.entries)

    @property
    def first_turn(self) -> int:
        """The number of the next turn."""
        ended = [entry.turn for entry in self.entries if isinstance(entry, TurnResultEntry)]
        if ended:
            return max(ended) + 1
        return 1 + sum(isinstance(entry, UserEntry) and not entry.is_meta for entry in self.entries)


def open_conversation(args: argparse.Namespace, workspace: Workspace, notify: Notify) -> Conversation:
    """As the command line asks. Raises TranscriptError with one line for a person."""
    store = SessionStore(workspace.home)
    source = chosen_source(args, workspace, store)
    if source is None:
        return new_conversation(args, workspace, store, notify)
    if not is_ours(source, store):
        from clew.cli.foreign_source import adopt  # readers of other agents are loaded for their own files only

        return started_from(adopt(source, new_id(args), workspace.cwd), args, workspace, store, notify)
    loaded = load(source)
    if args.resume_session_at:
        loaded = resume_at(loaded, args.resume_session_at)
    if args.fork_session:
        fork = fork_session(loaded, new_id(args), timestamp=utc_now())
        return started_from(fork, args, workspace, store, notify, notes=notes_of(loaded))
    return resumed(loaded, source, args, notify)


def chosen_source(args: argparse.Namespace, workspace: Workspace, store: SessionStore) -> Path | None:
    """The file to go on from, None for a new session."""
    if args.continue_:
        try:
            return newest_session(store, workspace.root, identity=workspace.identity)
        except SessionNotFound as error:
            if workspace.trusted or workspace.repository is None:
                raise
            hint = "sessions from before a move are found once the directory is trusted (--trust)"
            raise SessionNotFound(f"{error}; {hint}") from error
    if args.resume is None:
        return None
    if not args.resume.strip():
        from clew.cli.picker import pick_session  # the board is loaded only where somebody chooses from it

        return pick_session(workspace.home)
    from clew.orient.catalog import OWN, Catalog  # the index is opened only to look for a session by words

    def search(words: str) -> list[Match]:
        with Catalog(store) as catalog:
            catalog.refresh(agents=[OWN])
            return list(catalog.matches(words, workspace.root))

    try:
        return resolve_session(store, args.resume, workspace.root, identity=workspace.identity, search=search)
    except SessionNotFound as error:
        if not is_archived(args.resume, store):
            raise
        words = f"session {args.resume} is archived; bring it back with `clew sessions restore {args.resume}`"
        raise SessionNotFound(words) from error


def is_archived(query: str, store: SessionStore) -> bool:
    """Whether this is the id, or the start of one, of a session that was put away."""
    wanted = query.strip()
    return len(wanted) >= 4 and any(path.name.startswith(wanted) for path in store.home.glob("archive/*/*.jsonl.gz"))


def is_ours(path: Path, store: SessionStore) -> bool:
    """Whether a transcript lies in our own store; every other file is only read."""
    return store.home.resolve() in path.resolve().parents and path.suffix == ".jsonl"


def new_id(args: argparse.Namespace) -> SessionId:
    """The id asked for, or a random one."""
    return SessionId(checked_id(args.session_id) if args.session_id else new_uuid())


def new_conversation(
    args: argparse.Namespace, workspace: Workspace, store: SessionStore, notify: Notify
) -> Conversation:
    """No past."""
    session_id = new_id(args)
    if args.session_id and store.find(session_id) is not None:
        raise TranscriptError(f"session {session_id} exists already; go on with it by --resume {session_id}")
    if args.no_session_persistence:
        return Conversation(session_id=session_id, writer=NullWriter())
    path = store.session_path(workspace.root, session_id)
    return Conversation(
        session_id=session_id,
        writer=TranscriptWriter(path, session_id, notify=notify),
        results_dir=sidecar_dir(path) / "tool-results",
        path=path,
    )


def started_from(
    fork: Fork,
    args: argparse.Namespace,
    workspace: Workspace,
    store: SessionStore,
    notify: Notify,
    *,
    notes: tuple[str, ...] = (),
) -> Conversation:
    """A copy: nothing is on disk until its first prompt."""
    path = store.session_path(workspace.root, fork.session_id)
    keep = not args.no_session_persistence
    return Conversation(
        session_id=fork.session_id,
        writer=TranscriptWriter(path, fork.session_id, notify=notify, seed=fork.lines) if keep else NullWriter(),
        messages=messages_of(fork.chain, replacements_of(fork.entries)),
        entries=fork.entries,
        leaf=fork.leaf,
        results_dir=sidecar_dir(path) / "tool-results" if keep else None,
        notes=notes,
        interrupted=interruption(fork.entries, fork.chain),
        path=path if keep else None,
    )


def resumed(loaded: Loaded, path: Path, args: argparse.Namespace, notify: Notify) -> Conversation:
    """The same session goes on in the same file."""
    keep = not args.no_session_persistence
    writer: TranscriptSink = NullWriter()
    if keep:
        lease = lease_for(path, args, notify)
        writer = TranscriptWriter(path, loaded.session_id, notify=notify, lease=lease)
        loaded = loaded if args.resume_session_at else load(path)  # what was written while we waited for the lease
    return Conversation(
        session_id=loaded.session_id,
        writer=writer,
        messages=loaded.messages,
        entries=loaded.entries,
        leaf=loaded.leaf,
        results_dir=sidecar_dir(path) / "tool-results" if keep else None,
        notes=notes_of(loaded),
        interrupted=interruption(loaded.entries, loaded.chain),
        path=path if keep else None,
    )


def lease_for(path: Path, args: argparse.Namespace, notify: Notify) -> Lease:
    """Become the writer: at once, after waiting, or by asking the holder to let go."""
    if args.take_over:
        return take_over(path, force=True)
    while True:
        try:
            return acquire(path)
        except SessionBusy as busy:
            if not args.wait:
                raise
            notify("info", f"session {busy.session} is open in {busy.owner}; waiting")
            while holder_of(path) is not None:
                time.sleep(WAIT_STEP_S)


def notes_of(loaded: Loaded) -> tuple[str, ...]:
    """One line about what could not be read, if anything."""
    line = describe(loaded.problems)
    return (line,) if line else ()
