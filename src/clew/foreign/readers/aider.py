"""Aider: one Markdown file per repository that holds all its sessions, without ids.

What Aider's answers and notes hold: SEARCH/REPLACE blocks, commits, tokens, errors, interruptions.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clew.foreign.build import Builder
from clew.foreign.listing import below, found
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.source import BOM, Source
from clew.foreign.user_text import UserText, read_user_text
from clew.protocol.entries import UserEntry
from clew.protocol.usage import Usage

_COMMIT = re.compile(r"^Commit ([0-9a-f]{6,40}) (.+)$", re.MULTILINE)
_UNDONE = re.compile(r"^Removed: [0-9a-f]{6,40} .+\nNow at: ", re.MULTILINE)
_DECLINED = re.compile(r"^(.*)\nRun shell commands?\?.*\[Yes\]: *[nNdD]", re.MULTILINE)
_TOKENS = re.compile(r"Tokens: ([\d.,]+k?) sent,.*?([\d.,]+k?) received")
_OLD_TOKENS = re.compile(r"([\d,]+) prompt tokens, ([\d,]+) completion tokens")
_MODEL = re.compile(r"^(?:Main model|Models?): (\S+)", re.MULTILINE)
_VERSION = re.compile(r"^Aider v(\S+)", re.MULTILINE)
_FOLDER = re.compile(r"^(?:Git working dir|Cur working dir): (.+)$", re.MULTILINE)
_ERROR = re.compile(
    r"^(?:litellm\.(\w+)|((?:API|RateLimit|Authentication|BadRequest|ServiceUnavailable|InternalServer|OpenAI"
    r"|ContextWindowExceeded|Timeout|PermissionDenied|NotFound)\w*(?:Error|Exception)|Timeout)): .*",
    re.MULTILINE,
)
_APPLIED = re.compile(r"^Applied edit to (.+)$", re.MULTILINE)
_TESTED = re.compile(r"^>* ?(?:Some Tests Failed|All Tests Passed)|\b\d+ (?:passed|failed)\b.* seconds", re.MULTILINE)
_FAILED = re.compile(r"Some Tests Failed|\b[1-9]\d* failed\b")
_ADDED = re.compile(r"^Added \d+ lines? of output to the chat", re.MULTILINE)
_FIX_TESTS = "Attempt to fix test errors?"
_FIX_LINT = "Attempt to fix lint errors?"
_TEST_SCRIPT = re.compile(r"^Test Script: (.+?);?\s*$", re.MULTILINE)
_THOUGHT = re.compile(r"<(thinking-content-\w+|think|thinking)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_MARKED_THOUGHT = re.compile(r"► \*\*THINKING\*\*(.*?)(?:-{8,}\s*)?► \*\*ANSWER\*\*", re.DOTALL)
_SEARCH = re.compile(r"^<{5,9} SEARCH\s*$")
_DIVIDER = re.compile(r"^={5,9}\s*$")
_REPLACE = re.compile(r"^>{5,9} REPLACE\s*$")


def edits_in(text: str) -> Iterator[tuple[str, str, str]]:
    """The SEARCH/REPLACE blocks of an answer as path, old text, new text. An unclosed block is no edit."""
    lines = text.split("\n") if " SEARCH" in text else []
    path = ""
    index = 0
    while index < len(lines):
        if not _SEARCH.match(lines[index]):
            index += 1
            continue
        path = _path_above(lines, index) or path
        middle = _next(lines, index + 1, _DIVIDER)
        end = _next(lines, middle + 1, _REPLACE) if middle >= 0 else -1
        if end < 0:
            return
        if path:
            yield path, "\n".join(lines[index + 1 : middle]), "\n".join(lines[middle + 1 : end])
        index = end + 1


def _next(lines: list[str], start: int, pattern: re.Pattern[str]) -> int:
    for index in range(start, len(lines)):
        if pattern.match(lines[index]):
            return index
    return -1


def _path_above(lines: list[str], index: int) -> str:
    """The file name stands above the fence, or right above the block."""
    for line in reversed(lines[max(0, index - 3) : index]):
        bare = line.strip().strip("`*:# ")
        if line.strip().startswith("```") or not bare:
            continue
        return bare if " " not in bare or "/" in bare else ""
    return ""


def split_thoughts(text: str) -> tuple[str, str]:
    """Reasoning and answer of a reply."""
    if "think" not in text and "THINKING" not in text:
        return "", text
    thoughts = [found[2] for found in _THOUGHT.finditer(text)] + _MARKED_THOUGHT.findall(text)
    return "\n".join(thoughts).strip(), _MARKED_THOUGHT.sub("", _THOUGHT.sub("", text)).strip()


def applied_edits(note: str) -> list[str]:
    """The files that a note says were changed, one mention per edit or file."""
    return [path.strip() for path in _APPLIED.findall(note)] if "Applied edit to " in note else []


def is_declined(note: str, path: str) -> bool:
    """Whether a note says that the user did not want this file made or changed."""
    return (
        re.search(rf"^{re.escape(path)}\n(?:Create new file|Allow edits).*\]: *[nNdD]", note, re.MULTILINE) is not None
    )


class Notes:
    """Reads the lines that Aider itself wrote between the messages."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self.testing = ""
        """The test command that was just typed: only what it printed on failing is added to the chat."""

    def read(self, text: str) -> bool:
        """One run of notes: facts out of it, and the text kept for people. False when it tells of a broken turn."""
        self._header(text)
        for commit in _COMMIT.finditer(text) if "Commit " in text else ():
            call = self.build.call("", "Bash", {"command": f"git commit -m {commit[2]!r}"})
            self.build.result(call, f"[aider {commit[1]}] {commit[2]}", exit_code=0)
        if "Removed: " in text and _UNDONE.search(text):
            call = self.build.call("", "Bash", {"command": "git reset --hard HEAD~1"})
            self.build.result(call, text, exit_code=0)
            self.build.turn_result("completed", 0)
        if declined := _DECLINED.search(text):
            call = self.build.call("", "Bash", {"command": declined[1].strip()})
            self.build.result(call, "The user declined to run it.", is_error=True)
        failed = _FIX_TESTS in text or bool(self.testing and _ADDED.search(text))
        if failed or _TESTED.search(text):
            script = _TEST_SCRIPT.search(text)
            call = self.build.call("", "Bash", {"command": script[1] if script else self.testing or "aider --test"})
            self.build.result(call, text, exit_code=int(failed or _FAILED.search(text) is not None))
        self.testing = ""
        if _FIX_LINT in text:
            call = self.build.call("", "Bash", {"command": "aider --lint"})
            self.build.result(call, text, exit_code=1)
        tokens = _TOKENS.search(text) if "Tokens: " in text else _OLD_TOKENS.search(text) if "tokens," in text else None
        if tokens:
            self.build.usage(Usage(input_tokens=_count(tokens[1]), output_tokens=_count(tokens[2])))
        error = _ERROR.search(text) if any(sign in text for sign in ("Error: ", "Exception: ", "Timeout: ")) else None
        if error:
            self.build.error(error[0][:500], kind=error[1] or error[2])
            return False
        if "KeyboardInterrupt" in text or "^C again to exit" in text:
            self.build.system("interrupted", "^C")
            return False
        self.build.system("informational", text)
        return True

    def _header(self, text: str) -> None:
        if "odel" in text and (model := _MODEL.search(text)):
            self.build.model = model[1]
        if "Aider v" in text and (version := _VERSION.search(text)):
            self.build.meta.version = version[1]
        for folder in _FOLDER.finditer(text) if "working dir: " in text else ():
            self.build.meta.cwd = folder[1].strip()


