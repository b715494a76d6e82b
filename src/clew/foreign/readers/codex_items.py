"""Codex response items, and the merging of texts that Codex writes twice (as an item and as an event)."""

import re
from typing import Any

import msgspec

from clew.foreign.build import Builder, image_part
from clew.foreign.repeats import Repeats
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts, first_str, text_of_content
from clew.foreign.user_text import read_user_text
from clew.protocol.display import DiffBlock
from clew.protocol.messages import Part

_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit code:?) (-?\d+)")
_NOT_DONE = re.compile(
    r"(?:apply_patch verification failed|"
    r"(?:exec(?:_command| command)?|patch|command|user)\b.{0,40}(?:rejected|denied|failed)|"
    r"rejected|aborted by user|failed to parse|execution error|sandbox (?:denied|error)|unsupported call|"
    r"approval policy is|user cancell?ed)\b",
    re.IGNORECASE,
)
"""How Codex says, in place of a result, that a call came to nothing."""
_CWD = re.compile(r"<cwd>(.*?)</cwd>|Current working directory: (\S+)")
_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output", "tool_search_output", "function_result"}


class Items:
    """Turns response items into entries. A text counts once, however many records repeat it."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self._repeats = Repeats()
        self._diffs: dict[str, tuple[DiffBlock, ...]] = {}
        self._exits: dict[str, int] = {}
        self._last_text = ""

    def forget(self) -> None:
        """After a compaction the same words may be said anew."""
        self._repeats.forget()

    def item(self, item: Json) -> bool:
        """One response item; False when its type is unknown."""
        kind = as_str(item.get("type"))
        if kind == "message":
            self._message(item)
        elif kind == "reasoning":
            self._reasoning_item(item)
        elif kind in _CALLS:
            self._call(kind, item)
        elif kind in _OUTPUTS:
            self._output(kind, item)
        else:
            return kind in ("ghost_snapshot", "compaction", "compaction_summary")
        return True

    def user(self, text: str, source: str, *, images: tuple[Part, ...] = ()) -> None:
        """A text of role user, from an item or an event."""
        reading = read_user_text(text)
        if reading.kind == "interrupted":
            # `turn_aborted` says the same, with the reason.
            return
        if reading.kind == "meta" and not self.build.meta.cwd and (cwd := _CWD.search(text)):
            self.build.meta.cwd = cwd[1] or cwd[2]
        if self._repeats.is_new("user:" + reading.kind, reading.text.strip(), source):
            self.build.user(text, reading=reading, images=images)

    def assistant(self, text: str, source: str) -> None:
        """Words of the model. The closing event repeats the last message only when it was not shown before."""
        if source == "complete":
            if text.strip() and text.strip() != self._last_text:
                self.build.text(text)
            return
        if text.strip() and self._repeats.is_new("assistant", text.strip(), source):
            self._last_text = text.strip()
            self.build.text(text)

    def reasoning(self, text: str, source: str) -> None:
        """A summary of the model's reasoning."""
        if text.strip() and self._repeats.is_new("reasoning", text.strip(), source):
            self.build.reasoning(text)

    def exit_code(self, call_id: str, code: Any) -> None:
        """The exit code of a command, told by an event before the result."""
        if isinstance(code, int):
            self._exits[call_id] = code

    def patched(self, call_id: str, diffs: tuple[DiffBlock, ...], *, text: str, failed: bool) -> None:
        """A patch was applied. When no call of that id is open, the event is all there is, and becomes the call."""
        if self.build.has_call(call_id):
            self._diffs[call_id] = diffs
            return
        for number, diff in enumerate(diffs):
            patch = "*** Add File: " if diff.created else "*** Update File: "
            body = f"*** Begin Patch\n{patch}{diff.path}\n{diff.patch}\n*** End Patch"
            own_id = self.build.call(f"{call_id}.{number}", "apply_patch", {"input": body})
            self.build.result(own_id, text, is_error=failed, diffs=(diff,))

    def _message(self, item: Json) -> None:
        content = item.get("content") if item.get("content") is not None else item.get("message")
        role = item.get("role")
        if role == "assistant":
            self.assistant(text_of_content(content), "item")
            for call in dicts(item.get("tool_calls")):
                function = as_dict(call.get("function"))
                self._call("function_call", {**function, "call_id": call.get("id")})
        elif role == "tool":
            self._output("function_call_output", {"call_id": item.get("tool_call_id"), "output": content})
        elif role == "user":
            self._user_item(content)
        else:
            self.build.meta_text(text_of_content(content))

    def _user_item(self, content: Any) -> None:
        if isinstance(content, str):
            self.user(content, "item")
            return
        typed: list[str] = []
        images: list[Part] = []
        for part in dicts(content):
            text = as_str(part.get("text"))
            if part.get("type") == "input_image":
                images.append(image_part(first_str(part, "image_url", "url")))
            elif text.strip() in ("</image>", "") or text.startswith("<image"):
                continue
            elif read_user_text(text).kind == "typed":
                typed.append(text)
            else:
                self.user(text, "item")
        if typed or images:
            self.user("\n".join(typed), "item", images=tuple(images))

    def _reasoning_item(self, item: Json) -> None:
        pieces = [as_str(part.get("text")) for part in dicts(item.get("summary"))]
        if not any(pieces):
            pieces = [as_str(part.get("text")) for part in dicts(item.get("content"))]
        for piece in pieces:
            self.reasoning(piece, "item")

    def _call(self, kind: str, item: Json) -> None:
        call_id = first_str(item, "call_id", "id")
        name = (
            as_str(item.get("name")) or as_str(as_dict(item.get("function")).get("name")) or kind.removesuffix("_call")
        )
        if space := as_str(item.get("namespace")):
            name = f"{space}{'' if name.startswith('_') else '__'}{name}"
        arguments, raw = _arguments(kind, item)
        call_id = self.build.call(call_id, name, arguments, raw=raw)
        if kind == "web_search_call":
            self.build.result(call_id, as_str(item.get("status")) or "completed")

    def _output(self, kind: str, item: Json) -> None:
        call_id = first_str(item, "call_id", "id")
        output: Any = item.get("output", item.get("result"))
        if kind == "tool_search_output":
            text = ", ".join(as_str(tool.get("name")) for tool in dicts(item.get("tools")))
            self.build.result(call_id, text or "no tools")
            return
        text, exit_code, failed = read_output(output)
        if exit_code is None:
            exit_code = self._exits.pop(call_id, None)
        diffs = self._diffs.pop(call_id, ())
        self.build.result(call_id, text, is_error=failed, exit_code=exit_code, diffs=diffs)


