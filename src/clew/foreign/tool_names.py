"""Other agents' tool calls in our tool names and parameters, where the meaning is clear."""

import re
import shlex
from collections.abc import Callable
from typing import Any, NamedTuple

from clew.foreign.readers.patches import parse_patch
from clew.foreign.shapes import Json, as_dict, as_list, as_str, dicts, first_str


class MappedCall(NamedTuple):
    """A call under our name. The original stands beside it when the two differ."""

    name: str
    arguments: Json


_PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "target_file", "filename", "file", "notebook_path")
_COMMAND_KEYS = ("command", "cmd", "script", "bash_command", "code")

_PATCH_COMMAND = re.compile(r"\s*(?:cd [^\n;&|]+&& *)?apply_?patch\b[^\n]*<<")
"""Models also call the patch tool as a shell command with a here-document."""

_KINDS: dict[str, str] = {}
for _kind, _names in {
    "shell": "bash shell exec_command local_shell local_shell_call container.exec run_shell_command run_terminal_cmd"
    " run_terminal_command run_terminal execute_command terminal execute_bash shell_command run_command runcommand"
    " execute",
    "read": "read read_file readfile view view_file open_file read_many_files cat readfile_v2",
    "write": "write write_file writefile create_file create file_write",
    "edit": "edit replace edit_file str_replace strreplacefile strreplace search_replace multiedit multi_edit",
    "patch": "apply_patch patch applypatch apply_diff",
    "editor": "str_replace_editor str_replace_based_edit_tool",
    "grep": "grep search_file_content grep_search ripgrep rg search_files search_dir",
    "glob": "glob find_files file_search glob_file_search find_file",
    "todo": "todowrite todo_write update_plan write_todos settodolist set_todo_list todo todolist update_todos",
    "plan": "exit_plan_mode exitplanmode",
    "fetch": "webfetch web_fetch fetchurl fetch_url fetch",
    "search": "websearch web_search google_web_search searchweb",
    "task": "task agent spawn_agent delegate_to_agent subagent",
    "ask": "askuserquestion ask_user_question request_user_input ask_user askuser question ask_followup_question",
}.items():
    for _name in _names.split():
        _KINDS[_name] = _kind


def translate(name: str, arguments: Json) -> list[MappedCall]:
    """Our calls for one of theirs: usually one, several for a patch over many files, none changed when unknown."""
    kind = _KINDS.get(name.lower())
    if kind is None:
        return [MappedCall(name, arguments)]
    translated = _TRANSLATORS[kind](arguments)
    return translated or [MappedCall(name, arguments)]


def is_shell(name: str) -> bool:
    """Whether a tool of this name runs commands."""
    return _KINDS.get(name.lower()) == "shell"


def shell_words(command: Any) -> str:
    """A command as one line: `["bash", "-lc", "ls"]` is `ls`."""
    if isinstance(command, str):
        return command
    words = [word for word in as_list(command) if isinstance(word, str)]
    if len(words) >= 3 and words[-2] in ("-lc", "-c", "-ic", "-Command"):
        return words[-1]
    return shlex.join(words)


def _shell(arguments: Json) -> list[MappedCall]:
    for key in _COMMAND_KEYS:
        if command := shell_words(arguments.get(key)):
            if _PATCH_COMMAND.match(command) and (edits := _patch({"input": command})):
                return edits
            found: Json = {"command": command}
            if description := first_str(arguments, "description", "explanation", "justification"):
                found["description"] = description
            if arguments.get("is_background") is True or arguments.get("run_in_background") is True:
                found["run_in_background"] = True
            return [MappedCall("Bash", found)]
    return []


def _read(arguments: Json) -> list[MappedCall]:
    path = first_str(arguments, *_PATH_KEYS)
    if not path:
        return []
    found: Json = {"file_path": path}
    for ours, theirs in (("offset", ("offset", "line_offset", "start_line")), ("limit", ("limit", "n_lines"))):
        for key in theirs:
            if isinstance(arguments.get(key), int):
                found[ours] = arguments[key]
                break
    return [MappedCall("Read", found)]


def _write(arguments: Json) -> list[MappedCall]:
    path = first_str(arguments, *_PATH_KEYS)
    for key in ("content", "contents", "file_text", "text", "new_text"):
        if path and isinstance(arguments.get(key), str):
            return [MappedCall("Write", {"file_path": path, "content": arguments[key]})]
    return []


def _edit(arguments: Json) -> list[MappedCall]:
    path = first_str(arguments, *_PATH_KEYS)
    if not path:
        return []
    edits = [as_dict(edit) for edit in as_list(arguments.get("edits")) or as_list(arguments.get("edit"))]
    edits = edits or [as_dict(arguments.get("edit")) or arguments]
    pairs = [(_side(edit, "old"), _side(edit, "new")) for edit in edits]
    whole = [(old, new) for old, new in pairs if old is not None and new is not None]
    if not whole:
        code = arguments.get("code_edit")
        if isinstance(code, str):
            return [MappedCall("Edit", {"file_path": path, "old_string": "", "new_string": code})]
        return _write(arguments)
    found: Json = {
        "file_path": path,
        "old_string": "\n".join(old for old, _ in whole),
        "new_string": "\n".join(new for _, new in whole),
    }
    if any(edit.get(key) is True for edit in edits for key in ("replace_all", "replaceAll", "allow_multiple")):
        found["replace_all"] = True
    return [MappedCall("Edit", found)]


