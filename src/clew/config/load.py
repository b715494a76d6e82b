"""Layers become one Settings: defaults < user < project < local < environment < `--settings` < single flags."""

import os
import stat
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from clew.config.errors import SettingsError, SettingsVariableError
from clew.config.narrow import Refusal, narrow
from clew.config.schema import Settings
from clew.config.text import Raw, check, parse, parse_unchecked, plain, read_file
from clew.config.walk import (
    KeyPath,
    as_list,
    as_object,
    choices,
    dotted,
    edits,
    fields_of,
    is_whole,
    map_value,
    type_at,
)

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})


def _word(path: KeyPath, text: str) -> Any:
    return msgspec.convert(text, type_at(path), strict=False)


def _switch(_path: KeyPath, text: str) -> bool:
    if text.lower() in YES | NO:
        return text.lower() in YES
    raise msgspec.ValidationError("expected 1 or 0")


def _negated(path: KeyPath, text: str) -> bool:
    return not _switch(path, text)


def _effort(path: KeyPath, text: str) -> Any:
    return None if text in ("auto", "unset") else _word(path, text)


VARIABLES: dict[str, tuple[KeyPath, Callable[[KeyPath, str], Any]]] = {
    "CLEW_MODEL": (("model",), _word),
    "CLEW_FALLBACK_MODEL": (("fallbackModel",), _word),
    "CLEW_FAST_MODEL": (("fastModel",), _word),
    "CLEW_EFFORT": (("effort",), _effort),
    "CLEW_MAX_OUTPUT_TOKENS": (("maxOutputTokens",), _word),
    "CLEW_PERMISSION_MODE": (("permissionMode",), _word),
    "CLEW_SANDBOX": (("sandbox", "mode"), _word),
    "CLEW_MAX_TURNS": (("limits", "maxTurns"), _word),
    "CLEW_MAX_STEPS": (("limits", "maxSteps"), _word),
    "CLEW_MAX_BUDGET_USD": (("limits", "maxBudgetUsd"), _word),
    "CLEW_TOOL_BATCH_SUMMARIES": (("summaries", "toolBatches"), _word),
    "CLEW_RECAP": (("recap", "enabled"), _switch),
    "CLEW_NO_BACKGROUND_MODEL_CALLS": (("sideQueries", "enabled"), _negated),
    "CLEW_FOREIGN_SESSIONS": (("foreign", "enabled"), _switch),
    "CLEW_TOOL_SEARCH": (("toolSearch",), _word),
    "CLEW_MEMORY_FILES": (("memory", "enabled"), _switch),
    "CLEW_DEBUG_LOG": (("debugLog",), _switch),
}


def from_environment(env: Mapping[str, str]) -> tuple[dict[KeyPath, tuple[Any, str]], list[str]]:
    """KeyPath -> (value, variable) of what the environment sets, and warnings. An empty variable sets nothing."""
    found: dict[KeyPath, tuple[Any, str]] = {}
    warnings: list[str] = []
    for name, text in env.items():
        if not name.startswith("CLEW_") or not text.strip():
            continue
        if name not in VARIABLES:
            warnings.extend(_typo(name))
            continue
        path, read = VARIABLES[name]
        try:
            found[path] = (read(path, text.strip()), name)
        except msgspec.ValidationError as error:
            words = choices(type_at(path))
            wanted = f"use one of {', '.join(words)}" if words else plain(str(error))
            raise SettingsVariableError(f"environment variable {name}={text!r}: {wanted}, or unset it") from None
    return found, warnings


def _typo(name: str) -> list[str]:
    """Only a near miss is worth a word: other programs and other parts of clew have variables too."""
    close = min(VARIABLES, key=lambda known: edits(name, known))
    return [f"environment variable {name} is not known; did you mean {close}?"] if edits(name, close) <= 2 else []


Layer = Literal["default", "user", "project", "local", "env", "settings", "flag"]
Scope = Literal["user", "project", "local"]