def read_output(output: Any) -> tuple[str, int | None, bool]:
    """Text, exit code and failure of a tool output in any of the shapes seen."""
    failed = False
    if isinstance(output, dict):
        body = as_dict(output)
        failed = body.get("success") is False
        output = body.get("content", body.get("output", ""))
    text = text_of_content(output)
    if text.startswith('{"output"'):
        try:
            inner = as_dict(msgspec.json.decode(text.encode("utf-8", "replace")))
        except (msgspec.DecodeError, RecursionError):
            inner = {}
        if "output" in inner:
            code = as_dict(inner.get("metadata")).get("exit_code")
            return as_str(inner.get("output")), as_int(code) if code is not None else None, failed
    if found := _EXIT.search(text, 0, 400):
        return text, int(found[1]), failed
    return text, None, failed or _NOT_DONE.match(text) is not None


def _arguments(kind: str, item: Json) -> tuple[Json, str | None]:
    """The arguments of a call, and their raw text where it is not an object."""
    if kind == "custom_tool_call":
        return {"input": as_str(item.get("input"))}, None
    if kind in ("local_shell_call", "web_search_call"):
        return as_dict(item.get("action")), None
    arguments: Any = item.get("arguments")
    if isinstance(arguments, str):
        try:
            decoded: Any = msgspec.json.decode(arguments.encode("utf-8", "replace")) if arguments.strip() else {}
        except (msgspec.DecodeError, RecursionError):
            decoded = None
        return (as_dict(decoded), None) if isinstance(decoded, dict) else ({}, arguments)
    return as_dict(arguments), None
