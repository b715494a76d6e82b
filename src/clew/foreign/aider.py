"""Aider: one Markdown file per repository that holds all its sessions, without ids."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.aider_blocks import Notes, applied_edits, edits_in, split_thoughts
from clew.foreign.build import Builder
from clew.foreign.listing import below, found
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.source import Source
from clew.foreign.user_text import UserText, read_user_text
from clew.protocol.entries import UserEntry

AGENT = "aider"
FILE_NAME = ".aider.chat.history.md"
_START = "# aider chat started at "
_HEADER = re.compile(rb"^# aider chat started at (.*)$", re.MULTILINE)
_REQUEST_COMMANDS = ("/ask ", "/code ", "/architect ", "/context ")
_ANSWERED = re.compile(r"^(?:Add|Create|Allow|Run|Edit|Open|Fix|Attempt|Apply)\b.*\?.*\(Y\)es/\(N\)o")


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Aider has no central place: its file lies in each repository. The working directory and above are looked at."""
    if configured := env.get("AIDER_CHAT_HISTORY_FILE"):
        return (Path(configured),)
    here = env.get("PWD")
    if not here:
        return ()
    folders = (Path(here), *Path(here).parents)
    return tuple(folder / FILE_NAME for folder in folders if folder != user_home or folder == Path(here))


def discover(home: Path) -> Iterator[ForeignSession]:
    """The sessions of a history file, or of all history files at most three folders below a folder."""
    files = [home] if not home.is_dir() else [path for path in below(home, depth=3) if path.name == FILE_NAME]
    for path in files:
        if not path.is_file():
            continue
        data = Source(path).whole()
        starts = list(_HEADER.finditer(data))
        for number, start in enumerate(starts):
            end = starts[number + 1].start() if number + 1 < len(starts) else len(data)
            if b"\n#### " not in data[start.end() : end]:
                continue
            for session in found(AGENT, path, _session_id(start[1].decode("utf-8", "replace")), cwd=str(path.parent)):
                yield ForeignSession(
                    agent=AGENT,
                    path=path,
                    session_id=session.session_id,
                    cwd=session.cwd,
                    mtime=session.mtime,
                    size=end - start.start(),
                )


def _session_id(started: str) -> str:
    return "aider-" + re.sub(r"[^0-9A-Za-z]+", "-", started.strip()).strip("-")


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One session: the named one, else the last in which the user said something."""
    sessions = read_all(path)
    for transcript in sessions:
        if session_id and transcript.session_id == session_id:
            return transcript
    spoken = [transcript for transcript in sessions if _has_prompt(transcript)]
    return (spoken or list(sessions))[-1]


def read_all(path: Path) -> tuple[ForeignTranscript, ...]:
    """Every session of the file in order, empty ones included."""
    if path.is_dir():
        path = path / FILE_NAME
    source = Source(path)
    text = source.text()
    sections = re.split(rf"^(?={re.escape(_START)})", text, flags=re.MULTILINE)
    found_sections = [section for section in sections if section.strip()] or [""]
    return tuple(_read_section(section, path, source) for section in found_sections)


def _has_prompt(transcript: ForeignTranscript) -> bool:
    return any(isinstance(entry, UserEntry) and not entry.is_meta for entry in transcript.entries)


def _read_section(section: str, path: Path, source: Source) -> ForeignTranscript:
    first, _, body = section.partition("\n")
    started = first.removeprefix(_START).strip() if first.startswith(_START) else ""
    if not started:
        body = section
    build = Builder(AGENT, _session_id(started) if started else f"aider-{path.parent.name}", cwd=str(path.parent))
    build.at(started.replace(" ", "T"))
    reader = _Section(build)
    for kind, lines in _blocks(body):
        reader.block(kind, lines)
    reader.finish()
    return build.transcript(path, source.problems)


def _blocks(body: str) -> Iterator[tuple[str, list[str]]]:
    """Runs of lines of one kind. Aider ends its own lines with two spaces, which headings of an answer lack."""
    marked = "  \n" in body
    kind, lines = "assistant", list[str]()
    for line in body.split("\n"):
        new = _kind(line, marked=marked) if line[:1] in ("#", ">") else "assistant"
        if new != kind and not (new == "assistant" and not line.strip()):
            if lines:
                yield kind, lines
            kind, lines = new, []
        lines.append(line)
    if lines:
        yield kind, lines


def _kind(line: str, *, marked: bool) -> str:
    is_own = not marked or line.endswith("  ")
    if line.startswith("#### ") and is_own:
        return "user"
    if line.startswith("> ") and is_own:
        return "note"
    return "assistant"


class _Section:
    """Folds the blocks of one session; edits wait for the note that says they were applied."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self._notes = Notes(build)
        self._waiting: list[tuple[str, str]] = []
        self._turn = 0
        self._answered = False

    def block(self, kind: str, lines: list[str]) -> None:
        """One run of lines."""
        if kind == "user":
            self._end_turn()
            self._user("\n".join(line[5:].rstrip() for line in lines if line.startswith("####")).strip())
        elif kind == "note":
            text = "\n".join(line[2:].rstrip() for line in lines if line.startswith("> "))
            self._settle(text)
            if not self._notes.read(text):
                self._answered = False
        else:
            self._assistant("\n".join(lines).strip())

    def finish(self) -> None:
        """The file ends, or the next session begins."""
        self._end_turn()

    def _end_turn(self) -> None:
        """A new prompt, or the end: what was answered and not cut short is done."""
        self._settle("")
        if self._answered:
            self._turn += 1
            self._answered = False
            self.build.turn_result("completed", self._turn)

    def _user(self, text: str) -> None:
        reading = read_user_text(text)
        if text.startswith(_REQUEST_COMMANDS):
            reading = UserText("typed", text)
        elif text.startswith(("/", "!")) or _ANSWERED.match(text):
            reading = UserText("meta", text)
        self.build.user(text, reading=reading)

    def _assistant(self, text: str) -> None:
        if not text:
            return
        self._settle("")
        thoughts, answer = split_thoughts(text)
        self.build.end_reply()
        self.build.reasoning(thoughts)
        self.build.text(answer)
        self._answered = True
        for path, old, new in edits_in(answer):
            arguments = {"file_path": path, "old_string": old, "new_string": new}
            if old.strip():
                self._waiting.append((self.build.call("", "Edit", arguments), path))
            else:
                self._waiting.append((self.build.call("", "Write", {"file_path": path, "content": new}), path))

    def _settle(self, note: str) -> None:
        changed = applied_edits(note)
        for call_id, path in self._waiting:
            applied = path in changed
            self.build.result(call_id, f"Applied edit to {path}" if applied else "not applied", is_error=not applied)
        known = {path for _, path in self._waiting}
        for path in dict.fromkeys(changed):
            if path not in known:
                # Formats other than SEARCH/REPLACE do not show what changed, only that it did.
                call = self.build.call("", "Edit", {"file_path": path, "old_string": "", "new_string": ""})
                self.build.result(call, f"Applied edit to {path}")
        self._waiting = []
