"""Does some JSON fit a vendor's request type? Strict: unknown keys, missing keys and wrong values are all reported."""

import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import typing_extensions

REQUIRED = (typing.Required, typing_extensions.Required)
OPTIONAL = (typing.NotRequired, typing_extensions.NotRequired)


def misfits(value: Any, kind: Any, where: str = "$") -> list[str]:
    """Everything that does not fit, by path; empty: it fits."""
    origin = get_origin(kind)
    if isinstance(kind, typing.NewType):
        return misfits(value, kind.__supertype__, where)
    if kind is Any or kind is object:
        return []
    if origin is typing.Annotated or origin in REQUIRED or origin in OPTIONAL:
        return misfits(value, get_args(kind)[0], where)
    if origin is Union or origin is types.UnionType:
        return _any_of(value, get_args(kind), where)
    if origin is Literal:
        return [] if value in get_args(kind) else [f"{where}: {value!r} is none of {get_args(kind)}"]
    if typing_extensions.is_typeddict(kind):
        return _typed_dict(value, kind, where)
    if origin is not None and isinstance(origin, type):
        return _generic(value, origin, get_args(kind), where)
    if kind is None or kind is type(None):
        return [] if value is None else [f"{where}: {value!r} is not null"]
    if kind is float:
        return [] if isinstance(value, int | float) else [f"{where}: {value!r} is no number"]
    if isinstance(kind, type):
        return [] if isinstance(value, kind) else [f"{where}: {value!r} is no {kind.__name__}"]
    raise TypeError(f"cannot check against {kind!r}")


def _any_of(value: Any, kinds: tuple[Any, ...], where: str) -> list[str]:
    tried = [misfits(value, kind, where) for kind in kinds]
    if any(not found for found in tried):
        return []
    return min(tried, key=len)


def _generic(value: Any, origin: type, arguments: tuple[Any, ...], where: str) -> list[str]:
    if issubclass(origin, Mapping):
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is no object"]
        return [m for key, item in value.items() for m in misfits(item, arguments[1], f"{where}.{key}")]
    if issubclass(origin, Sequence | Iterable) or origin is list or getattr(origin, "__name__", "") == "SequenceNotStr":
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no list"]
        return [m for n, item in enumerate(value) for m in misfits(item, arguments[0], f"{where}[{n}]")]
    return [f"{where}: {value!r} is no {origin.__name__}"]  # files and paths of the SDK's own making


def _typed_dict(value: Any, kind: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no object"]
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    found = [f"{where}.{key}: unknown key" for key in value if key not in hints]
    for key, hint in hints.items():
        if key in value:
            found += misfits(value[key], hint, f"{where}.{key}")
        elif key in kind.__required_keys__ or get_origin(hint) in REQUIRED:
            found.append(f"{where}.{key}: missing")
    return found
