"""What a tool of a server answered, as parts for the model: words, pictures, documents; the rest in words."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any, cast

import mcp_types as types
import msgspec

from clew.mcp.ports import CallOutcome
from clew.protocol.messages import DocumentPart, ImagePart, MediaSource, ResultContent

MAX_IMAGE_BYTES = 3_750_000
MAX_PARTS = 100
MAX_MEDIA = 20
SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
PDF = "application/pdf"


class Collected:
    """Words and media of one answer, in order."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.media: list[ResultContent] = []

    def add(self, block: types.ContentBlock) -> None:
        """One block of content."""
        match block:
            case types.TextContent():
                self.words.append(block.text)
            case types.ImageContent():
                self._add_bytes(block.data, block.mime_type, "picture")
            case types.AudioContent():
                self.words.append(f"[sound, {block.mime_type}, {size_of(block.data):,} bytes: it cannot be heard here]")
            case types.ResourceLink():
                about = f", {block.mime_type}" if block.mime_type else ""
                self.words.append(f"[resource {block.uri} ({block.title or block.name}{about})]")
            case types.EmbeddedResource():
                self.add_resource(block.resource)

    def add_resource(self, resource: types.TextResourceContents | types.BlobResourceContents) -> None:
        """A resource with its content."""
        if isinstance(resource, types.TextResourceContents):
            self.words.append(f"[resource {resource.uri}]\n{resource.text}")
        else:
            self.words.append(f"[resource {resource.uri}]")
            self._add_bytes(resource.blob, resource.mime_type or "", "resource")

    def _add_bytes(self, data: str, given_type: str, what: str) -> None:
        """The content decides what it is, not what the server says."""
        try:
            head = base64.b64decode(data[:64], validate=True)
        except (binascii.Error, ValueError):
            self.words.append(f"[{what}: it is not base64, so it is left out]")
            return
        kind = next((kind for magic, kind in SIGNATURES if head.startswith(magic)), "")
        kind = "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else kind
        kind = PDF if head.startswith(b"%PDF-") else kind
        size = size_of(data)
        if not kind:
            self.words.append(f"[{what}, {given_type or 'bytes of an unknown kind'}, {size:,} bytes: left out]")
        elif size > MAX_IMAGE_BYTES or len(self.media) >= MAX_MEDIA:
            self.words.append(f"[{what}, {kind}, {size:,} bytes: too much to be looked at]")
        else:
            source = MediaSource(type="base64", media_type=kind, data=data)
            self.media.append(DocumentPart(source=source) if kind == PDF else ImagePart(source=source))

    def outcome(self, *, is_error: bool) -> CallOutcome:
        """All of it."""
        text = "\n".join(self.words)
        if not text.strip():
            text = "(a picture)" if self.media else "(the tool answered without words)"
        return CallOutcome(text=text, media=tuple(self.media), is_error=is_error)


def outcome_of(result: types.CallToolResult) -> CallOutcome:
    """What a call came to. Structured content is told where its words are not already there."""
    found = Collected()
    for block in result.content[:MAX_PARTS]:
        found.add(block)
    if len(result.content) > MAX_PARTS:
        found.words.append(f"[{len(result.content) - MAX_PARTS} more parts, left out]")
    if result.structured_content is not None and not _told(result.structured_content, found.words):
        found.words.append(msgspec.json.encode(result.structured_content).decode())
    return found.outcome(is_error=result.is_error)


def resource_outcome(contents: Iterable[types.TextResourceContents | types.BlobResourceContents]) -> CallOutcome:
    """What a resource holds."""
    found = Collected()
    for resource in list(contents)[:MAX_PARTS]:
        found.add_resource(resource)
    return found.outcome(is_error=False)


def size_of(data: str) -> int:
    """How many bytes a base64 text stands for."""
    return len(data) * 3 // 4


def _told(content: object, words: list[str]) -> bool:
    """Servers should repeat structured content as text, for clients that do not know it."""
    for text in words:
        try:
            if text[:1] in "[{" and msgspec.json.decode(text) == content:
                return True
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
    values = list(cast("dict[str, Any]", content).values()) if isinstance(content, dict) else [content]
    if len(values) != 1:
        return False
    return (values[0] if isinstance(values[0], str) else msgspec.json.encode(values[0]).decode()) in words