def _count(text: str) -> int:
    number = text.replace(",", "").rstrip(".")
    try:
        return int(float(number[:-1]) * 1000) if number.endswith("k") else int(float(number))
    except ValueError:
        return 0


AGENT = "aider"
FILE_NAME = ".aider.chat.history.md"
_HEADER = re.compile(rb"^# aider chat started at (.*)$", re.MULTILINE)
# Both begin with the newline before the run: a literal first character is what makes the search fast.
_MARKED_RUN = re.compile(r"\n(?:####(?: .*)?  $(?:\n####(?: .*)?  $)*|>(?: .*)?  $(?:\n>(?: .*)?  $)*)", re.MULTILINE)
_PLAIN_RUN = re.compile(r"\n(?:####(?: .*)?$(?:\n####(?: .*)?$)*|>(?: .*)?$(?:\n>(?: .*)?$)*)", re.MULTILINE)
_REQUEST_COMMANDS = ("/ask ", "/code ", "/architect ", "/context ")
_ANSWERED = re.compile(r"^(?:Add|Create|Allow|Run|Edit|Open|Fix|Attempt|Apply)\b.*\?.*\(Y\)es/\(N\)o")


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Aider has no central place: its file lies in each repository, unless it was told another one."""
    configured = env.get("AIDER_CHAT_HISTORY_FILE")
    return (Path(env.get("PWD") or "", configured),) if configured else ()


def in_folder(folder: Path) -> tuple[Path, ...]:
    """The history of a working directory."""
    return (folder / FILE_NAME,)


def discover(home: Path) -> Iterator[ForeignSession]:
    """The sessions of a history file, or of all history files at most three folders below a folder."""
    files = [home] if not home.is_dir() else [path for path in below(home, depth=3) if path.name == FILE_NAME]
    for path in files:
        for file in found(AGENT, path, "", cwd=str(path.parent)):
            sections = [section for section in _sections(Source(path).whole(), path) if section.has_prompt]
            for section in sections:
                # Only the last one can still grow; the others keep their own time, whatever is added to the file.
                is_last = section is sections[-1]
                started = file.mtime if is_last else min(_local_time(section.started) or file.mtime, file.mtime)
                yield ForeignSession(
                    agent=AGENT,
                    path=path,
                    session_id=section.session_id,
                    cwd=file.cwd,
                    mtime=started,
                    size=len(section.body),
                )


def in_file(path: Path) -> Iterator[ForeignSession]:
    """The sessions of one history."""
    return discover(path / FILE_NAME if path.is_dir() else path)


class _Part(NamedTuple):
    """The bytes of one session in the file."""

    session_id: str
    started: str
    body: bytes

    @property
    def has_prompt(self) -> bool:
        return b"\n#### " in b"\n" + self.body


def _sections(data: bytes, path: Path) -> Iterator[_Part]:
    """The sessions of a file in order; what stands before the first heading is one too. Ids are unique in the file."""
    starts = list(_HEADER.finditer(data))
    before = data[: starts[0].start()] if starts else data
    if before.strip() or not starts:
        yield _Part(f"aider-{path.parent.name}", "", before.removeprefix(BOM))
    seen: dict[str, int] = {}
    for number, start in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(data)
        started = start[1].decode("utf-8", "replace").strip()
        name = "aider-" + re.sub(r"[^0-9A-Za-z]+", "-", started).strip("-")
        seen[name] = seen.get(name, 0) + 1
        session_id = name if seen[name] == 1 else f"{name}-{seen[name]}"
        yield _Part(session_id, started, data[start.end() + 1 : end])


def _local_time(started: str) -> float:
    try:
        return time.mktime(time.strptime(started, "%Y-%m-%d %H:%M:%S"))
    except (ValueError, OverflowError):
        return 0.0


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One session: the named one, else the last in which the user said something."""
    path, source, sections = _opened(path)
    chosen = next((section for section in sections if session_id and section.session_id == session_id), None)
    if chosen is not None:
        return _read_section(chosen, path, source)
    for section in reversed(sections):
        transcript = _read_section(section, path, source)
        if _has_prompt(transcript):
            return transcript
    return _read_section(sections[-1], path, source)


