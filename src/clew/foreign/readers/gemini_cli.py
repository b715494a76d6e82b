"""Gemini CLI: chats as one JSON object, and as JSONL that is updated and rewound by later lines."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clew.foreign.build import Builder, image_part
from clew.foreign.listing import entries_in, found
from clew.foreign.readers.gemini_results import diff_blocks, exit_code_of, function_response, response_text
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts, first_str, text_of_content
from clew.foreign.source import Source
from clew.foreign.user_text import read_user_text, slash_command_text
from clew.protocol.messages import Part
from clew.protocol.usage import Usage

AGENT = "gemini_cli"
_STOPPED = re.compile(
    r"(?:Request|User|Operation) cancelled|.*\b(?:has been halted|response stopped|session turns)\b", re.IGNORECASE
)
"""What the program says when it or the user ended a turn before the model did."""


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where Gemini CLI keeps its sessions. `GEMINI_CLI_HOME` replaces the home directory that `.gemini` lies in."""
    if configured := env.get("GEMINI_CLI_HOME"):
        return (Path(configured) / ".gemini",)
    return (user_home / ".gemini",)


def discover(home: Path) -> Iterator[ForeignSession]:
    """The chats of every project below a home."""
    yield from discover_chats(AGENT, home)


def discover_chats(agent: str, home: Path) -> Iterator[ForeignSession]:
    """The layout `tmp/<project>/chats`, which Qwen Code shares in its first versions."""
    for project in entries_in(home / "tmp"):
        cwd = _project_root(project)
        for path in entries_in(project / "chats"):
            if path.suffix in (".json", ".jsonl"):
                yield from found(agent, path, path.stem, cwd=cwd)
            elif "." not in path.name:
                for child in entries_in(path):
                    if child.suffix in (".json", ".jsonl"):
                        yield from found(agent, child, child.stem, is_subagent=True, cwd=cwd, parent_session=path.name)


