"""From the bytes of a settings file to a checked dict, with line and column for every complaint."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from clew.config.errors import SettingsFileError, UnknownKey
from clew.config.schema import Settings
from clew.config.walk import KeyPath, as_object, choices, dotted, fields_of, map_value, suggestion, type_at
from clew.text.lazy_pattern import LazyPattern

_TOKEN = r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+'


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def line_of(text: str, path: KeyPath) -> int:
    """The line on which a key stands; 0 when it does not."""
    for key, offset in _keys(text):
        if key == path:
            return position(text, offset)[0]
    return 0


def repeated_key(text: str) -> tuple[KeyPath, int] | None:
    """The first key that stands twice in one object, of which JSON readers would silently drop one."""
    seen: set[KeyPath] = set()
    for key, offset in _keys(text):
        if key in seen:
            return key, offset
        seen.add(key)
    return None


def _keys(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Every key with its offset. Objects inside lists are passed over: settings have none."""
    trail: list[str] = []
    expect_key = False
    lists = 0
    for match in re.finditer(_TOKEN, text):
        token = match[0]
        if token in "[]":
            lists += 1 if token == "[" else -1
        elif lists:
            continue
        elif token == "{":
            trail.append("")
            expect_key = True
        elif token == "}":
            trail.pop()
            expect_key = False
        elif token == ",":
            expect_key = True
        elif expect_key and token[0] == '"':
            trail[-1] = msgspec.json.decode(token, type=str)
            expect_key = False
            yield tuple(trail), match.start()


MAX_BYTES = 1_000_000
_STEP = LazyPattern(r"\[(\d+)\]|\.(\w+)")
"""One step of the way to a bad value inside a list, as msgspec writes it."""

Raw = dict[str, Any]


def read_file(path: str) -> bytes | None:
    """The bytes of a regular file; None when it does not exist. Never waits on a pipe or a device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise SettingsFileError(path, f"cannot be read ({_reason(error)}); fix its permissions or remove it") from error
    try:
        info = os.fstat(descriptor)
        if stat.S_ISDIR(info.st_mode):
            raise SettingsFileError(path, "is a directory; settings are a JSON file")
        if not stat.S_ISREG(info.st_mode):
            raise SettingsFileError(path, "is not a regular file; settings are a JSON file")
        if info.st_size > MAX_BYTES:
            raise SettingsFileError(path, f"has {info.st_size} bytes; settings may have at most {MAX_BYTES}")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsFileError(path, f"cannot be read ({_reason(error)})") from error
    finally:
        os.close(descriptor)


def parse(data: bytes, where: str) -> Raw:
    """The JSON object in some bytes, checked against the schema."""
    text = _text(data, where)
    if not text.strip():
        return {}
    raw = _json(text, where)
    try:
        msgspec.convert(raw, Settings)
    except msgspec.ValidationError:
        raise _first_problem(raw, text, where) from None
    return raw


def parse_unchecked(data: bytes, where: str) -> Raw:
    """The JSON object in some bytes, whatever its keys."""
    text = _text(data, where)
    return _json(text, where) if text.strip() else {}


def check(raw: Raw, where: str) -> None:
    """Raise for the first key or value the schema does not accept."""
    try:
        msgspec.convert(raw, Settings)
    except msgspec.ValidationError:
        raise _first_problem(raw, "", where) from None


def problem_with(path: tuple[str, ...], value: object) -> str:
    """What is wrong with a value for this key, in one line."""
    return next(_problems(value, type_at(path), path))[1]


def _text(data: bytes, where: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SettingsFileError(where, "is UTF-16; save it as UTF-8")
    try:
        # A byte order mark is harmless and Windows editors add it.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsFileError(f"{where}:{line}", f"byte {error.start} is not UTF-8; save it as UTF-8") from None


def _json(text: str, where: str) -> Raw:
    try:
        raw: object = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        match = re.search(r"\(byte (\d+)\)", str(error))
        offset = len(text.encode()[: int(match[1])].decode(errors="ignore")) if match else len(text.rstrip())
        what = re.sub(r"^JSON is malformed: | \(byte \d+\)$", "", str(error))
        if "truncated" in what:
            what, offset = "the text ends too early", len(text.rstrip())
        hint = _slip(text, offset)
        line, column = position(text, offset)
        raise SettingsFileError(f"{where}:{line}:{column}", f"malformed JSON: {what}{hint}") from None
    except RecursionError:
        raise SettingsFileError(where, "malformed JSON: nested too deeply") from None
    found = as_object(raw)
    if found is None:
        raise SettingsFileError(where, f"settings are a JSON object {{...}}, not {_kind(raw)}")
    again = repeated_key(text)
    if again:
        key, offset = again
        line, column = position(text, offset)
        raise SettingsFileError(f"{where}:{line}:{column}", f'"{dotted(key)}" stands here a second time; keep one')
    return found


def _slip(text: str, offset: int) -> str:
    """The usual reasons for malformed JSON, told by name."""
    if text[offset : offset + 2] in ("//", "/*"):
        return "; comments are not allowed"
    if text[offset : offset + 1] == "'":
        return "; use double quotes"
    before = text[:offset].rstrip()
    if text[offset : offset + 1] in ("}", "]") and before.endswith(","):
        return "; there is a comma too many before it"
    return ""


def _first_problem(raw: Raw, text: str, where: str) -> SettingsFileError:
    path, what, unknown = next(_problems(raw, Settings, ()))
    line = line_of(text, path) if text else 0
    place = f"{where}:{line}" if line else where
    kind = UnknownKey if unknown else SettingsFileError
    return kind(place, what, key=dotted(path))


def _problems(value: object, kind: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """Every complaint about a value as (path, words, whether the key is unknown); unknown keys of an object first."""
    fields, values = fields_of(kind), map_value(kind)
    if fields is None and values is None:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            yield path, f'"{dotted(path)}": {plain(str(error), choices(kind))}', False
        return
    found = as_object(value)
    if found is None:
        yield path, f'"{dotted(path)}": expected an object {{...}}, got {_kind(value)}', False
        return
    for key in found:
        if fields is not None and key not in fields:
            yield (*path, key), f'unknown key "{dotted((*path, key))}"; {suggestion((*path, key))}', True
    for key, inner in found.items():
        wanted = values if fields is None else fields.get(key)
        if wanted is not None:
            yield from _problems(inner, wanted, (*path, key))


def plain(message: str, allowed: Sequence[str] = ()) -> str:
    """msgspec's words without its own path, with JSON names of types and the values that are allowed."""
    words, _, place = message.partition(" - at `$")
    steps = [f"item {int(index) + 1}" if index else name for index, name in _STEP.findall(place)]
    words = words.replace("Expected", "expected").replace("Invalid enum value", "invalid value")
    words = words.replace("Object contains unknown field", "unknown key")
    words = re.sub(r"expected `str` matching regex .*", "invalid value", words) if allowed else words
    for ours, json_name in (
        ("str", "string"),
        ("int", "integer"),
        ("float", "number"),
        ("bool", "true or false"),
        ("array", "list"),
    ):
        words = re.sub(rf"`([^`]*)\b{ours}\b", rf"`\1{json_name}", words)
    return (
        (f"{', '.join(steps)}: " if steps else "")
        + words.replace("`", "")
        + (f"; one of {', '.join(allowed)}" if allowed else "")
    )


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "null" if value is None else "a list" if isinstance(value, list) else "an object"


def _reason(error: OSError) -> str:
    return (error.strerror or "error").lower()
