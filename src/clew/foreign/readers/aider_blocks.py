"""What Aider's answers and notes hold: SEARCH/REPLACE blocks, commits, tokens, errors, interruptions."""

import re
from collections.abc import Iterator

from clew.foreign.build import Builder
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