def _side(edit: Json, side: str) -> str | None:
    for key in (f"{side}_string", f"{side}String", f"{side}_str", f"{side}Str", side, f"{side}Text"):
        if isinstance(edit.get(key), str):
            return edit[key]
    return None


def _patch(arguments: Json) -> list[MappedCall]:
    text = first_str(arguments, "patch", "input", "patchText", "patch_text", "diff") or shell_words(
        arguments.get("command")
    )
    calls: list[MappedCall] = []
    for change in parse_patch(text):
        if change.action == "add":
            calls.append(MappedCall("Write", {"file_path": change.path, "content": change.new}))
        elif change.action == "delete":
            calls.append(MappedCall("Bash", {"command": f"rm {shlex.quote(change.path)}"}))
        else:
            arguments = {"file_path": change.path, "old_string": change.old, "new_string": change.new}
            calls.append(MappedCall("Edit", arguments))
            if change.moved_to:
                calls.append(
                    MappedCall("Bash", {"command": f"mv {shlex.quote(change.path)} {shlex.quote(change.moved_to)}"})
                )
    return calls


def _editor(arguments: Json) -> list[MappedCall]:
    match arguments.get("command"):
        case "view":
            return _read(arguments)
        case "create":
            return _write(arguments)
        case "str_replace":
            return _edit({**arguments, "new_str": as_str(arguments.get("new_str"))})
        case "insert":
            return _edit({**arguments, "old_str": "", "new_str": as_str(arguments.get("new_str"))})
        case _:
            return []


def _grep(arguments: Json) -> list[MappedCall]:
    pattern = first_str(arguments, "pattern", "query", "regex", "search_term")
    return [MappedCall("Grep", _with_path({"pattern": pattern}, arguments))] if pattern else []


def _glob(arguments: Json) -> list[MappedCall]:
    pattern = first_str(arguments, "pattern", "glob_pattern", "query", "file_name")
    return [MappedCall("Glob", _with_path({"pattern": pattern}, arguments))] if pattern else []


def _with_path(found: Json, arguments: Json) -> Json:
    path = first_str(arguments, "path", "dir_path", "directory", "target_directory", "dir")
    return {**found, "path": path} if path else found


_TODO_STATES = {
    "done": "completed",
    "complete": "completed",
    "completed": "completed",
    "cancelled": "completed",
    "in_progress": "in_progress",
    "inprogress": "in_progress",
    "active": "in_progress",
}


def todo_items(value: Any) -> list[Json]:
    """A task list in our shape, from any of the shapes seen."""
    items: list[Json] = []
    for item in dicts(value):
        content = first_str(item, "content", "step", "title", "description", "text")
        if content:
            status = _TODO_STATES.get(as_str(item.get("status")).lower().replace("-", "_"), "pending")
            todo: Json = {"content": content, "status": status}
            if form := first_str(item, "activeForm", "active_form"):
                todo["activeForm"] = form
            items.append(todo)
    return items


def _todo(arguments: Json) -> list[MappedCall]:
    for key in ("todos", "plan", "items", "todo_list"):
        if isinstance(arguments.get(key), list):
            return [MappedCall("TodoWrite", {"todos": todo_items(arguments[key])})]
    return []


def _plan(arguments: Json) -> list[MappedCall]:
    plan = first_str(arguments, "plan", "plan_text")
    return [MappedCall("ExitPlanMode", {"plan": plan})] if plan else []


def _fetch(arguments: Json) -> list[MappedCall]:
    url = first_str(arguments, "url", "uri")
    prompt = first_str(arguments, "prompt")
    return [MappedCall("WebFetch", {"url": url, "prompt": prompt} if prompt else {"url": url})] if url else []


def _search(arguments: Json) -> list[MappedCall]:
    query = first_str(arguments, "query", "q", "search_term")
    return [MappedCall("WebSearch", {"query": query})] if query else []


def _task(arguments: Json) -> list[MappedCall]:
    prompt = first_str(arguments, "prompt", "message", "task", "query", "objective")
    if not prompt:
        return []
    description = first_str(arguments, "description", "title", "name") or prompt.split("\n", 1)[0][:60]
    found: Json = {"description": description, "prompt": prompt}
    if kind := first_str(arguments, "subagent_type", "subagent_name", "agent_type", "agent_name", "agent"):
        found["subagent_type"] = kind
    return [MappedCall("Task", found)]


def _ask(arguments: Json) -> list[MappedCall]:
    questions = [item for item in dicts(arguments.get("questions")) if as_str(item.get("question"))]
    if not questions and (question := first_str(arguments, "question", "prompt", "message")):
        questions = [{"question": question, "options": as_list(arguments.get("options") or arguments.get("choices"))}]
    return [MappedCall("AskUserQuestion", {"questions": [_question(item) for item in questions]})] if questions else []


def _question(item: Json) -> Json:
    options = [as_dict(option) or {"label": as_str(option)} for option in as_list(item.get("options"))]
    return {"question": item["question"], "header": as_str(item.get("header")), "options": options}


_TRANSLATORS: dict[str, Callable[[Json], list[MappedCall]]] = {
    "shell": _shell,
    "read": _read,
    "write": _write,
    "edit": _edit,
    "patch": _patch,
    "editor": _editor,
    "grep": _grep,
    "glob": _glob,
    "todo": _todo,
    "plan": _plan,
    "fetch": _fetch,
    "search": _search,
    "task": _task,
    "ask": _ask,
}