def read_all(path: Path) -> tuple[ForeignTranscript, ...]:
    """Every session of the file in order, empty ones included."""
    path, source, sections = _opened(path)
    return tuple(_read_section(section, path, source) for section in sections)


def read_each(path: Path, session_ids: Sequence[str]) -> Iterator[ForeignTranscript]:
    """The named sessions one by one, with the file read once."""
    path, source, sections = _opened(path)
    by_id = {section.session_id: section for section in sections}
    for session_id in session_ids:
        yield _read_section(by_id.get(session_id) or _Part(session_id, "", b""), path, source)


def _opened(path: Path) -> tuple[Path, Source, list[_Part]]:
    path = path / FILE_NAME if path.is_dir() else path
    source = Source(path)
    return path, source, list(_sections(source.whole(), path))


def _has_prompt(transcript: ForeignTranscript) -> bool:
    return any(isinstance(entry, UserEntry) and not entry.is_meta for entry in transcript.entries)


def _read_section(section: _Part, path: Path, source: Source) -> ForeignTranscript:
    build = Builder(AGENT, section.session_id, cwd=str(path.parent))
    build.at(section.started.replace(" ", "T"))
    reader = _Section(build)
    body = section.body.decode("utf-8", "replace").replace("\r\n", "\n")
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
        self._notes.testing = text.removeprefix("/test ").strip() if text.startswith("/test ") else ""
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
            why = "The user declined this edit." if is_declined(note, path) else "not applied"
            self.build.result(call_id, f"Applied edit to {path}" if applied else why, is_error=not applied)
        known = {path for _, path in self._waiting}
        for path in dict.fromkeys(changed):
            if path not in known:
                # Formats other than SEARCH/REPLACE do not show what changed, only that it did.
                call = self.build.call("", "Edit", {"file_path": path, "old_string": "", "new_string": ""})
                self.build.result(call, f"Applied edit to {path}")
        self._waiting = []
