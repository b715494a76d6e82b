"""The parts of a prompt that a program sent: what no model could read is told before it joins a conversation, which it
would spoil for every later request."""

import binascii
import re

from clew.protocol.messages import DocumentPart, ImagePart, MediaSource, TextPart
from clew.streaming.shapes.control import UserPart

SOURCES = ("base64", "url", "text")
"""Inline bytes, an address, and for documents plain words."""
MEDIA_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9][A-Za-z0-9.+-]*")


def words_of(content: str | tuple[UserPart, ...]) -> str | None:
    """The text of a prompt that is nothing else; None when there is more."""
    if isinstance(content, str):
        return content
    (only, *more) = content or (None,)
    return only.text if isinstance(only, TextPart) and not more else None


def problem_with(content: str | tuple[UserPart, ...]) -> str:
    """Why it cannot be a prompt; empty when it can."""
    if isinstance(content, str):
        return "" if content.strip() else "the prompt is empty"
    if all(isinstance(part, TextPart) and not part.text.strip() for part in content):
        return "the prompt is empty"
    media = (part for part in content if not isinstance(part, TextPart))
    return next((problem for part in media if (problem := media_problem(part))), "")


def media_problem(part: ImagePart | DocumentPart) -> str:
    """What is wrong with a picture or a document."""
    source, kind = part.source, "image" if isinstance(part, ImagePart) else "document"
    if source.type not in SOURCES or (source.type == "text" and kind == "image"):
        return f"the source of the {kind} has the type {source.type!r}"
    if source.type == "url":
        return "" if source.url else f"the {kind} has no url"
    if not source.data:
        return f"the {kind} has no data"
    return encoding_problem(source, kind) if source.type == "base64" else ""


def encoding_problem(source: MediaSource, kind: str) -> str:
    """Bytes must be base64, of a type that is said; an image's is one of images."""
    if not MEDIA_TYPE.fullmatch(source.media_type) or (kind == "image" and not source.media_type.startswith("image/")):
        return f"the {kind} has the media_type {source.media_type!r}"
    try:
        binascii.a2b_base64(source.data, strict_mode=True)
    except (binascii.Error, ValueError):
        return f"the data of the {kind} is not base64"
    return ""
