"""A tool call and what came of it, as pieces of text for people: a diff, a question with its answer, a list, words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, cast

import msgspec

from clew.protocol.display import DiffBlock, TableBlock, TodoBlock
from clew.protocol.entries import Entry, EventEntry, UserEntry
from clew.protocol.events import QuestionAnswered
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart, ToolResultPart, parts_of, result_text
from clew.transcript.mapping.retelling import details_of

Json = dict[str, Any]
EDITS = ("Edit", "MultiEdit", "Write", "NotebookEdit")
QUESTIONS = ("AskUser", "AskUserQuestion")
TODO_SIGNS = {"completed": "[x]", "in_progress": "[~]"}
ARGUMENT_CHARS = 120


class Result(NamedTuple):
    """What came of a call: the part that the model read, and what the program knew besides."""

    part: ToolResultPart
    stored: Any


class Piece(NamedTuple):
    """Text of one kind below a call."""

    kind: Literal["diff", "words", "question", "list"]
    text: str
    failed: bool = False


class CallRecord:
    """The results and answers of a conversation by their calls, so that each is told with its own."""

    def __init__(self, entries: Iterable[Entry], keyed: Iterable[Entry]) -> None:
        self._results: dict[CallId, list[Result]] = {}
        """In their order: some servers give an id more than once."""
        self._told: set[int] = set()
        for entry in entries:
            if isinstance(entry, UserEntry):
                for part in parts_of(entry.message):
                    if isinstance(part, ToolResultPart):
                        self._results.setdefault(part.call_id, []).append(Result(part, entry.tool_use_result))
        events = (entry.event for entry in keyed if isinstance(entry, EventEntry))
        self._answers = {event.call_id: event for event in events if isinstance(event, QuestionAnswered)}

    def of(self, call: ToolCallPart) -> Iterator[Piece]:
        """What came of this call; nothing where it has no result."""
        found = self._results.get(call.id)
        result = found.pop(0) if found else None
        if result is not None:
            self._told.add(id(result.part))
        if call.name in QUESTIONS and (asked := questions_of(call)):
            yield Piece("question", "\n".join(self._asked(call, asked, result)))
            return
        if call.name == "TodoWrite" and (items := _todos(call, result)):
            yield Piece("list", "\n".join(items), bool(result and result.part.is_error))
            return
        if result is None:
            return
        diffs = [] if result.part.is_error else list(diffs_of(call, result))
        yield from (Piece("diff", diff) for diff in diffs)
        if not diffs:
            yield Piece("words", result_text(result.part), result.part.is_error)

    def is_told(self, part: ToolResultPart) -> bool:
        """Whether a result stands with its call already."""
        return id(part) in self._told

    def _asked(self, call: ToolCallPart, asked: list[Json], result: Result | None) -> Iterator[str]:
        """Each question with what can be chosen, then the answer."""
        answers = answers_of(asked, result, self._answers.get(call.id))
        for number, question in enumerate(asked):
            labels = [str(one.get("label", "")) for one in _dicts(question.get("options") or question.get("choices"))]
            yield f"? {question.get('question', '')}" + (f" ({', '.join(labels)})" if labels else "")
            yield f"= {answers[number] or '(no answer)'}"


def call_words(call: ToolCallPart) -> str:
    """A call's arguments in short: the values that say most, none in the words of a programming language."""
    if call.name in EDITS and (path := file_of(call)):
        return path
    if call.name in QUESTIONS and (asked := questions_of(call)):
        return f"{len(asked)} question{'s' if len(asked) > 1 else ''}"
    if call.name == "TodoWrite" and (items := _dicts(call.arguments.get("todos"))):
        return f"{len(items)} item{'s' if len(items) > 1 else ''}"
    values: list[str] = []
    for name, value in call.arguments.items():
        text = first_line(value if isinstance(value, str) else msgspec.json.encode(value).decode())
        values.append(f"{name}={text}" if values else text)
    words = ", ".join(values)
    return words if len(words) <= ARGUMENT_CHARS else f"{words[: ARGUMENT_CHARS - 1]}…"


def file_of(call: ToolCallPart) -> str:
    """The file that a call is about."""
    path = call.arguments.get("file_path", call.arguments.get("notebook_path"))
    return path if isinstance(path, str) else ""


def diffs_of(call: ToolCallPart, result: Result) -> Iterator[str]:
    """The changes that a call made to files: as the program kept them, else as far as its arguments tell."""
    ours = [block for block in details_of(result.stored).display if isinstance(block, DiffBlock)]
    if ours:
        yield from (f"{_head(block)}{block.patch}" for block in ours)
    elif hunks := _dicts(_dict(result.stored).get("structuredPatch")):
        yield "\n".join(_hunk(hunk) for hunk in hunks)
    elif call.name in ("Edit", "MultiEdit"):
        edits = _dicts(call.arguments.get("edits")) or [call.arguments]
        made = [_replaced(edit) for edit in edits]
        yield from ["\n".join(made)] if all(made) else []
    elif call.name == "Write" and isinstance(content := call.arguments.get("content"), str):
        yield _signed("+", content)


def questions_of(call: ToolCallPart) -> list[Json]:
    """What a call asks, each as it was written."""
    return [one for one in _dicts(call.arguments.get("questions")) if isinstance(one.get("question"), str)]


def answers_of(asked: list[Json], result: Result | None, answered: QuestionAnswered | None) -> list[str]:
    """The answer to each question, empty where there is none."""
    if answered is not None and not answered.declined and len(answered.answers) == len(asked):
        return [", ".join(chosen) for chosen in answered.answers]
    stored = result.stored if result is not None else None
    for block in details_of(stored).display:
        if isinstance(block, TableBlock) and len(block.rows) == len(asked):
            return [", ".join(row[1:]) for row in block.rows]
    theirs = _dict(_dict(stored).get("answers"))
    found = [theirs.get(one["question"], "") for one in asked]
    return [text if isinstance(text, str) else msgspec.json.encode(text).decode() for text in found]


def _todos(call: ToolCallPart, result: Result | None) -> list[str]:
    for block in details_of(result.stored).display if result is not None else ():
        if isinstance(block, TodoBlock):
            return [
                f"{TODO_SIGNS.get(item.status, '[ ]')} {item.content}{f' @{item.owner}' if item.owner else ''}"
                for item in block.items
            ]
    given = _dicts(call.arguments.get("todos"))
    return [f"{TODO_SIGNS.get(str(item.get('status')), '[ ]')} {item.get('content', '')}" for item in given]


def _head(block: DiffBlock) -> str:
    return f"{block.path}: new file\n" if block.created else ""


def _hunk(hunk: Json) -> str:
    old, new = (f"{hunk.get(f'{side}Start', 0)},{hunk.get(f'{side}Lines', 0)}" for side in ("old", "new"))
    lines = [line for line in cast("list[Any]", hunk.get("lines") or []) if isinstance(line, str)]
    return "\n".join([f"@@ -{old} +{new} @@", *lines])


def _replaced(edit: Mapping[str, Any]) -> str:
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return ""
    return "\n".join(text for text in (_signed("-", old), _signed("+", new)) if text) or " "


def _signed(sign: str, text: str) -> str:
    return "\n".join(f"{sign}{line}" for line in text.splitlines())


def _dict(value: Any) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[Json]:
    return [cast(Json, one) for one in cast("list[Any]", value) if isinstance(one, dict)] if _is_list(value) else []


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def first_line(text: str) -> str:
    """The first line of a text, with a sign where there are more."""
    lines = text.strip().splitlines()
    return lines[0] + (" …" if len(lines) > 1 else "") if lines else ""