ALL_SOURCES: frozenset[Scope] = frozenset({"user", "project", "local"})

PROJECT_DIR = ".clew"


class SettingOrigin(Struct, frozen=True, kw_only=True):
    """Where a value came from."""

    layer: Layer
    place: str = ""
    """The file, the variable, or the flag."""


class LoadedSettings(Struct, frozen=True, kw_only=True):
    """Settings in force, and how they came to be."""

    settings: Settings
    sources: dict[str, tuple[SettingOrigin, ...]]
    """Dotted key -> where it was set, the lowest layer first. Only lists, which add up, have several."""
    warnings: tuple[str, ...] = ()
    """One line each, for stderr."""
    refused: tuple[Refusal, ...] = ()
    """Values of project files that were not applied because they would not narrow. Also among the warnings."""
    unread: tuple[str, ...] = ()
    """Project files that exist and were not read because the project is not trusted."""
    problems: tuple[str, ...] = ()
    """With `lenient`: layers that were left out because they are broken."""
    given_hooks: dict[str, Any] | None = None
    """The `hooks` object of `--settings`, as it was written."""
    given_env: dict[str, str] = {}
    """The `env` object of a file of Claude Code that was given by `--settings`."""


def settings_path(scope: Scope, *, home: Path, project_root: Path | None) -> Path:
    """The file of a scope, whether it exists or not."""
    if scope == "user" or project_root is None:
        return home / "settings.json"
    return project_root / PROJECT_DIR / ("settings.json" if scope == "project" else "settings.local.json")


def load_settings(
    *,
    home: Path,
    project_root: Path | None,
    trusted: bool,
    env: Mapping[str, str],
    settings_arg: str | None = None,
    flags: Mapping[str, Any] | None = None,
    lenient: bool = False,
    sources: frozenset[Scope] = ALL_SOURCES,
) -> LoadedSettings:
    """Read and merge all layers; of the files only those of `sources`.

    `settings_arg` is the value of `--settings`: a file, or JSON text. `flags` maps dotted keys to values; None
    values are skipped. Raises SettingsError for the first broken layer, or with `lenient` leaves that layer out
    and lists it in `problems` (for doctor, and for commands that need no model).
    """
    merge = _Merge(lenient=lenient)
    user_file = settings_path("user", home=home, project_root=None)
    if "user" in sources:
        merge.run(partial(merge.add_user, user_file))
    if project_root is not None:
        scopes: tuple[Scope, ...] = ("project", "local")
        for scope in scopes:
            if scope not in sources:
                continue
            path = settings_path(scope, home=home, project_root=project_root)
            if _same_file(path, user_file):
                continue  # the project is the home directory: its `.clew` is the user's own
            if not trusted:
                merge.unread.extend([str(path)] if os.path.lexists(path) else [])
                continue
            merge.run(partial(merge.add_project, scope, path))
    merge.run(partial(merge.add_environment, env))
    if settings_arg is not None:
        merge.run(partial(merge.add_argument, settings_arg))
    merge.run(partial(merge.add_flags, flags or {}))
    return merge.result()


