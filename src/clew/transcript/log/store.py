"""Where sessions live: one directory per project, one file per session, all of it private; and how each began."""

import mmap
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from clew.protocol.entries import SessionOriginEntry
from clew.protocol.ids import AgentId, CallId, SessionId
from clew.system.private_files import replace_private
from clew.transcript.errors import TranscriptError, UnsafeTranscript
from clew.transcript.log.codec import decode
from clew.transcript.log.files import open_read

_HEAD_BYTES = 64 * 1024
_HEAD_LINES = 4
_MARK = b'{"type":"session-origin"'


def is_conversation(path: Path) -> bool:
    """Whether a person talks in this session: it began at a terminal, or was gone on with at one.

    Only runs say in their first lines how they began; a log without such a line is a conversation. The rest of a file
    is looked at for runs only.
    """
    try:
        fd = open_read(path)
    except (OSError, UnsafeTranscript):
        return False
    try:
        head = os.pread(fd, _HEAD_BYTES, 0).split(b"\n")[:_HEAD_LINES]
        if not any(_entrypoint(line) not in ("", "terminal") for line in head):
            return True
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as data:
            return any(_entrypoint(line) == "terminal" for line in _marked(data))
    except (OSError, ValueError):  # it went away, or is empty
        return False
    finally:
        os.close(fd)


def _marked(data: mmap.mmap) -> list[bytes]:
    found: list[bytes] = []
    at = data.find(b"\n" + _MARK)
    while at >= 0:
        end = data.find(b"\n", at + 1)
        found.append(data[at + 1 : end if end >= 0 else len(data)])
        at = data.find(b"\n" + _MARK, at + 1)
    return found


def _entrypoint(line: bytes) -> str:
    entry = decode(line)[0] if line.startswith(_MARK) else None
    return entry.entrypoint if isinstance(entry, SessionOriginEntry) else ""


_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}\Z")
_MAX_SLUG = 120


class ProjectRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`project.json`: which directory a key stands for, and which repository, so that a moved one is found."""

    root: str
    identity: str = ""
    """First commit id and path within the repository; empty outside of one."""


class SessionStore:
    """Paths below `$CLEW_HOME/projects`. Computing a path creates nothing."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.projects = home / "projects"
        self.archive = home / "archive"
        self.trash = home / "trash"

    def project_dir(self, root: Path) -> Path:
        """The directory of the project at `root`, links resolved."""
        return self.projects / project_key(root)

    def session_path(self, root: Path, session_id: SessionId) -> Path:
        """The main transcript of a session that starts in the project at `root`."""
        return self.project_dir(root) / f"{checked_id(session_id)}.jsonl"

    def find(self, session_id: str) -> Path | None:
        """The transcript of a session, whatever its project."""
        name = f"{checked_id(session_id)}.jsonl"
        for directory in self.project_dirs():
            path = directory / name
            if path.exists():
                return path
        return None

    def project_dirs(self) -> list[Path]:
        """All project directories, by name."""
        try:
            return sorted(Path(item.path) for item in os.scandir(self.projects) if item.is_dir(follow_symlinks=False))
        except OSError:
            return []

    def project_roots(self) -> list[Path]:
        """The directories that projects stand for, as far as they are recorded."""
        records = (read_project(folder) for folder in self.project_dirs())
        return [Path(record.root) for record in records if record is not None and record.root]

    def sessions(self, root: Path | None = None) -> Iterator[Path]:
        """The main transcripts of one project, or of all; links and odd names are passed over."""
        for directory in self.project_dirs() if root is None else [self.project_dir(root)]:
            yield from sessions_in(directory)

    def remember_project(self, root: Path, *, identity: str = "") -> None:
        """Note which directory and repository a key stands for. A record that is already right is left alone; a path
        that is no text has none, because JSON could not give it back."""
        path = self.project_dir(root) / "project.json"
        place = str(_resolved(root))
        if not is_text(place):
            return
        record = ProjectRecord(root=place, identity=identity)
        if read_project(path.parent) != record:
            replace_private(path, msgspec.json.encode(record) + b"\n")

    def directories_of(self, root: Path, *, identity: str = "") -> list[Path]:
        """The project's own directory first, then those of the same repository under other paths."""
        own = self.project_dir(root)
        if not identity:
            return [own]
        others = [item for item in self.project_dirs() if item != own]
        return [own, *(item for item in others if (read_project(item) or _NO_PROJECT).identity == identity)]


_NO_PROJECT = ProjectRecord(root="")


def is_text(path: str) -> bool:
    """Whether a path is made of characters, and not of bytes that are none."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def project_key(root: Path) -> str:
    """A readable name for a directory plus a checksum, so that `a-b` and `a/b` differ and no name is too long."""
    text = str(_resolved(root))
    slug = re.sub(r"[^A-Za-z0-9]", "-", text)[-_MAX_SLUG:]
    return f"{slug}-{zlib.crc32(os.fsencode(text)):08x}"


def read_project(directory: Path) -> ProjectRecord | None:
    """What `project.json` says; None when it is missing or damaged."""
    try:
        return msgspec.json.decode((directory / "project.json").read_bytes(), type=ProjectRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def sessions_in(directory: Path) -> Iterator[Path]:
    """The main transcripts in one project directory."""
    for item in sorted(session_files(directory), key=lambda item: item.name):
        yield Path(item.path)


def session_files(directory: Path) -> list[os.DirEntry[str]]:
    """The same as the directory lists them, in no order; cheap also for thousands."""
    try:
        with os.scandir(directory) as listing:
            return [
                item
                for item in listing
                if item.name.endswith(".jsonl") and item.is_file(follow_symlinks=False) and _ID.match(item.name[:-6])
            ]
    except OSError:
        return []


def sidecar_dir(transcript: Path) -> Path:
    """Where the files that belong to a session lie."""
    return transcript.with_suffix("")


def subagent_path(transcript: Path, agent: AgentId) -> Path:
    """The transcript of a sub-agent."""
    return sidecar_dir(transcript) / "subagents" / f"agent-{checked_id(agent)}.jsonl"


def subagent_meta_path(transcript: Path, agent: AgentId) -> Path:
    """What is known about a sub-agent besides its transcript."""
    return sidecar_dir(transcript) / "subagents" / f"agent-{checked_id(agent)}.meta.json"


def plan_path(transcript: Path) -> Path:
    """The plan of a session."""
    return sidecar_dir(transcript) / "plan.md"


def tool_results_dir(transcript: Path) -> Path:
    """Where results too long for the model are kept whole."""
    return sidecar_dir(transcript) / "tool-results"


def tool_result_path(transcript: Path, call: CallId) -> Path:
    """The whole text of one tool result. Providers choose call ids, so odd ones get a name of their own."""
    name = call if _ID.match(call) else f"call-{zlib.crc32(call.encode('utf-8', 'replace')):08x}"
    return tool_results_dir(transcript) / f"{name}.txt"


def checked_id(name: str) -> str:
    """The id, if it can safely be a file name. Raises TranscriptError."""
    if not _ID.match(name):
        raise TranscriptError(f"{name!r} is not a valid id: letters, digits, - and _ only, at most 128")
    return name


def _resolved(root: Path) -> Path:
    return Path(os.path.realpath(root))
