"""Changing one value of a settings file: typed by the schema, checked as a whole, written whole or not at all."""

import fcntl
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from clew.config.errors import SettingsFileError, SettingsKeyError
from clew.config.text import Raw, check, parse_unchecked, problem_with, read_file
from clew.config.walk import KeyPath, as_object, choices, dotted, suggestion, type_at
from clew.system.private_files import private_dir, replace_private


def typed_value(path: KeyPath, text: str) -> Any:
    """A word of the command line as the kind of value its key takes. JSON for lists and objects."""
    kind = type_at(path)
    if kind is None:
        raise SettingsKeyError(f'unknown key "{dotted(path)}"; {suggestion(path)}')
    spoken = {"on": True, "off": False, "yes": True, "no": False}.get(text.lower(), text)
    tries: list[Any] = [text, *([] if choices(kind) else [spoken])]
    with suppress(msgspec.DecodeError):  # not JSON, then it must be a plain word
        tries.append(msgspec.json.decode(text))
    for value in tries:
        try:
            found = msgspec.convert(value, kind, strict=not isinstance(value, str))
            # JSON is kept as given: converting would write the defaults of a section into the file.
            return found if isinstance(value, str) else value
        except msgspec.ValidationError:
            continue
    raise SettingsKeyError(f"{problem_with(path, tries[-1])}{_hint(kind, tries[-1])}")


def write_value(file: Path, path: KeyPath, value: Any, *, private: bool = True) -> None:
    """Set a key. Other keys, their order and the indentation stay.

    `private` is the user's own file: only for the user's eyes, and a link is followed. A file inside a project
    keeps its mode, and a link there is refused: the project must not choose what we write to.
    """
    with locked(file, private=private):
        raw, indent = _read(file)
        _set(raw, path, value, file)
        check(raw, str(file))
        _write(file, raw, indent, private=private)


def remove_value(file: Path, path: KeyPath, *, private: bool = True) -> bool:
    """Take a key out, a misspelt one too. False when it was not there. Sections left empty go with it."""
    with locked(file, private=private):
        raw, indent = _read(file)
        trail: list[Raw] = [raw]
        for name in path[:-1]:
            inner = as_object(trail[-1].get(name))
            if inner is None:
                return False
            trail.append(inner)
        if path[-1] not in trail[-1]:
            return False
        del trail[-1][path[-1]]
        for parent, name in zip(reversed(trail[:-1]), reversed(path[:-1]), strict=True):
            if not parent[name]:
                del parent[name]
        _write(file, raw, indent, private=private)
        return True


def _hint(kind: Any, value: Any) -> str:
    if "tuple" in str(kind) and not isinstance(value, list):
        return """; give a JSON list, e.g. '["a", "b"]'"""
    return ""


def _set(raw: Raw, path: KeyPath, value: Any, file: Path) -> None:
    for depth, name in enumerate(path[:-1], 1):
        inner = as_object(raw.setdefault(name, {}))
        if inner is None:
            raise SettingsFileError(str(file), f'"{dotted(path[:depth])}" is not an object; fix it by hand first')
        raw = inner
    raw[path[-1]] = value


def _read(file: Path) -> tuple[Raw, int]:
    data = read_file(str(file)) or b""
    indented = re.search(rb"\n( +)\"", data)
    return parse_unchecked(data, str(file)), len(indented[1]) if indented else 2


@contextmanager
def locked(file: Path, *, private: bool) -> Generator[None]:
    """One writer at a time: two changes made at once must both be in the file afterwards."""
    if not private and (file.is_symlink() or file.parent.is_symlink()):
        raise SettingsFileError(str(file), "is behind a link inside the project; replace it by a real file first")
    if private:
        private_dir(file.parent)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
    held = os.open(os.path.dirname(os.path.realpath(file)), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _write(file: Path, raw: Raw, indent: int, *, private: bool) -> None:
    """A link keeps pointing where it did."""
    target = os.path.realpath(file)
    try:
        mode = os.stat(target).st_mode & (0o700 if private else 0o777)
    except FileNotFoundError:
        mode = 0o600 if private else 0o666
    replace_private(Path(target), msgspec.json.format(msgspec.json.encode(raw), indent=indent) + b"\n", mode=mode)