class _Merge:
    """The layers so far: raw values, where each came from, and what was complained about."""

    def __init__(self, *, lenient: bool) -> None:
        self.lenient = lenient
        self.raw: Raw = {}
        self.sources: dict[str, tuple[SettingOrigin, ...]] = {}
        self.warnings: list[str] = []
        self.refused: list[Refusal] = []
        self.unread: list[str] = []
        self.problems: list[str] = []
        self.given_hooks: dict[str, Any] | None = None
        self.given_env: dict[str, str] = {}

    def run(self, step: Callable[[], None]) -> None:
        try:
            step()
        except SettingsError as error:
            if not self.lenient:
                raise
            self.problems.append(str(error))

    def add_user(self, path: Path) -> None:
        data = read_file(str(path))
        if data is None:
            return
        self._put(parse(data, str(path)), SettingOrigin(layer="user", place=str(path)))
        info = os.stat(path)
        if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            self.warnings.append(f"{path}: others can change it; run: chmod 600 {path}")

    def add_project(self, scope: Scope, path: Path) -> None:
        data = read_file(str(path))
        if data is None:
            return
        kept, refused = narrow(parse(data, str(path)), self.value_at, str(path))
        self.refused += refused
        self.warnings += [str(refusal) for refusal in refused]
        self._put(kept, SettingOrigin(layer=scope, place=str(path)))

    def add_environment(self, env: Mapping[str, str]) -> None:
        found, warnings = from_environment(env)
        self.warnings += warnings
        for path, (value, variable) in found.items():
            self._put(_nested(path, value), SettingOrigin(layer="env", place=variable))

    def add_argument(self, argument: str) -> None:
        if argument.lstrip().startswith("{"):
            self._given(argument.encode(errors="surrogateescape"), "--settings")
            return
        path = os.path.expanduser(argument)
        data = read_file(path)
        if data is None:
            raise SettingsError(f"--settings {argument}: no such file; give a file or JSON that starts with {{")
        self._given(data, path)

    def _given(self, data: bytes, place: str) -> None:
        """What a user gives may be a file of Claude Code: what is known of it counts, the rest is named."""
        from clew.config.claude_settings import translated  # few runs give settings

        theirs = translated(parse_unchecked(data, place))
        raw = theirs.raw if theirs.is_theirs else parse(data, place)
        check(raw, place)
        if theirs.unused:
            self.warnings.append(f"{place}: keys of Claude Code that are not used here: {', '.join(theirs.unused)}")
        self.given_env = theirs.env
        self.given_hooks = as_object(raw.get("hooks"))
        self._put(raw, SettingOrigin(layer="settings", place=place))

    def add_flags(self, flags: Mapping[str, Any]) -> None:
        for key, value in flags.items():
            if value is not None:
                raw = _nested(tuple(key.split(".")), value)
                check(raw, "command line")
                self._put(raw, SettingOrigin(layer="flag", place="command line"))

    def value_at(self, path: KeyPath) -> Any:
        """The value in force so far, the default if no layer has set it."""
        value: Any = self.raw
        for name in path:
            found = as_object(value)
            if found is None or name not in found:
                return _default(path)
            value = found[name]
        return value

    def result(self) -> LoadedSettings:
        return LoadedSettings(
            settings=msgspec.convert(self.raw, Settings),
            sources=self.sources,
            warnings=tuple(self.warnings),
            refused=tuple(self.refused),
            unread=tuple(self.unread),
            problems=tuple(self.problems),
            given_hooks=self.given_hooks,
            given_env=self.given_env,
        )

    def _put(self, raw: Raw, source: SettingOrigin) -> None:
        self._merge(self.raw, raw, (), source)

    def _merge(self, into: Raw, new: Raw, path: KeyPath, source: SettingOrigin) -> None:
        for name, value in new.items():
            here = (*path, name)
            kind = type_at(here)
            deeper = as_object(value)
            if deeper is not None and (fields_of(kind) is not None or map_value(kind) is not None):
                below = into.setdefault(name, {})
                self._merge(below, deeper, here, source)
                continue
            key = dotted(here)
            items = as_list(value)
            if items is not None and not is_whole(kind):
                before = into.get(name, [])
                into[name] = [*before, *(item for item in items if item not in before)]
                self.sources[key] = (*self.sources.get(key, ()), source)
            else:
                into[name] = value
                self.sources[key] = (source,)


def _default(path: KeyPath) -> Any:
    value: Any = msgspec.to_builtins(Settings())
    for name in path:
        value = (as_object(value) or {}).get(name)
    return value


def _nested(path: KeyPath, value: Any) -> Raw:
    for name in reversed(path):
        value = {name: value}
    return value


def _same_file(left: Path, right: Path) -> bool:
    if os.path.abspath(left) == os.path.abspath(right):
        return True
    try:
        return os.path.samefile(left, right)
    except OSError:
        return os.path.realpath(left) == os.path.realpath(right)
