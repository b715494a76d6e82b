"""Tool results as the Gemini family writes them: function responses, exit codes in text, file diffs."""

import re
from typing import Any

from clew.foreign.build import Builder
from clew.foreign.readers.patches import count_diff
from clew.foreign.shapes import Json, as_dict, as_str, first_str
from clew.protocol.display import DiffBlock

_SHELL = "run_shell_command"
_LABEL = re.compile(r"^Output: ", re.MULTILINE)
"""Stands before the first line that a command printed and is none of it."""
_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)


def response_text(part: Json) -> str:
    """The words of a `functionResponse` part."""
    response = part.get("response")
    text = as_str(response) or first_str(as_dict(response), "output", "error", "content", "result")
    return _LABEL.sub("Output:\n", text, count=1) if part.get("name") == _SHELL else text


def function_response(build: Builder, response: Json, *, status: str = "", display: Any = None) -> None:
    """One `functionResponse` part as the result of its call."""
    body = as_dict(response.get("response"))
    text = response_text(response)
    failed = status in ("error", "cancelled") or ("error" in body and "output" not in body)
    call_id = first_str(response, "id", "name")
    build.result(call_id, text, is_error=failed, exit_code=exit_code_of(text), diffs=diff_blocks(display))


def exit_code_of(text: str) -> int | None:
    """The exit code a shell result names; `(none)` and absence are None."""
    found = _EXIT.search(text[-2000:]) if "Exit Code: " in text else None
    return int(found[1]) if found else None


def diff_blocks(display: Any) -> tuple[DiffBlock, ...]:
    """The diff that was shown to the user for a written file."""
    shown = as_dict(display)
    diff, path = as_str(shown.get("fileDiff")), first_str(shown, "filePath", "fileName")
    if not diff or not path:
        return ()
    hunks = diff[diff.find("\n@@") + 1 :] if "\n@@" in diff else diff
    added, removed = count_diff(hunks)
    created = shown.get("isNewFile") is True or shown.get("originalContent") is None
    return (DiffBlock(path=path, patch=hunks, added=added, removed=removed, created=created),)
