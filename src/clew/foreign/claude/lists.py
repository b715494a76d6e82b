"""Task lists and plans of Claude Code: told by calls, results and files together, here brought into the calls."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import msgspec

from clew.foreign.shapes import Json, as_dict, as_str, dicts, first_str
from clew.foreign.tool_names import todo_items
from clew.protocol.entries import AssistantEntry, AttachmentEntry, Entry, UserEntry
from clew.protocol.messages import Part, ToolCallPart, ToolResultPart, result_text

_NAMES = {"TaskCreate", "TaskUpdate", "TaskList", "ExitPlanMode"}
_TASK_ID = re.compile(r"[Tt]ask #?(\w+)")
_APPROVED = re.compile(r"^#+ Approved Plan[^\n]*\n", re.MULTILINE)
_PLAN_FILE = re.compile(r"[/\\]plans[/\\][^/\\]+\.md$")


class _Outcome(NamedTuple):
    text: str
    is_error: bool
    data: Json


def with_lists(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with every change of a task list as the whole list after it, and every plan in the call that asks
    for its approval. The original call stays beside each."""
    if not any(_is_ours(part) for entry in entries for part in _parts(entry)):
        return list(entries)
    folding = _Lists(_outcomes(entries))
    return [folding.entry(entry) for entry in entries]


def _parts(entry: Entry) -> tuple[Part, ...]:
    return entry.message.content if isinstance(entry, AssistantEntry) and not entry.is_sidechain else ()


def _is_ours(part: Part) -> bool:
    return isinstance(part, ToolCallPart) and part.name in _NAMES


def _outcomes(entries: Sequence[Entry]) -> dict[str, _Outcome]:
    found: dict[str, _Outcome] = {}
    for entry in entries:
        if isinstance(entry, UserEntry) and not isinstance(entry.message.content, str):
            for part in entry.message.content:
                if isinstance(part, ToolResultPart):
                    found[part.call_id] = _Outcome(result_text(part), part.is_error, as_dict(entry.tool_use_result))
    return found


class _Lists:
    """The list and the plan as they stand at each call."""

    def __init__(self, outcomes: dict[str, _Outcome]) -> None:
        self._outcomes = outcomes
        self._tasks: dict[str, Json] = {}
        self._plan_files: dict[str, str] = {}
        self._last_plan_file = ""

    def entry(self, entry: Entry) -> Entry:
        """The entry, with its calls made whole."""
        if isinstance(entry, AttachmentEntry) and not entry.is_sidechain:
            attachment = as_dict(entry.attachment)
            if attachment.get("type") == "task_reminder":
                self._listed(attachment.get("content"))
            return entry
        parts = _parts(entry)
        changed = tuple(self._part(part) for part in parts)
        if all(new is old for new, old in zip(changed, parts, strict=True)):
            return entry
        reply = cast(AssistantEntry, entry)
        return msgspec.structs.replace(reply, message=msgspec.structs.replace(reply.message, content=changed))

    def _part(self, part: Part) -> Part:
        if not isinstance(part, ToolCallPart):
            return part
        outcome = self._outcomes.get(part.id)
        if part.name == "ExitPlanMode":
            return self._with_plan(part, outcome)
        if outcome is None or outcome.is_error:
            return part
        if part.name == "TaskList":
            self._listed(outcome.data.get("tasks"))
        elif part.name in ("Write", "Edit"):
            self._plan_file(part)
        elif (part.name == "TaskCreate" and self._create(part.arguments, outcome)) or (
            part.name == "TaskUpdate" and self._update(part.arguments, outcome)
        ):
            return _renamed(part, "TodoWrite", {"todos": todo_items(list(self._tasks.values()))})
        return part

    def _create(self, arguments: Json, outcome: _Outcome) -> bool:
        subject = first_str(arguments, "subject", "title", "description")
        told = _TASK_ID.search(outcome.text)
        task_id = _id_of(as_dict(outcome.data.get("task")).get("id")) or (told[1] if told else "")
        self._tasks[task_id or str(len(self._tasks) + 1)] = _task(subject, "pending", arguments)
        return bool(subject)

    def _update(self, arguments: Json, outcome: _Outcome) -> bool:
        task_id = _id_of(arguments.get("taskId")) or _id_of(arguments.get("id"))
        if outcome.data.get("success") is False:
            return False
        before = self._tasks.get(task_id, {})
        subject = first_str(arguments, "subject", "title") or as_str(before.get("content"))
        status = as_str(arguments.get("status")) or as_str(before.get("status"))
        if not subject:
            return False
        if status == "deleted":
            self._tasks.pop(task_id, None)
        else:
            self._tasks[task_id] = _task(subject, status, {**before, **arguments})
        return True

    def _listed(self, value: Any) -> None:
        """The program says what the list holds; tasks of an earlier session are known from here only."""
        for item in dicts(value):
            subject, task_id = first_str(item, "subject", "content"), _id_of(item.get("id"))
            if subject and task_id:
                self._tasks[task_id] = _task(subject, as_str(item.get("status")), item)

    def _plan_file(self, part: ToolCallPart) -> None:
        path = as_str(part.arguments.get("file_path"))
        if not _PLAN_FILE.search(path):
            return
        self._last_plan_file = path
        if part.name == "Write":
            self._plan_files[path] = as_str(part.arguments.get("content"))
        elif path in self._plan_files:
            old, new = as_str(part.arguments.get("old_string")), as_str(part.arguments.get("new_string"))
            self._plan_files[path] = self._plan_files[path].replace(old, new, 1)

    def _with_plan(self, part: ToolCallPart, outcome: _Outcome | None) -> Part:
        if as_str(part.arguments.get("plan")).strip():
            return part
        plan = self._plan_files.get(self._last_plan_file, "")
        if outcome is not None:
            told = _APPROVED.search(outcome.text)
            plan = as_str(outcome.data.get("plan")) or (outcome.text[told.end() :] if told else "") or plan
        return _renamed(part, part.name, {**part.arguments, "plan": plan}) if plan.strip() else part


def _task(subject: str, status: str, fields: Json) -> Json:
    task: Json = {"content": subject, "status": status or "pending"}
    if form := as_str(fields.get("activeForm")):
        task["activeForm"] = form
    return task


def _id_of(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _renamed(part: ToolCallPart, name: str, arguments: Json) -> ToolCallPart:
    data = {"foreign": {"name": part.name, "arguments": part.arguments}}
    return msgspec.structs.replace(part, name=name, arguments=arguments, data=data)
