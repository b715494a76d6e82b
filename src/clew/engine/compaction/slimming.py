"""Pictures and documents as short words, for requests that only need to know that they were there."""

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct

from clew.protocol.messages import DocumentPart, ImagePart, Message, Part, TextPart, ToolResultPart
from clew.text.lazy_pattern import LazyPattern

UNKNOWN_TYPE = "application/octet-stream"
MAX_TYPE_CHARS = 128
MEDIA_TYPE = LazyPattern(r"[A-Za-z0-9][\w!#$&^.+-]*/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w.+-]+)*", re.ASCII)

MAX_MEDIA = 50
"""Pictures and documents of one request; the strictest provider takes 100."""
MAX_MEDIA_CHARS = 14_000_000
"""Their base64 together: the strictest provider takes 20 MB for a whole request, words included."""

Media = ImagePart | DocumentPart


class Slimmed(Struct, frozen=True, kw_only=True):
    """Messages without inline media, and what became words. The very same messages when there was nothing to do."""

    messages: tuple[Message, ...]
    images: int = 0
    documents: int = 0
    media_chars: int = 0
    """Base64 that the request no longer carries."""

    @property
    def note(self) -> str:
        """For the debug log; empty when nothing was replaced."""
        if not self.images and not self.documents:
            return ""
        return f"{self.images} images and {self.documents} documents became words, {self.media_chars} characters less"


class MediaLoad(Struct, frozen=True, kw_only=True):
    """How many media a request carries, and their size as base64."""

    count: int = 0
    chars: int = 0

    @property
    def is_too_much(self) -> bool:
        """Whether a provider may refuse the request for its media alone."""
        return self.count > MAX_MEDIA or self.chars > MAX_MEDIA_CHARS


def media_load(messages: Iterable[Message]) -> MediaLoad:
    """The media of a request, also those inside tool results."""
    sizes: list[int] = []
    for message in messages:
        if isinstance(message.content, str):
            continue
        for part in message.content:
            inside = part.content if isinstance(part, ToolResultPart) else (part,)
            sizes += [len(one.source.data) for one in inside if isinstance(one, Media) and is_media(one)]
    return MediaLoad(count=len(sizes), chars=sum(sizes))


def is_media(part: Part) -> bool:
    """Whether a part is bytes or an address rather than words. A document that is plain text is words."""
    return isinstance(part, ImagePart) or (isinstance(part, DocumentPart) and part.source.type != "text")


def media_type(part: Media) -> str:
    """The type as one harmless token: tool servers and files choose it, and a prompt could hide in it."""
    found = MEDIA_TYPE.match(part.source.media_type.strip()[:MAX_TYPE_CHARS])
    return found[0] if found else UNKNOWN_TYPE


def media_kind(part: Media) -> str:
    """`image` or `document`: everything that is no picture, sound and film included."""
    return "image" if isinstance(part, ImagePart) or media_type(part).startswith("image/") else "document"


def placeholder(part: Media) -> str:
    """What stands for a medium."""
    return f"[{media_kind(part)}: {media_type(part)}]"


def slim(messages: tuple[Message, ...], *, keeps: Callable[[Media], bool] | None = None) -> Slimmed:
    """The messages with words for every medium, also inside tool results; `keeps` says which the target can take."""
    replaced: list[Media] = []

    def words(part: Media) -> Part:
        if keeps is not None and keeps(part):
            return part
        replaced.append(part)
        return TextPart(text=placeholder(part))

    slimmed = [_message(message, words) for message in messages]
    images = sum(media_kind(part) == "image" for part in replaced)
    return Slimmed(
        messages=tuple(slimmed) if replaced else messages,
        images=images,
        documents=len(replaced) - images,
        media_chars=sum(len(part.source.data) for part in replaced),
    )


def _message(message: Message, words: Callable[[Media], Part]) -> Message:
    if isinstance(message.content, str):
        return message
    parts = _parts(message.content, words)
    return message if parts is message.content else msgspec.structs.replace(message, content=parts)


def _parts(parts: tuple[Part, ...], words: Callable[[Media], Part]) -> tuple[Part, ...]:
    changed = tuple(_part(part, words) for part in parts)
    return parts if _same(changed, parts) else changed


def _part(part: Part, words: Callable[[Media], Part]) -> Part:
    if isinstance(part, ImagePart | DocumentPart):
        return words(part) if is_media(part) else part
    if isinstance(part, ToolResultPart) and not isinstance(part.content, str):
        inner = tuple(words(one) if isinstance(one, Media) and is_media(one) else one for one in part.content)
        return part if _same(inner, part.content) else msgspec.structs.replace(part, content=inner)
    return part


def _same(first: Sequence[Part], second: Sequence[Part]) -> bool:
    return all(one is other for one, other in zip(first, second, strict=True))
