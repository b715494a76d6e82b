"""opencode's message parts: texts, tool states with their diffs and exit codes, files, steps."""

from clew.foreign.build import Builder, image_part
from clew.foreign.readers.patches import count_diff
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts, first_str
from clew.protocol.display import DiffBlock
from clew.protocol.messages import Part
from clew.protocol.usage import Usage

_SILENT = ("step-start", "step-finish", "patch", "snapshot", "compaction", "agent", "retry")


def is_placeholder_title(title: str) -> bool:
    """opencode names a session by its date until it has a better title."""
    return title.startswith(("New session - ", "Child session - "))


def user_message(build: Builder, parts: list[Json]) -> None:
    """What the user sent: typed texts together, generated ones apart."""
    typed: list[str] = []
    images: list[Part] = []
    for part in parts:
        text = as_str(part.get("text"))
        kind = part.get("type")
        if kind == "text":
            if part.get("synthetic") or part.get("ignored"):
                build.meta_text(text)
            else:
                typed.append(text)
        elif kind == "file":
            mime, url = as_str(part.get("mime")), as_str(part.get("url"))
            if mime.startswith("image/") and url.startswith("data:"):
                images.append(image_part(url, mime))
            else:
                build.meta_text(f"[attached {first_str(part, 'filename', 'url') or 'file'}]")
        elif kind == "subtask":
            typed.append(first_str(part, "command", "prompt"))
        elif kind not in _SILENT:
            build.opaque(f"part.{as_str(kind)}", part)
    if typed or images:
        build.user("\n".join(text for text in typed if text), images=tuple(images))


def reply(build: Builder, info: Json, parts: list[Json]) -> None:
    """One assistant message with its tool calls and their results."""
    build.model = as_str(info.get("modelID")) or as_str(as_dict(info.get("model")).get("modelID")) or build.model
    build.end_reply()
    if info.get("summary") is True:
        build.boundary("\n".join(as_str(part.get("text")) for part in parts if part.get("type") == "text"))
        return
    tools: list[tuple[str, Json]] = []
    for part in parts:
        match part.get("type"):
            case "text":
                tools = _settled(build, tools)  # older versions hold a whole turn in one message
                build.text(as_str(part.get("text")))
            case "reasoning":
                build.reasoning(as_str(part.get("text")))
            case "tool":
                state = as_dict(part.get("state"))
                arguments = as_dict(state.get("input"))
                tools.append((build.call(as_str(part.get("callID")), as_str(part.get("tool")), arguments), state))
            case kind if kind in _SILENT:
                continue
            case kind:
                build.opaque(f"part.{as_str(kind)}", part)
    if tokens := as_dict(info.get("tokens")):
        build.usage(_usage(tokens))
    _settled(build, tools)
    if error := as_dict(info.get("error")):
        _error(build, error)


def _settled(build: Builder, tools: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    for call_id, state in tools:
        _result(build, call_id, state)
    return []


def _usage(tokens: Json) -> Usage:
    cache = as_dict(tokens.get("cache"))
    return Usage(
        input_tokens=as_int(tokens.get("input")),
        output_tokens=as_int(tokens.get("output")) + as_int(tokens.get("reasoning")),
        cache_creation_input_tokens=as_int(cache.get("write")),
        cache_read_input_tokens=as_int(cache.get("read")),
    )


def _result(build: Builder, call_id: str, state: Json) -> None:
    status = as_str(state.get("status"))
    if status in ("pending", "running", ""):
        return
    build.at(as_dict(state.get("time")).get("end"))
    metadata = as_dict(state.get("metadata"))
    code = metadata.get("exit")
    build.result(
        call_id,
        as_str(state.get("output")) or as_str(state.get("error")),
        is_error=status == "error",
        exit_code=as_int(code) if isinstance(code, int) else None,
        diffs=_diffs(metadata, as_dict(state.get("input"))),
    )


def _diffs(metadata: Json, arguments: Json) -> tuple[DiffBlock, ...]:
    changes = list(dicts(metadata.get("files")))
    if filediff := as_dict(metadata.get("filediff")):
        changes.append(filediff)
    blocks: list[DiffBlock] = []
    for change in changes:
        path = first_str(change, "filePath", "file", "path")
        patch = _hunks(as_str(change.get("patch")) or as_str(metadata.get("diff")))
        if not path or not ("additions" in change or patch):
            continue
        added, removed = count_diff(patch)
        if "additions" in change:
            added, removed = as_int(change.get("additions")), as_int(change.get("deletions"))
        created = change.get("type") in ("add", "added") or change.get("status") == "added"
        blocks.append(DiffBlock(path=path, patch=patch, added=added, removed=removed, created=created))
    if not blocks and metadata.get("exists") is False and isinstance(arguments.get("content"), str):
        lines = arguments["content"].splitlines()
        path = first_str(arguments, "filePath", "path")
        patch = "\n".join("+" + line for line in lines)
        blocks.append(DiffBlock(path=path, patch=patch, added=len(lines), removed=0, created=True))
    return tuple(blocks)


def _hunks(patch: str) -> str:
    start = patch.find("\n@@")
    return patch[start + 1 :] if start >= 0 else patch


def _error(build: Builder, error: Json) -> None:
    name, data = as_str(error.get("name")), as_dict(error.get("data"))
    message = as_str(data.get("message")) or as_str(error.get("message")) or name
    if name == "MessageAbortedError":
        build.system("interrupted", message)
    else:
        build.error(message, kind=name)
