"""Walking settings by dotted key: which keys exist, what type each has, which one was probably meant."""

import re
from typing import Annotated, Any, Literal, cast, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from clew.config.schema import Settings

KeyPath = tuple[str, ...]
"""A key, part by part."""


def fields_of(kind: Any) -> dict[str, Any] | None:
    """JSON name -> type of a section; None when `kind` is not a section."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return {item.encode_name: item.type for item in msgspec.structs.fields(kind)}
    return None


def map_value(kind: Any) -> Any:
    """The value type of `dict[str, V]`; None for anything else."""
    return get_args(kind)[1] if get_origin(kind) is dict else None


def as_object(value: object) -> dict[str, Any] | None:
    """A JSON object as such; None for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Any] | None:
    """A JSON list (or a tuple from the command line) as such; None for any other value."""
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else None


def is_whole(kind: Any) -> bool:
    """Whether a list of this type is one value, which a later layer replaces instead of adding to it."""
    marks = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return any(isinstance(mark, msgspec.Meta) and (mark.extra or {}).get("whole") for mark in marks)


def choices(kind: Any) -> list[str]:
    """The words a value may be, when only some words are allowed."""
    if get_origin(kind) is Literal:
        return [str(value) for value in get_args(kind)]
    if isinstance(kind, Meta):
        return list((kind.extra or {}).get("words", ()))
    return [word for inner in get_args(kind) for word in choices(inner)]


def type_at(path: KeyPath, kind: Any = Settings) -> Any:
    """The type a value at this path must have; None when there is no such key."""
    for name in path:
        fields = fields_of(kind)
        kind = fields.get(name) if fields is not None else map_value(kind)
        if kind is None:
            return None
    return kind


def leaf_keys(kind: Any = Settings, prefix: KeyPath = ()) -> list[KeyPath]:
    """All keys that hold a value, sections opened, in the order of the schema."""
    fields = fields_of(kind)
    if fields is None:
        return [prefix]
    return [leaf for name, inner in fields.items() for leaf in leaf_keys(inner, (*prefix, name))]


def dotted(path: KeyPath) -> str:
    """`limits.maxTurns`; a part that is not a plain word is quoted as in JSON, so that the whole stays one line."""
    plain = (part.replace("-", "").replace("_", "").isalnum() for part in path)
    return ".".join(
        part if word else msgspec.json.encode(part).decode() for part, word in zip(path, plain, strict=True)
    )


def split_key(key: str) -> KeyPath:
    """The parts of a dotted key; parts in double quotes may hold dots. The opposite of `dotted`."""
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|[^.]+', key)
    try:
        return tuple(msgspec.json.decode(part, type=str) if part[0] == '"' else part for part in parts)
    except msgspec.DecodeError:
        return tuple(parts)  # quotes that do not pair: no key has this name, and the answer will say so


def nearest(word: str, words: list[str]) -> str:
    """The most similar of some words; empty when none is similar enough to be a slip of the hand."""
    best, best_cost = "", len(word) / 2 + 0.5
    for candidate in words:
        cost = edits(word.lower().replace("_", "").replace("-", ""), candidate.lower())
        if cost < best_cost:
            best, best_cost = candidate, cost
    return best


def suggestion(path: KeyPath) -> str:
    """`did you mean "x"?`, or the keys that exist there, for a path whose last part is unknown."""
    siblings = list(fields_of(type_at(path[:-1])) or {})
    close = nearest(path[-1], siblings)
    if close:
        return f'did you mean "{dotted((*path[:-1], close))}"?'
    elsewhere = [leaf for leaf in leaf_keys() if leaf[-1].lower() == path[-1].lower()]
    if elsewhere:
        return f'did you mean "{dotted(elsewhere[0])}"?'
    far = nearest(dotted(path), [dotted(leaf) for leaf in leaf_keys()])
    if far:
        return f'did you mean "{far}"?'
    return f"known keys here: {', '.join(siblings)}" if siblings else "`clew config list` prints all keys"


def edits(left: str, right: str) -> int:
    """Edits (insert, delete, replace, swap of neighbours) between two words."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
