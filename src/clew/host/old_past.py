"""The past of a session that was there before: which one is meant, its lease, its log, or a copy of it."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from clew.engine.turn import OpenCall, Prompt
from clew.host.past import Past, new_id, origin_of
from clew.host.request import SessionRequest, Tell
from clew.host.workspace import Workspace
from clew.protocol.entries import ChainEntry, Entry, SessionStateEntry
from clew.protocol.meant_calls import meant_call
from clew.protocol.state import AgentState, agent_after
from clew.system.git.layout import find_project_root
from clew.transcript.chain.standing import QUESTION_TOOLS, left_in
from clew.transcript.errors import SessionBusy, SessionNotFound, TranscriptError, describe
from clew.transcript.log.codec import encode
from clew.transcript.log.lease import Lease, acquire, holder_of, take_over
from clew.transcript.log.stamp import utc_now
from clew.transcript.log.store import SessionStore, read_project
from clew.transcript.log.writer import NullWriter, TranscriptSink, TranscriptWriter
from clew.transcript.mapping.retelling import events_of
from clew.transcript.past.fork import Fork, fork_session
from clew.transcript.past.interruption import CONTINUE_PROMPT, interruption, restore_cut_off, unanswered_calls
from clew.transcript.past.reader import LoadedLog, iterate, load
from clew.transcript.past.resume import newest_session, own_session, resume_at

WAIT_STEP_S = 0.2
MAX_STORY_BYTES = 64 * 1024 * 1024
"""A longer file is not read again from its beginning for the sake of a recap."""


class OldPast(Past, kw_only=True):
    """A log that was read, or the copy of one."""

    older_bytes: int = 0
    """How much of the file was there when only its end was read; 0: what was read is all there is."""

    @property
    def restore_is_open(self) -> bool:
        """Looked up in the journal: /undo and /redo settle it."""
        return self.restore_cut_off and restore_cut_off(self.path)

    def story(self) -> Iterator[Entry]:
        """From the first entry on; of a very long file only what is in view and its receipt."""
        if self.path is None or not 0 < self.older_bytes <= MAX_STORY_BYTES:
            yield from self.entries
            return
        for located in iterate(self.path, end=self.older_bytes):
            if located.entry is not None:
                yield located.entry

    def state(self) -> AgentState:
        """The fold over the whole session: its last figures, and what happened since."""
        known = next((at for at in range(len(self.entries) - 1, -1, -1) if is_state(self.entries[at])), None)
        state, rest = AgentState(), self.entries
        if known is not None:
            entry = self.entries[known]
            assert isinstance(entry, SessionStateEntry)
            state, rest = entry.state, self.entries[known + 1 :]
        for entry in rest:
            for event in events_of(entry):
                state = agent_after(event, state)
        left = left_in(self.entries)
        return state.left_behind(left.rest, left.by)


def is_state(entry: Entry) -> bool:
    """Whether a line holds the figures of the session up to it."""
    return isinstance(entry, SessionStateEntry)


def resolve(request: SessionRequest, workspace: Workspace) -> SessionRequest:
    """The same request with the file that is meant, and the place where that session lives. Raises TranscriptError."""
    store = SessionStore(workspace.home)
    if request.resume is not None:
        request = named(request, workspace, store)
    elif request.newest:
        request = replace(request, newest=False, resume=str(newest_here(workspace, store)))
    source = Path(request.resume or "")
    if request.fork or not is_ours(source, store):
        return request  # a copy begins here
    return replace(request, cwd=own_place(source, workspace, store))


def newest_here(workspace: Workspace, store: SessionStore) -> Path:
    """The newest session of this place."""
    try:
        return newest_session(store, workspace.root, identity=workspace.identity)
    except SessionNotFound as error:
        if workspace.trusted or workspace.repository is None:
            raise
        hint = "sessions from before a move are found once the directory is trusted (--trust)"
        raise SessionNotFound(f"{error}; {hint}") from error


def catalogued():
    """The list of all sessions and the readers of other agents: loaded where an id of ours does not say enough."""
    from clew.host import adoption

    return adoption


def named(request: SessionRequest, workspace: Workspace, store: SessionStore) -> SessionRequest:
    """The session that is meant by what was given: an id of ours at once, everything else by the list of all."""
    if request.source_agent:
        return request  # it was chosen from a list
    wanted = (request.resume or "").strip()
    own = own_session(store, wanted)
    if own is not None:
        return replace(request, resume=str(own))
    found = catalogued().found(wanted, request, workspace, store)
    if found.note:
        request.tell("info", found.note)
    if found.is_ours:
        return replace(request, resume=str(found.path))
    return replace(request, resume=str(found.path), source_agent=found.agent, source_session=found.session_id)


def own_place(source: Path, workspace: Workspace, store: SessionStore) -> Path:
    """The directory a session of ours belongs to: here, if it is of this project or of the same repository under
    another path; else its own. A session is never moved silently."""
    if source.parent == store.project_dir(workspace.root):
        return workspace.cwd
    record = read_project(source.parent)
    if record is not None and record.identity and record.identity == workspace.identity(workspace.root):
        return workspace.cwd
    spoken = [entry.cwd for entry in load(source).chain if isinstance(entry, ChainEntry) and entry.cwd]
    for cwd in (*reversed(spoken), record.root if record is not None else ""):
        if cwd and Path(cwd).is_dir() and store.project_dir(find_project_root(Path(cwd))) == source.parent:
            return Path(cwd)
    where = record.root if record is not None else next(iter(spoken), "another directory")
    words = f"session {source.stem} belongs to {where}, which is not there; go on here in a copy with --fork-session"
    raise TranscriptError(words)


def is_ours(path: Path, store: SessionStore) -> bool:
    """Whether a transcript lies in our own store; every other file is only read."""
    return store.home.resolve() in path.resolve().parents and path.suffix == ".jsonl"


def open_old(request: SessionRequest, workspace: Workspace) -> Past:
    """As a resolved request asks. Raises TranscriptError with one line for a person."""
    store = SessionStore(workspace.home)
    source = Path(request.resume or "")
    if not is_ours(source, store):
        taken = catalogued().adopt(
            source,
            new_id(request),
            workspace.cwd,
            agent=request.source_agent,
            source_session=request.source_session,
        )
        return started_from(taken, request, workspace, store)
    if not (request.fork or request.resume_at or request.take_over):
        return resumed(source, request)
    loaded = load(source)
    if request.resume_at:
        loaded = resume_at(loaded, request.resume_at, drops_turn=request.drops_turn)
    if request.fork:
        title = ""
        if request.branched:
            title = catalogued().title_of_branch(loaded, store)
        fork = fork_session(loaded, new_id(request), timestamp=utc_now(), title=title)
        return started_from(fork, request, workspace, store, notes=notes_of(loaded))
    return resumed(source, request, loaded)


def started_from(
    fork: Fork, request: SessionRequest, workspace: Workspace, store: SessionStore, *, notes: tuple[str, ...] = ()
) -> Past:
    """A copy: nothing is on disk until its first prompt."""
    path = store.session_path(workspace.root, fork.session_id)
    sink: TranscriptSink = NullWriter()
    if request.persist:
        first, *rest = fork.lines  # names the source
        origin = [] if request.entrypoint == "terminal" else [encode(origin_of(request, fork.session_id))]
        sink = TranscriptWriter(
            path, fork.session_id, notify=request.tell, seed=(first, *origin, *rest), one_shot=request.one_shot
        )
    return OldPast(
        session_id=fork.session_id,
        sink=sink,
        entries=fork.entries,
        chain=fork.chain,
        leaf=fork.leaf,
        path=path if request.persist else None,
        notes=notes,
        continue_prompt=going_on(fork.entries, fork.chain),
    )


def resumed(path: Path, request: SessionRequest, known: LoadedLog | None = None) -> Past:
    """The same session goes on in the same file, which is read when it is ours. `known`: what was read before the lease
    is asked for, where that could fail and must not take the session from another process."""
    sink: TranscriptSink = NullWriter()
    lease = lease_for(path, request, request.tell) if request.persist else None
    try:
        loaded = known if known is not None and (request.resume_at or lease is None) else load(path)
    except BaseException:
        if lease is not None:
            lease.release()
        raise
    if lease is not None:
        sink = TranscriptWriter(path, loaded.session_id, notify=request.tell, lease=lease, one_shot=request.one_shot)
    return OldPast(
        session_id=loaded.session_id,
        sink=sink,
        entries=loaded.entries,
        chain=loaded.chain,
        leaf=loaded.leaf,
        path=path if request.persist else None,
        older_bytes=0 if loaded.complete or request.resume_at else loaded.size,
        notes=notes_of(loaded),
        continue_prompt=going_on(loaded.entries, loaded.chain),
        restore_cut_off=restore_cut_off(path if request.persist else None),
    )


def lease_for(path: Path, request: SessionRequest, tell: Tell) -> Lease:
    """Become the writer: at once, after waiting, or by asking the holder to let go."""
    if request.take_over:
        return take_over(path, force=True)
    while True:
        try:
            return acquire(path)
        except SessionBusy as busy:
            if not request.wait:
                raise
            tell("info", f"session {busy.session} is open in {busy.owner}; waiting")
            while holder_of(path) is not None:
                time.sleep(WAIT_STEP_S)


def notes_of(loaded: LoadedLog) -> tuple[str, ...]:
    """One line about what could not be read, if anything."""
    line = describe(loaded.problems)
    return (line,) if line else ()


def going_on(entries: Sequence[Entry], chain: Sequence[Entry]) -> Prompt | None:
    """What lets a turn that was cut off go on; None: the session ended in order. A question that was open then is asked
    again first."""
    if interruption(entries, chain) == "none":
        return None
    opened = [
        OpenCall(call=call, entry_id=entry_id)
        for call, entry_id in unanswered_calls(chain)
        if meant_call(call).name in QUESTION_TOOLS
    ]
    return Prompt(content=CONTINUE_PROMPT, origin="clew", reopens=tuple(opened))