def _project_root(folder: Path) -> str:
    marker = folder / ".project_root"
    if not marker.is_file():
        return ""
    return Source(marker).head(4096).decode("utf-8", "replace").strip()


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One chat."""
    source = Source(path)
    header, messages = _read_jsonl(source) if path.suffix == ".jsonl" else _read_json(source)
    build = Builder(agent, as_str(header.get("sessionId")) or path.stem, started=header.get("startTime"))
    meta = build.meta
    meta.cwd = _project_root(path.parent.parent) or next(
        (folder for folder in header.get("directories") or () if isinstance(folder, str)), ""
    )
    meta.started = as_str(header.get("startTime"))
    meta.is_subagent = header.get("kind") == "subagent"
    for message in messages:
        _message(build, message)
    build.title(as_str(header.get("summary")))
    build.at(header.get("lastUpdated"))
    return build.transcript(path, source.problems)


def _read_json(source: Source) -> tuple[Json, list[Json]]:
    value = source.value()
    if isinstance(value, list):
        # `/chat save` writes the bare history.
        return {}, list(dicts(value))
    header = as_dict(value)
    return header, list(dicts(header.get("messages") or header.get("history")))


def _read_jsonl(source: Source) -> tuple[Json, list[Json]]:
    """The last line of an id wins and keeps the place of the first; a rewind drops what follows."""
    header: Json = {}
    messages: dict[str, Json] = {}
    for number, (_, line) in enumerate(source.objects()):
        if "$set" in line:
            changed = as_dict(line["$set"])
            header.update({key: value for key, value in changed.items() if key != "messages"})
            if isinstance(changed.get("messages"), list):
                messages = {as_str(m.get("id")) or str(i): m for i, m in enumerate(dicts(changed["messages"]))}
        elif "$rewindTo" in line:
            _rewind(messages, as_str(line["$rewindTo"]))
        elif "sessionId" in line and "type" not in line:
            header.update(line)
            for message in dicts(header.pop("messages", None)):
                messages[as_str(message.get("id")) or f"header-{len(messages)}"] = message
        else:
            messages[as_str(line.get("id")) or f"line-{number}"] = line
    return header, list(messages.values())


def _rewind(messages: dict[str, Json], target: str) -> None:
    if target not in messages:
        messages.clear()
        return
    keys = list(messages)
    for key in keys[keys.index(target) :]:
        del messages[key]


def _message(build: Builder, message: Json) -> None:
    build.at(message.get("timestamp"))
    kind = as_str(message.get("type")) or as_str(message.get("role"))
    match kind:
        case "user":
            _user(build, message)
        case "gemini" | "model" | "assistant" | "qwen":
            _reply(build, message)
        case "info" | "warning":
            text = text_of_content(message.get("content"))
            is_stop = _STOPPED.match(text) is not None
            build.system("interrupted" if is_stop else "informational", text, level=kind)
        case "error":
            build.error(text_of_content(message.get("content")))
        case _:
            build.opaque(kind, message)


def _user(build: Builder, message: Json) -> None:
    content = message.get("content", message.get("parts"))
    for response in dicts(content):
        if "functionResponse" in response:
            function_response(build, as_dict(response["functionResponse"]))
    shown = text_of_content(message.get("displayContent"), joint="")
    whole = text_of_content(content, joint="")
    images = _images(content)
    text = shown or whole
    if not text.strip() and not images:
        return
    reading = read_user_text(text)
    if text.startswith("/") and "\n" not in text:
        name, _, args = text[1:].partition(" ")
        reading = slash_command_text(name, args)
    build.user(text, reading=reading, images=images)


def _images(content: Any) -> tuple[Part, ...]:
    parts: list[Part] = []
    for part in dicts(content):
        data = as_dict(part.get("inlineData"))
        mime = as_str(data.get("mimeType"))
        if mime.startswith("image/"):
            parts.append(image_part(f"data:{mime};base64,{as_str(data.get('data'))}"))
    return tuple(parts)


def _reply(build: Builder, message: Json) -> None:
    build.model = as_str(message.get("model")) or build.model
    build.end_reply()
    for thought in dicts(message.get("thoughts")):
        build.reasoning(": ".join(filter(None, (first_str(thought, "subject"), first_str(thought, "description")))))
    build.text(text_of_content(message.get("content", message.get("parts")), joint=""))
    calls = list(dicts(message.get("toolCalls")))
    ids = [build.call(as_str(call.get("id")), as_str(call.get("name")), as_dict(call.get("args"))) for call in calls]
    for part in dicts(message.get("parts")):
        if call := as_dict(part.get("functionCall")):
            build.call(first_str(call, "id", "name"), as_str(call.get("name")), as_dict(call.get("args")))
    if tokens := as_dict(message.get("tokens")):
        build.usage(token_usage(tokens))
    for call_id, call in zip(ids, calls, strict=True):
        _result(build, call_id, call)


def token_usage(tokens: Json) -> Usage:
    """Gemini's counts: cached tokens are part of the input, thoughts are paid as output."""
    cached = as_int(tokens.get("cached"))
    return Usage(
        input_tokens=max(0, as_int(tokens.get("input")) - cached) + as_int(tokens.get("tool")),
        output_tokens=as_int(tokens.get("output")) + as_int(tokens.get("thoughts")),
        cache_read_input_tokens=cached,
    )


def _result(build: Builder, call_id: str, call: Json) -> None:
    status = as_str(call.get("status"))
    pieces = [response_text(as_dict(part.get("functionResponse"))) for part in dicts(call.get("result"))]
    text = "\n".join(piece for piece in pieces if piece)
    if not text and isinstance(call.get("result"), str):
        text = call["result"]
    display = call.get("resultDisplay")
    if not text and isinstance(display, str):
        text = display
    if status in ("success", "error", "cancelled") or text:
        build.result(
            call_id,
            text or status,
            is_error=status in ("error", "cancelled"),
            exit_code=exit_code_of(text),
            diffs=diff_blocks(display),
        )
    if status == "cancelled":
        build.system("interrupted", "The user cancelled a tool call.", data={"call_id": call_id})
