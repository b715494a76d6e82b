"""Lenient looks into decoded JSON: the wrong type reads as empty, never as an exception."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

Json = dict[str, Any]

_MS_FROM = 1e11
"""Numbers above this are milliseconds since 1970, below it seconds."""


def as_dict(value: Any) -> Json:
    """The object, or an empty one."""
    return cast(Json, value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def as_str(value: Any) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def as_int(value: Any) -> int:
    """The number as an integer, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    try:
        return int(value)
    except (OverflowError, ValueError):
        return 0


def dicts(value: Any) -> Iterator[Json]:
    """The objects of a list; other items are passed over."""
    for item in as_list(value):
        if isinstance(item, dict):
            yield cast(Json, item)


def first_str(source: Json, *keys: str) -> str:
    """The first non-empty string under one of these keys."""
    for key in keys:
        value = source.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def text_of_content(content: Any, *, joint: str = "\n") -> str:
    """The words of message content: a string, or a list of strings and parts with `text`."""
    if isinstance(content, str):
        return content
    pieces: list[str] = []
    for item in as_list(content):
        if isinstance(item, str):
            pieces.append(item)
        else:
            part = as_dict(item)
            if not part.get("thought"):
                pieces.append(as_str(part.get("text")))
    if isinstance(content, dict):
        pieces.append(as_str(as_dict(content).get("text")))
    return joint.join(piece for piece in pieces if piece)


def iso_time(value: Any) -> str:
    """A time in any of the forms seen (ISO text, seconds, milliseconds) as ISO 8601 UTC with a final Z; else empty."""
    if isinstance(value, str):
        if value[-1:] == "Z" and len(value) == 24:
            return value
        return _iso_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    try:
        return _stamp(datetime.fromtimestamp(value / 1000 if value > _MS_FROM else value, UTC))
    except (OverflowError, OSError, ValueError):
        return ""


def _iso_of_text(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return ""
    try:
        return _stamp(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (OverflowError, ValueError):
        return ""


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
