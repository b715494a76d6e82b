"""What a session starts from, and the past of one that begins anew. `old_past` has all that reads a log."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from clew.engine.turn import Prompt
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace
from clew.protocol.entries import ChainEntry, Entry, EventEntry, SessionOriginEntry, SessionStateEntry
from clew.protocol.events import WorktreeChanged
from clew.protocol.ids import EntryId, SessionId, new_uuid
from clew.protocol.state import AgentState
from clew.transcript.errors import TranscriptError
from clew.transcript.log.stamp import utc_now
from clew.transcript.log.store import SessionStore, checked_id, is_conversation, read_project, tool_results_dir
from clew.transcript.log.writer import NullWriter, TranscriptSink, TranscriptWriter

if TYPE_CHECKING:
    from clew.transcript.past.reader import LoadedLog

MAX_TITLE_CHARS = 100
RESTORE_CUT_OFF = (
    "files were being restored when the process ended, perhaps not all of them: /undo completes it, /redo takes it back"
)


class Past(Struct, kw_only=True):
    """What a session starts from. This one is empty; `OldPast` has read a log."""

    session_id: SessionId
    sink: TranscriptSink
    entries: tuple[Entry, ...] = ()
    """What was read, in file order."""
    chain: tuple[Entry, ...] | None = None
    leaf: EntryId | None = None
    path: Path | None = None
    """The file; None when nothing is kept."""
    notes: tuple[str, ...] = ()
    continue_prompt: Prompt | None = None
    """What lets a turn go on that was cut off; None: none was."""
    restore_cut_off: bool = False
    """Files were being brought back when the process ended, and only some are."""

    @property
    def restore_is_open(self) -> bool:
        """Whether nobody has completed or taken back such a restore yet."""
        return False

    @property
    def resumed(self) -> bool:
        """Whether there is one."""
        return bool(self.entries)

    @property
    def results_dir(self) -> Path | None:
        """Where long results are kept."""
        return tool_results_dir(self.path) if self.path is not None else None

    @property
    def reread(self) -> "Callable[[], LoadedLog] | None":
        """Read the file once more, further back if something there is in view again."""
        path, session_id = self.path, self.session_id
        if path is None:
            return None

        def loaded() -> "LoadedLog":
            from clew.transcript.past.reader import load  # a session that began anew reads its own log only here

            return load(path, session_id=session_id)

        return loaded

    @property
    def last_cwd(self) -> str:
        """Where the session was."""
        spoken = (entry.cwd for entry in reversed(self.chain or ()) if isinstance(entry, ChainEntry) and entry.cwd)
        return next(spoken, "")

    @property
    def worktree(self) -> WorktreeChanged | None:
        """The checkout of its own that the conversation works in, as the log says; None: in none."""
        for entry in reversed(self.entries):
            if isinstance(entry, EventEntry) and isinstance(entry.event, WorktreeChanged):
                return entry.event if entry.event.path else None
            if isinstance(entry, SessionStateEntry):
                return entry.state.worktree
        return None

    def story(self) -> Iterator[Entry]:
        """From the first entry on, for whoever tells it."""
        yield from self.entries

    def state(self) -> AgentState:
        """The fold over the whole session."""
        return AgentState()


def new_id(request: SessionRequest) -> SessionId:
    """The id asked for, or a random one."""
    return SessionId(checked_id(request.session_id) if request.session_id else new_uuid())


def new_past(request: SessionRequest, workspace: Workspace) -> Past:
    """The empty past of a session that begins. Raises TranscriptError where one of this id is there already."""
    store, session_id = SessionStore(workspace.home), new_id(request)
    if request.session_id and store.find(session_id) is not None:
        raise TranscriptError(f"session {session_id} exists already; go on with it by --resume {session_id}")
    if not request.persist:
        return Past(session_id=session_id, sink=NullWriter())
    path = store.session_path(workspace.root, session_id)
    sink = TranscriptWriter(path, session_id, notify=request.tell, one_shot=request.one_shot)
    return Past(session_id=session_id, sink=sink, path=path)


def origin_of(request: SessionRequest, session_id: SessionId) -> SessionOriginEntry:
    """Who goes on from here."""
    return SessionOriginEntry(session_id=session_id, timestamp=utc_now(), entrypoint=request.entrypoint)


def new_origin(request: SessionRequest, past: Past) -> tuple[SessionOriginEntry, ...]:
    """What the log has to say of who works in it: that a run begins, or that a person goes on with one."""
    if request.entrypoint != "terminal":
        return () if past.resumed else (origin_of(request, past.session_id),)
    goes_on = past.path is not None and past.path.exists() and not is_conversation(past.path)
    return (origin_of(request, past.session_id),) if goes_on else ()


def moved_words(past: Past, cwd: str) -> str:
    """What the model must know when a resumed session starts somewhere else than it stopped."""
    if not past.last_cwd or past.last_cwd == cwd:
        return ""
    return f"[The session goes on in {cwd}; it stopped in {past.last_cwd}.]"


def interrupted_words(state: AgentState, *, agents: bool) -> tuple[str, ...]:
    """What ran beside the session when its process ended and runs no more, a line each. `agents`: child agents too, of
    which the model is told by a notice."""
    return tuple(
        f"{row.task_id} ({' '.join(row.title.split())[:MAX_TITLE_CHARS]}) was interrupted: its process ended"
        for row in state.tasks
        if row.lost and (agents or row.kind != "agent")
    )


def left_words(past: Past, state: AgentState) -> tuple[str, ...]:
    """What people are told of how the session was left: a turn that was cut off, prompts that were queued."""
    told: list[str] = []
    if (go_on := past.continue_prompt) is not None:
        asks = " and asks the open question again" if go_on.reopens else ""
        told.append(f"the last turn was cut off: /reopen goes on with it{asks}")
    if count := len(state.queued):
        are = "1 prompt is" if count == 1 else f"{count} prompts are"
        told.append(f"{are} still queued and not sent: Enter on an empty prompt sends, Up takes the last one back")
    return tuple(told)


def cut_off_words(past: Past, state: AgentState, *, agents: bool) -> tuple[str, ...]:
    """What people (`agents`: with child agents) and the model are told of work that ended with its process, a line
    each."""
    return (*((RESTORE_CUT_OFF,) if past.restore_cut_off else ()), *interrupted_words(state, agents=agents))


def note_project(workspace: Workspace, past: Past) -> None:
    """Remember which repository the sessions belong to, so that they are found after a move. Costs nothing twice."""
    store = SessionStore(workspace.home)
    known = read_project(store.project_dir(workspace.root))
    if past.path is None or not past.path.exists() or (known is not None and known.identity):
        return
    try:
        store.remember_project(workspace.root, identity=workspace.identity(workspace.root))
    except OSError:
        return  # a full disk was told already when the log could not be written
