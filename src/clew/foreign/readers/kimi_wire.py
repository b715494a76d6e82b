"""The wires of kimi-cli (enveloped messages) and Kimi Code (flat records), folded into entries."""

from typing import Any

from clew.foreign.build import Builder
from clew.foreign.readers.chat_messages import arguments_of, assistant_message, content_text
from clew.foreign.repeats import Repeats
from clew.foreign.shapes import Json, as_dict, as_int, as_str, first_str
from clew.foreign.user_text import UserText, read_user_text
from clew.protocol.usage import Usage

_QUIET = (
    "metadata",
    "StepBegin",
    "HookTriggered",
    "HookResolved",
    "ToolCallPart",
    "ApprovalResponse",
    "ApprovalRequestResolved",
    "MCPLoadingBegin",
    "MCPLoadingEnd",
    "llm.request",
    "llm.tools_snapshot",
    "mcp.tools_discovered",
    "usage.record",
    "turn.ended",
    "tools.set_active_tools",
    "permission.set_mode",
)


class Wire:
    """Takes records of either program, one at a time."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self._repeats = Repeats()
        self._open_turn = False
        self._turns = 0

    def record(self, record: Json) -> None:
        """One line of a wire."""
        self.build.at(record.get("timestamp") or record.get("time") or record.get("created_at"))
        message = as_dict(record.get("message"))
        if "payload" in message:
            self._message(as_str(message.get("type")), as_dict(message.get("payload")), record)
        else:
            self._flat(as_str(record.get("type")), record)

    def finish(self) -> None:
        """kimi-cli since 1.9 ends each turn; one without an end was cut off."""
        if self._open_turn and self._turns > 0:
            self.build.system("interrupted", "The session ended in the middle of a turn.", data={"kind": "cut_off"})

    def _message(self, kind: str, payload: Json, record: Json) -> None:
        build = self.build
        match kind:
            case "TurnBegin" | "SteerInput":
                self._user(payload.get("user_input", payload.get("content")), "turn")
                self._open_turn = True
            case "TurnEnd":
                self._open_turn = False
                self._turns += 1
                build.turn_result("completed", self._turns)
            case "StepInterrupted":
                self._open_turn = False
                build.system("interrupted", "The user interrupted the step.")
            case "ContentPart":
                self._part(payload)
            case "ToolCall":
                function = as_dict(payload.get("function"))
                self._call(as_str(payload.get("id")), as_str(function.get("name")), function.get("arguments"))
            case "ToolResult":
                self._result(as_str(payload.get("tool_call_id")), as_dict(payload.get("return_value")) or payload)
            case "StatusUpdate":
                self._usage(as_dict(payload.get("token_usage")))
            case "CompactionEnd":
                build.boundary("")
            case "CompactionBegin" | "ApprovalRequest" | "SubagentEvent":
                build.opaque(kind, record)
            case _ if kind in _QUIET:
                return
            case _:
                build.opaque(kind, record)

    def _flat(self, kind: str, record: Json) -> None:
        build = self.build
        match kind:
            case "config.update":
                build.meta.cwd = as_str(record.get("cwd")) or build.meta.cwd
                build.model = first_str(record, "model", "modelAlias", "modelId") or build.model
                build.meta.agent_name = as_str(record.get("profileName")) or build.meta.agent_name
            case "turn.prompt" | "turn.steer":
                self._user(record.get("input"), "turn", origin=as_dict(record.get("origin")))
            case "turn.cancel":
                build.system("interrupted", "The user cancelled the turn.")
            case "context.append_message":
                self._append(as_dict(record.get("message")))
            case "context.append_loop_event":
                self._loop_event(as_dict(record.get("event")), record)
            case "context.apply_compaction":
                before, after = as_int(record.get("tokensBefore")), as_int(record.get("tokensAfter"))
                build.boundary(as_str(record.get("summary")), preTokens=before, postTokens=after)
                self._repeats.forget()
            case "context.clear":
                build.boundary("", cleared=True)
                self._repeats.forget()
            case "context.undo":
                build.undo(max(1, as_int(record.get("count"))))
            case _ if kind in _QUIET:
                return
            case _:
                build.opaque(kind, record)

    def _user(self, content: Any, source: str, *, origin: Json | None = None) -> None:
        text = content_text(content)
        reading = read_user_text(text)
        if origin and as_str(origin.get("kind")) not in ("", "user", "human"):
            reading = UserText("meta", text)
        if text.strip() and self._repeats.is_new("user", reading.text.strip(), source):
            self.build.user(text, reading=reading)

    def _append(self, message: Json) -> None:
        match message.get("role"):
            case "user":
                self._user(message.get("content"), "message", origin=as_dict(message.get("origin")))
            case "assistant":
                assistant_message(self.build, message)
            case "tool":
                call_id = first_str(message, "toolCallId", "tool_call_id")
                self.build.result(call_id, content_text(message.get("content")))
            case role:
                self.build.opaque(as_str(role), message)

    def _loop_event(self, event: Json, record: Json) -> None:
        match event.get("type"):
            case "step.begin":
                self.build.end_reply()
            case "content.part":
                self._part(as_dict(event.get("part")))
            case "tool.call":
                self._call(first_str(event, "toolCallId", "id"), as_str(event.get("name")), event.get("args"))
            case "tool.result":
                self._result(first_str(event, "toolCallId", "id"), as_dict(event.get("result")))
            case "step.end":
                self._usage(as_dict(event.get("usage")))
            case kind:
                self.build.opaque(f"loop_event.{as_str(kind)}", record)

    def _part(self, part: Json) -> None:
        if part.get("type") == "text":
            self.build.text(as_str(part.get("text")))
        elif part.get("type") in ("think", "thinking"):
            self.build.reasoning(first_str(part, "think", "thinking", "text"))

    def _call(self, call_id: str, name: str, value: Any) -> None:
        arguments, raw = arguments_of(value)
        self.build.call(call_id, name, arguments, raw=raw)

    def _result(self, call_id: str, value: Json) -> None:
        output = content_text(value.get("output")) or content_text(value.get("content"))
        text = "\n".join(piece for piece in (as_str(value.get("message")), output) if piece)
        is_error = value.get("is_error") is True or value.get("isError") is True
        self.build.result(call_id, text, is_error=is_error, exit_code=_exit_code(value))

    def _usage(self, tokens: Json) -> None:
        if tokens:
            self.build.usage(
                Usage(
                    input_tokens=as_int(tokens.get("input_other") or tokens.get("inputOther")),
                    output_tokens=as_int(tokens.get("output")),
                    cache_read_input_tokens=as_int(tokens.get("input_cache_read") or tokens.get("inputCacheRead")),
                    cache_creation_input_tokens=as_int(
                        tokens.get("input_cache_creation") or tokens.get("inputCacheCreation")
                    ),
                )
            )


def _exit_code(value: Json) -> int | None:
    """Shell results name their exit code in `extras`, or in a sentence."""
    code = as_dict(value.get("extras")).get("exit_code")
    if isinstance(code, int):
        return code
    message = as_str(value.get("message"))
    _, found, rest = message.partition("exit code: ")
    digits = rest.split(".")[0].strip() if found else ""
    return int(digits) if digits.isdigit() else None
