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
# Both begin with the newline before the run: a literal first character is what makes the search fast.
_MARKED_RUN = re.compile(r"\n(?:####(?: .*)?  $(?:\n####(?: .*)?  $)*|>(?: .*)?  $(?:\n>(?: .*)?  $)*)", re.MULTILINE)
_PLAIN_RUN = re.compile(r"\n(?:####(?: .*)?$(?:\n####(?: .*)?$)*|>(?: .*)?$(?:\n>(?: .*)?$)*)", re.MULTILINE)
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
    before, *sections = ("\n" + text).split("\n" + _START)
    transcripts = [_read_section("", before, path, source)] if before.strip() or not sections else []
    for section in sections:
        started, _, body = section.partition("\n")
        transcripts.append(_read_section(started.strip(), body, path, source))
    return tuple(transcripts)


def _has_prompt(transcript: ForeignTranscript) -> bool:
    return any(isinstance(entry, UserEntry) and not entry.is_meta for entry in transcript.entries)


def _read_section(started: str, body: str, path: Path, source: Source) -> ForeignTranscript:
    build = Builder(AGENT, _session_id(started) if started else f"aider-{path.parent.name}", cwd=str(path.parent))
    build.at(started.replace(" ", "T"))
    reader = _Section(build)
    for kind, text in _blocks(body):
        reader.block(kind, text)
    reader.finish()
    return build.transcript(path, source.problems)


def _blocks(body: str) -> Iterator[tuple[str, str]]:
    """Runs of lines of one kind. Aider ends its own lines with two spaces, which headings of an answer lack."""
    body = "\n" + body
    position = 0
    for run in (_MARKED_RUN if "  \n" in body else _PLAIN_RUN).finditer(body):
        if answer := body[position : run.start()].strip():
            yield "assistant", answer
        position = run.end()
        own = run[0].replace("  \n", "\n")
        if own.startswith("\n#"):
            yield "user", own.replace("\n####", "\n").replace("\n ", "\n").strip()
        else:
            yield "note", own.replace("\n> ", "\n").replace("\n>", "\n").strip()
    if answer := body[position:].strip():
        yield "assistant", answer


class _Section:
    """Folds the blocks of one session; edits wait for the note that says they were applied."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self._notes = Notes(build)
        self._waiting: list[tuple[str, str]] = []
        self._turn = 0
        self._answered = False

    def block(self, kind: str, text: str) -> None:
        """One run of lines."""
        if kind == "user":
            self._end_turn()
            self._user(text)
        elif kind == "note":
            self._settle(text)
            if not self._notes.read(text):
                self._answered = False
        else:
            self._assistant(text)

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
